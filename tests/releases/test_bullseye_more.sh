#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tests beyond the core under Open MPI 4.1.0.
suite=bullseye more=both
. "$top_srcdir/tests/releases/openmpi.sh"
