# -*- autoconf -*-
# SPDX-License-Identifier: BSD-3-Clause
#
# For the copy of this folder in the source tree of Open MPI that `autogen.pl --graft` makes.

# MCA_ompi_topo_dla_CONFIG([ACTION-IF-BUILT], [ACTION-IF-NOT])
# ------------------------------------------------------------
AC_DEFUN([MCA_ompi_topo_dla_CONFIG],[
    AC_CONFIG_FILES([ompi/mca/topo/dla/Makefile])
    $1
])dnl
