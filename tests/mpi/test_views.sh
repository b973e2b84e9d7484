#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random views, memory types and sequences of calls against the serial model in views.c: some 1,200
# cases.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

[[ $FCOLL != tatp ]] || need_component fcoll tatp
FORMS=3

# check_here CASES RANKS NAME ARGUMENT...
check_here() { random_views "$1" 0 "$2 ranks, $3" run_here "$2" --mca fcoll "$FCOLL" "${@:4}"; }

# check_on_cluster CASES RANKS NAME ARGUMENT...
check_on_cluster() { random_views "$1" 100000 "$2 ranks, $3" run -np "$2" --map-by node --mca fcoll "$FCOLL" "${@:4}"; }

# tests/simulate has random parameters.
check_here 500 1 "one node"
check_here 300 4 "one node"
check_here 120 7 "one node"
check_here 40 16 "one node"
check_here 100 4 "no shared memory" --mca fcoll_tatp_shared_memory false

start_cluster
check_on_cluster 80 7 "four nodes"
check_on_cluster 20 16 "four nodes"
if [[ -n $cluster_name && $FCOLL == tatp ]]; then
    random_views 80 200000 "4 ranks, caches of nodes" cached --mca fcoll "$FCOLL"
else
    tap_skip "caches of nodes" "needs a cluster, and tatp"
fi
# Units so small that the short files of these cases have many.
check_on_cluster 80 7 "units of 50 bytes" --mca fcoll_tatp_domains fitted --mca fcoll_tatp_stripe_size 50
tap_plan
