#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tests of the launch, and of what ends a job, beyond the core under Open MPI 6.0.
suite=forky more=launch
. "$top_srcdir/tests/releases/openmpi.sh"
