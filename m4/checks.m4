# SPDX-License-Identifier: BSD-3-Clause
#
# The compiler's warnings and sanitizers, and what the tests need.

AC_DEFUN([TATP_WARNINGS],
[AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [warnings of the compiler are errors])])
# The one that is an error by default from GCC 14 on is one everywhere.
WARNING_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wconversion -Werror=incompatible-pointer-types"
AS_IF([test "$enable_werror" = yes], [WARNING_CFLAGS="$WARNING_CFLAGS -Werror"])
AC_SUBST([WARNING_CFLAGS])])

# TATP_SANITIZERS
# ---------------
# Not every machine can run them (ptrace, address space): then unit tests run without.
AC_DEFUN([TATP_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--disable-sanitizers],
        [do not run the unit tests a second time with the address and undefined-behaviour sanitizers])],
    [], [enable_sanitizers=check])
SANITIZER_FLAGS="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
AS_IF([test "$enable_sanitizers" != no],
    [AC_MSG_CHECKING([whether the sanitizers work])
    tatp_save_cflags=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_FLAGS"
    AC_RUN_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>]], [[free(malloc(1));]])],
        [tatp_sanitizers=yes], [tatp_sanitizers=no], [tatp_sanitizers=no])
    CFLAGS=$tatp_save_cflags
    AC_MSG_RESULT([$tatp_sanitizers])
    AS_IF([test "$enable_sanitizers$tatp_sanitizers" = yesno],
        [AC_MSG_ERROR([--enable-sanitizers: a program built with $SANITIZER_FLAGS does not run here (see config.log)])])])
AM_CONDITIONAL([SANITIZERS], [test "$tatp_sanitizers" = yes])
AC_SUBST([SANITIZER_FLAGS])])

AC_DEFUN([TATP_CHECK],
[PKG_CHECK_MODULES([CHECK], [check >= 0.10],
    [check_summary="Check `$PKG_CONFIG --modversion check`"],
    [check_summary="no Check, no unit tests"
    MISSING_PACKAGES="$MISSING_PACKAGES check"])
AM_CONDITIONAL([HAVE_CHECK], [test -n "$CHECK_LIBS"])])

# TATP_OPTIONAL_PROG(VARIABLE, PROGRAM, DEBIAN-PACKAGE, [PATH])
# System programs are looked for in sbin too, which a user's PATH may lack.
AC_DEFUN([TATP_OPTIONAL_PROG],
[AC_PATH_PROG([$1], [$2], [], [m4_default([$4], [$PATH:/usr/sbin:/sbin])])
AS_IF([test -z "$$1"], [MISSING_PACKAGES="$MISSING_PACKAGES $3"])])

# TATP_OPTIONAL_LIBRARY(VARIABLE-PREFIX, MODULE, DEBIAN-PACKAGE, FUNCTION)
# Defines HAVE_prefix for the makefile. A library over MPI may be another Open MPI's. A folder that is not absolute
# (Debian forky's PnetCDF names one, unreplaced) is left out: libtool refuses it.
AC_DEFUN([TATP_OPTIONAL_LIBRARY],
[PKG_CHECK_MODULES([$1], [$2],
    [tatp_have_$1=yes
    $1_LIBS=`AS_ECHO(["$$1_LIBS"]) | sed ['s|-L[^/ ][^ ]*||g']`],
    [tatp_have_$1=no
    MISSING_PACKAGES="$MISSING_PACKAGES $3"])
AS_IF([test "$tatp_have_$1" = yes],
    [AC_MSG_CHECKING([whether $2 links with this Open MPI])
    tatp_save_libs=$LIBS
    LIBS="$$1_LIBS $OMPI_LDFLAGS $OMPI_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_CALL([], [$4])], [], [tatp_have_$1=no])
    LIBS=$tatp_save_libs
    AC_MSG_RESULT([$tatp_have_$1])])
AM_CONDITIONAL([HAVE_$1], [test "$tatp_have_$1" = yes])])

# TATP_PYTHON_VERSION
# -------------------
# Python 3.6, as on RHEL 8, is enough for tatp doctor alone.
AC_DEFUN([TATP_PYTHON_VERSION],
[AS_IF([test -n "$PYTHON3"],
    [AC_MSG_CHECKING([for Python 3.7 or later, for tatp report])
    tatp_python_version=`"$PYTHON3" -c 'import sys; print("%d.%d" % sys.version_info@<:@:2@:>@)'`
    AS_IF(["$PYTHON3" -c 'import sys; sys.exit(sys.version_info < (3, 7))'],
        [AC_MSG_RESULT([$tatp_python_version])],
        [AC_MSG_RESULT([no, $tatp_python_version])
        AC_MSG_WARN([tatp report will not run. PYTHON3=PATH names a later Python.])])])])
