#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian 13: Open MPI 5.0 and PRRTE 3.0, without PRRTE's headers.
suite=trixie
. "$top_srcdir/tests/releases/openmpi.sh"
