#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random views, memory types and sequences of calls against the serial model in views.c: some 2,000
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

check_here 500 1 "one node"
check_here 400 2 "one node"
check_here 300 4 "one node"
check_here 120 7 "one node"
check_here 40 16 "one node"
check_here 150 4 "cycles of 64 bytes" --mca fcoll_tatp_cycle_buffer_size 64
check_here 80 7 "five aggregators" --mca fcoll_tatp_num_aggregators 5
check_here 80 4 "strategy otp" --mca fcoll_tatp_strategy otp
check_here 100 4 "no shared memory" --mca fcoll_tatp_shared_memory false
check_here 80 4 "no shared memory" --mca fcoll_tatp_shared_memory false
check_here 80 7 "stripes of 100 bytes" --mca fcoll_tatp_stripe_size 100 --mca fcoll_tatp_stripe_count 3

start_cluster
check_on_cluster 200 4 "four nodes"
check_on_cluster 80 7 "four nodes"
check_on_cluster 20 16 "four nodes"
# Units so small that the short files of these cases have many.
fitted=(--mca fcoll_tatp_domains fitted --mca fcoll_tatp_stripe_size)
check_on_cluster 150 4 "units of 16 bytes" "${fitted[@]}" 16
check_on_cluster 80 7 "units of 50 bytes" "${fitted[@]}" 50
check_on_cluster 60 7 "units of storage targets" "${fitted[@]}" 20 --mca fcoll_tatp_stripe_count 3
check_on_cluster 60 7 "fitted, no shared memory" "${fitted[@]}" 16 \
    --mca fcoll_tatp_shared_memory false --mca fcoll_tatp_cycle_buffer_size 64
check_on_cluster 20 16 "units of 16 bytes" "${fitted[@]}" 16
tap_plan
