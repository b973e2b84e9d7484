#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A small run of each benchmark that checks its own results. Times are not compared.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

# small NAME LINES PATTERN COMMAND...: succeeds, and prints so many lines with the pattern.
small() {
    tap_check "$1" timeout --kill-after=5 "$HANG_LIMIT" "${@:4}"
    tap_is "$(grep -c -e "$3" <<<"$tap_output")" "$2" "$1: $2 results"
}

small "plans for 65,536 ranks" 22 ',yes$' "$top_srcdir/bench/plan_scale" "$BENCH_DIR/plan_bench" --quick --repeat=1 \
    --strategy=tatp --most-seconds=300
if [[ -n $PYTHON3 ]] && "$PYTHON3" -c 'import numpy, scipy' 2>/dev/null; then
    small "placements of the corpus" 2 '^cube-16,16,4,' "$PYTHON3" "$top_srcdir/bench/corpus/measure" --only cube-16 --methods auto,setmatch
    tap_is "$(sed -n 's/^cube-16,16,4,auto,\([0-9]*\),\([0-9]*\),\([0-9]*\),.*/\1 \2 \3/p' <<<"$tap_output")" "255 0 0" \
        "placements of the corpus: what is cut and moved"
else
    tap_skip "placements of the corpus" "needs python3 with numpy and scipy"
fi
small "records of 100,000 ranks" 3 ',yes$' "$BENCH_DIR/record_bench" --most-seconds=600 --most-megabytes=200

# Messages on a modelled network: one from each rank of another node to each aggregator, or one from each node.
for messages in 192 "12 --loads" "4 --loads --per-node=32" "384 --record=4096"; do
    # shellcheck disable=SC2046 # words
    small "a shuffle: $messages" 2 ",${messages%% *}," "$BENCH_DIR/shuffle_bench" --network=cluster --ranks=64 --aggregators=4 \
        $(cut -s -d ' ' -f 2- <<<"$messages")
done
if [[ -n $PYTHON3 ]] && has_component fcoll tatp; then
    small "with and without the recorder" 6 '%$' "$PYTHON3" "$top_srcdir/bench/record_cost" --size 16x16x16 --grid 1x2x2 \
        --nodes 2 --slots 2 --rounds 2 --calls 1,2 --file "$tap_dir/file" \
        --mpirun "$MPIRUN --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
else
    tap_skip "with and without the recorder" "needs fcoll/tatp and python3"
fi
if [[ -n $PYTHON3 ]] && has_component fcoll tatp && "$CLUSTER" check >/dev/null 2>&1; then
    tap_check "messages of the test cluster are those of the model" timeout --kill-after=5 "$HANG_LIMIT" "$PYTHON3" \
        "$top_srcdir/bench/shuffle_check" --rounds 1 --tolerance inf --cases 200mbit-32-4096-32768k-4
else
    tap_skip "messages of the test cluster are those of the model" "needs fcoll/tatp, python3 and links that can be limited"
fi
tap_plan
