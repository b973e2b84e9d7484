#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian's next release: Open MPI 6.0 and PRRTE 4, with PRRTE's headers.
suite=forky
. "$top_srcdir/tests/releases/openmpi.sh"
