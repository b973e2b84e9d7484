# -*- autoconf -*-
# SPDX-License-Identifier: BSD-3-Clause
#
# For the copy of this folder in the source tree of Open MPI that `autogen.pl --graft` makes.

# MCA_ompi_fcoll_tatp_CONFIG([ACTION-IF-BUILT], [ACTION-IF-NOT])
# --------------------------------------------------------------
AC_DEFUN([MCA_ompi_fcoll_tatp_CONFIG],[
    AC_CONFIG_FILES([ompi/mca/fcoll/tatp/Makefile])
    AC_MSG_CHECKING([for what fcoll/tatp needs: Linux, C11 and <ucontext.h>])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __linux__
#error "not Linux"
#endif
#include <stdatomic.h>
#include <ucontext.h>
_Static_assert(sizeof(atomic_int) > 0, "C11");
]])],
        [AC_MSG_RESULT([yes])
         $1],
        [AC_MSG_RESULT([no])
         $2])
])dnl
