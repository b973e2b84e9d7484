#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random views, memory types and sequences of calls against the serial model in views.c: some 1,200
# cases.
# --long: many more cases.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

[[ $FCOLL != tatp ]] || need_component fcoll tatp

case ${1-} in
'') times=1 ;;
--long) times=50 RUN_LIMIT=3600 ;;
*)
    echo "usage: test_views.sh [--long]" >&2
    exit 2
    ;;
esac
seed=${TEST_SEED:-1}

# check_here CASES RANKS NAME ARGUMENT...
check_here() {
    local cases
    cases=$(random_cases $(($1 * times)))
    tap_check "$2 ranks, $3" run_here "$2" --mca fcoll "$FCOLL" "${@:4}" \
        "$programs/views" --seed "$seed" --cases "$cases" --dir "$files"
}

# check_on_cluster CASES RANKS NAME ARGUMENT...
check_on_cluster() {
    local cases
    cases=$(random_cases $(($1 * times)))
    tap_check "$2 ranks, $3" run -np "$2" --map-by node --mca fcoll "$FCOLL" "${@:4}" \
        "$programs/views" --seed "$seed" --first 100000 --cases "$cases" --dir "$files"
}

# tests/simulate has random parameters.
check_here 500 1 "one node"
check_here 300 4 "one node"
check_here 120 7 "one node"
check_here 40 16 "one node"
check_here 100 4 "no shared memory" --mca fcoll_tatp_shared_memory false

start_cluster
check_on_cluster 80 7 "four nodes"
check_on_cluster 20 16 "four nodes"
# Units so small that the short files of these cases have many.
check_on_cluster 80 7 "units of 50 bytes" --mca fcoll_tatp_domains fitted --mca fcoll_tatp_stripe_size 50
tap_plan
