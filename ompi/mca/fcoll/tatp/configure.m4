# -*- autoconf -*-
# SPDX-License-Identifier: BSD-3-Clause
#
# For a copy of this folder in the source tree of Open MPI 4.1.

# MCA_ompi_fcoll_tatp_CONFIG([ACTION-IF-BUILT], [ACTION-IF-NOT])
# --------------------------------------------------------------
# The component needs the libraries of a built checkout of its project: --with-tatp-dla=DIR.
AC_DEFUN([MCA_ompi_fcoll_tatp_CONFIG],[
    AC_CONFIG_FILES([ompi/mca/fcoll/tatp/Makefile])
    AC_ARG_WITH([tatp-dla],
        [AS_HELP_STRING([--with-tatp-dla=DIR],
            [build the components fcoll/tatp and rmaps/dla with the libraries of their project, built in DIR])])
    AC_MSG_CHECKING([for the libraries of fcoll/tatp])
    AS_IF([test -f "$with_tatp_dla/libplan.la" && test -f "$with_tatp_dla/src/plan/plan.h"],
        [AC_MSG_RESULT([$with_tatp_dla])
         fcoll_tatp_CPPFLAGS="-I$with_tatp_dla/src -I$with_tatp_dla"
         fcoll_tatp_LIBS=
         for fcoll_tatp_part in exchange plan lap_real machine topo storage record cache matrix access json; do
             fcoll_tatp_LIBS="$fcoll_tatp_LIBS $with_tatp_dla/lib$fcoll_tatp_part.la"
         done
         $1],
        [AC_MSG_RESULT([no])
         AS_IF([test -n "$with_tatp_dla" && test "$with_tatp_dla" != no],
             [AC_MSG_ERROR([--with-tatp-dla=$with_tatp_dla: no built checkout of tatp-dla there])])
         $2])
    AC_SUBST([fcoll_tatp_CPPFLAGS])
    AC_SUBST([fcoll_tatp_LIBS])
])dnl
