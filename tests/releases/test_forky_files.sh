#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tests of files beyond the core under Open MPI 6.0.
suite=forky more=files
. "$top_srcdir/tests/releases/openmpi.sh"
