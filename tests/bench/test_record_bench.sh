#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recorder for 100,000 ranks: all of it is right, rank 0 takes seconds and some MB, and so does the
# file. What it costs here, in miniature. No time is looked at but where a bar is loose by far.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

bench=$BENCH_DIR/record_bench
tap_check "100,000 ranks" "$bench" --most-seconds=600 --most-megabytes=200
tap_is "$(echo "$tap_output" | grep -c ',yes$')" 3 "every pattern is right"
tap_is "$(echo "$tap_output" | awk -F, 'NR > 1 && $14 < 10' | wc -l)" 3 "and its view file is below 10 MB"
tap_check "few ranks, few parts" "$bench" --ranks=7 --parts=3
tap_is "$(echo "$tap_output" | grep -c ',yes$')" 3 "are right too"
tap_check_fails "a limit of time" "$bench" --ranks=100 --most-seconds=1e-9
tap_contains "$tap_output" ",OVER" "is seen"
tap_check_fails "a pattern that does not exist" "$bench" --pattern=waves

if [[ -n $PYTHON3 && -e components/mca_fcoll_tatp.so ]]; then
    tap_check "with and without the recorder" "$PYTHON3" "$top_srcdir/bench/record_cost" --size 16x16x16 \
        --grid 1x2x2 --nodes 2 --slots 2 --rounds 2 --calls 1,2 --file "$tap_dir/file" \
        --mpirun "$MPIRUN --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
    tap_is "$(echo "$tap_output" | grep -c '%$')" 6 "has a line for each figure"
    tap_check_fails "a grid of another number of ranks" "$PYTHON3" "$top_srcdir/bench/record_cost" \
        --size 16x16x16 --grid 1x2x3 --nodes 2 --slots 2 --mpirun "$MPIRUN --oversubscribe"
else
    tap_skip "with and without the recorder" "python3 or the component is missing"
fi
tap_plan
