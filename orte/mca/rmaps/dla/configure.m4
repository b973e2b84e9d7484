# -*- autoconf -*-
# SPDX-License-Identifier: BSD-3-Clause
#
# For a copy of this folder in the source tree of Open MPI 4.1.

# MCA_orte_rmaps_dla_CONFIG([ACTION-IF-BUILT], [ACTION-IF-NOT])
# -------------------------------------------------------------
# The component needs the libraries of a built checkout of its project: --with-tatp-dla=DIR.
AC_DEFUN([MCA_orte_rmaps_dla_CONFIG],[
    AC_CONFIG_FILES([orte/mca/rmaps/dla/Makefile])
    AC_ARG_WITH([tatp-dla],
        [AS_HELP_STRING([--with-tatp-dla=DIR],
            [build the components fcoll/tatp and rmaps/dla with the libraries of their project, built in DIR])])
    AC_MSG_CHECKING([for the libraries of rmaps/dla])
    AS_IF([test -f "$with_tatp_dla/libsetmatch.la" && test -f "$with_tatp_dla/src/setmatch/setmatch.h"],
        [AC_MSG_RESULT([$with_tatp_dla])
         rmaps_dla_CPPFLAGS="-I$with_tatp_dla/src -I$with_tatp_dla"
         rmaps_dla_HELP=$with_tatp_dla/src/dla/help-rmaps-dla.txt
         rmaps_dla_LIBS=
         for rmaps_dla_part in dla cache setmatch predict plan lap_real topo matrix access; do
             rmaps_dla_LIBS="$rmaps_dla_LIBS $with_tatp_dla/lib$rmaps_dla_part.la"
         done
         $1],
        [AC_MSG_RESULT([no])
         AS_IF([test -n "$with_tatp_dla" && test "$with_tatp_dla" != no],
             [AC_MSG_ERROR([--with-tatp-dla=$with_tatp_dla: no built checkout of tatp-dla there])])
         $2])
    AC_SUBST([rmaps_dla_CPPFLAGS])
    AC_SUBST([rmaps_dla_HELP])
    AC_SUBST([rmaps_dla_LIBS])
])dnl
