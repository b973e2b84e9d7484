#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tests beyond the core under Open MPI 5.0.
suite=trixie more=both
. "$top_srcdir/tests/releases/openmpi.sh"
