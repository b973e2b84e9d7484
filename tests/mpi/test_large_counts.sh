#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# More than 2^31 bytes in one call, as one element of a type and as a count; some gigabytes of memory and disk.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

[[ $FCOLL != tatp ]] || need_component fcoll tatp
cases=(count_2_31/\* count_2_32)
conform conformance "2 ranks" run_here 2 --mca fcoll "$FCOLL"
tap_plan
