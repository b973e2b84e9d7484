# SPDX-License-Identifier: BSD-3-Clause
#
# An MPI by its public functions only: the one that libtatp-mpiio.so is installed for (--with-mpi), or MPICH, with which
# `make check` tries it.

# TATP_MPI
# --------
# Sets with_mpi (yes or no), OTHER_MPICC, OTHER_MPIEXEC, OTHER_CPPFLAGS, OTHER_LIBS, tatp_have_other and tatp_have_abi:
# whether its headers have the standard ABI as well.
AC_DEFUN([TATP_MPI],
[AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi@<:@=PREFIX@:>@],
        [build libtatp-mpiio.so for the MPI under PREFIX, or that of MPICC, instead of components for Open MPI])],
    [], [with_mpi=no])
AC_ARG_VAR([MPICC], [wrapper compiler of the MPI to build for])
tatp_candidates="mpicc.mpich /usr/lib64/mpich/bin/mpicc"
AS_CASE([$with_mpi],
    [no], [],
    [yes], [tatp_candidates=${MPICC:-mpicc}],
    [tatp_candidates=${MPICC:-$with_mpi/bin/mpicc}
    with_mpi=yes])
AC_MSG_CHECKING([for the wrapper compiler of an MPI])
OTHER_MPICC=
for tatp_candidate in $tatp_candidates; do
    OTHER_MPICC=`command -v "$tatp_candidate" 2>/dev/null` && break
done
AC_MSG_RESULT([${OTHER_MPICC:-no}])
AS_IF([test "$with_mpi" = yes && test -z "$OTHER_MPICC"],
    [AC_MSG_ERROR([--with-mpi: there is no $tatp_candidates. Name the prefix of an MPI with --with-mpi=PREFIX, or its wrapper
compiler with MPICC=PATH])])
tatp_have_other=no
tatp_have_abi=no
AS_IF([test -n "$OTHER_MPICC"], [TATP_ASK_MPI])
AS_IF([test "$with_mpi" = yes],
    [MPICC=$OTHER_MPICC
    MPIRUN=$OTHER_MPIEXEC
    OMPI_CPPFLAGS=$OTHER_CPPFLAGS
    OMPI_LDFLAGS=
    OMPI_LIBS=$OTHER_LIBS
    AC_SUBST([MPIRUN])
    AC_SUBST([OMPI_CPPFLAGS])
    AC_SUBST([OMPI_LDFLAGS])
    AC_SUBST([OMPI_LIBS])],
    [test $tatp_have_other = no],
    [MISSING_PACKAGES="$MISSING_PACKAGES mpich libmpich-dev"])
AM_CONDITIONAL([WITH_MPI], [test "$with_mpi" = yes])
AM_CONDITIONAL([HAVE_OTHER_MPI], [test $tatp_have_other = yes])
AM_CONDITIONAL([HAVE_MPI_ABI], [test $tatp_have_abi = yes])])

# Sets tatp_large: whether programs that are linked with LIBS have MPI_File_write_all_c.
AC_DEFUN([TATP_LARGE_COUNTS],
[tatp_large=0
AC_MSG_CHECKING([whether it has MPI_File_write_all_c])
AC_LINK_IFELSE([AC_LANG_CALL([], [MPI_File_write_all_c])], [tatp_large=1])
AC_MSG_RESULT([$tatp_large])])

# What a wrapper adds to the compiler's command.
AC_DEFUN([TATP_ASK_MPI],
[OTHER_CPPFLAGS=
OTHER_LIBS=
tatp_follows=
for tatp_flag in `"$OTHER_MPICC" -show 2>/dev/null | sed ['s/^[^ ]*//']`; do
    AS_CASE([$tatp_flag],
        [-I*], [OTHER_CPPFLAGS="$OTHER_CPPFLAGS -isystem `AS_ECHO(["$tatp_flag"]) | sed 's/^-I//'`"],
        [-D*], [OTHER_CPPFLAGS="$OTHER_CPPFLAGS $tatp_flag"],
        [-L* | -l* | -Wl,* | -pthread], [OTHER_LIBS="$OTHER_LIBS $tatp_flag"])
done
tatp_bin=`AS_DIRNAME(["$OTHER_MPICC"])`
AS_CASE([$OTHER_MPICC], [*.mpich], [tatp_names="mpiexec.mpich"], [tatp_names="mpiexec mpirun"])
AC_PATH_PROGS([OTHER_MPIEXEC], [$tatp_names], [], [$tatp_bin])
tatp_save_cppflags=$CPPFLAGS
tatp_save_libs=$LIBS
CPPFLAGS="$CPPFLAGS $OTHER_CPPFLAGS"
LIBS="$OTHER_LIBS $LIBS"
AC_MSG_CHECKING([whether $OTHER_MPICC -show says how to build for MPI 3.1 or later])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
_Static_assert(MPI_VERSION * 10 + MPI_SUBVERSION >= 31, "too old");]], [[return MPI_Finalize();]])],
    [tatp_have_other=yes])
AC_MSG_RESULT([$tatp_have_other])
AS_IF([test $tatp_have_other = yes],
    [TATP_LARGE_COUNTS
    AC_CHECK_HEADER([mpi_abi.h], [tatp_have_abi=yes])],
    [test "$with_mpi" = yes],
    [AC_MSG_ERROR([no program for MPI 3.1 can be built with the flags that $OTHER_MPICC -show prints (see config.log)])])
OTHER_CPPFLAGS="$OTHER_CPPFLAGS -DTATP_HAS_LARGE_COUNTS=$tatp_large"
CPPFLAGS=$tatp_save_cppflags
LIBS=$tatp_save_libs
AC_SUBST([OTHER_MPICC])
AC_SUBST([OTHER_MPIEXEC])
AC_SUBST([OTHER_CPPFLAGS])
AC_SUBST([OTHER_LIBS])])
