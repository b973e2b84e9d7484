# -*- autoconf -*-
# SPDX-License-Identifier: BSD-3-Clause
#
# For the copy of this folder in the source tree of PRRTE, in that of Open MPI 5, that `autogen.pl --graft` makes.

# MCA_prte_schizo_dla_CONFIG([ACTION-IF-BUILT], [ACTION-IF-NOT])
# --------------------------------------------------------------
AC_DEFUN([MCA_prte_schizo_dla_CONFIG],[
    AC_CONFIG_FILES([src/mca/schizo/dla/Makefile])
    AC_MSG_CHECKING([for what schizo/dla needs: Linux and C11])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __linux__
#error "not Linux"
#endif
#include <stdatomic.h>
_Static_assert(sizeof(atomic_int) > 0, "C11");
]])],
        [AC_MSG_RESULT([yes])
         $1],
        [AC_MSG_RESULT([no])
         $2])
])dnl
