#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Accesses for which users reported wrong bytes, leaks, hangs or unsuitable accesses of Open MPI's own collective I/O.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

[[ $FCOLL != tatp ]] || need_component fcoll tatp
cases=(\*)
numbers=(3)
! tap_full || numbers=(3 4)
for ranks in "${numbers[@]}"; do
    conform conformance_reported "$ranks ranks" run_here "$ranks" --mca fcoll "$FCOLL"
done
start_cluster
conform conformance_reported "16 ranks, cluster" run -np 16 --map-by node --mca fcoll "$FCOLL"
tap_plan
