#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A small run of each benchmark that checks its own results. Times are not compared.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

# small NAME LINES PATTERN COMMAND...: succeeds, and prints so many lines with the pattern.
small() {
    tap_check "$1" timeout --kill-after=5 "$HANG_LIMIT" "${@:4}"
    tap_is "$(grep -c -e "$3" <<<"$tap_output")" "$2" "$1: $2 results"
}

small "plans for 65,536 ranks" 22 ',yes$' "$BENCH_DIR/plan_bench" --quick --repeat=1 --strategy=tatp --most-seconds=300
small "an assignment" 1 '^usual,uniform,1000,' "$BENCH_DIR/plan_bench" --engine=assignment --problem=0 --repeat=1
small "an auction" 1 '^blocks in order,16384,flat,' "$BENCH_DIR/plan_bench" --engine=auction --problem=0 --repeat=1
if has_python numpy scipy; then
    small "placements of the corpus" 2 '^cube-16,16,4,' "$PYTHON3" "$top_srcdir/bench/corpus/measure" --only cube-16 --methods auto,setmatch
    tap_is "$(sed -n 's/^cube-16,16,4,auto,\([0-9]*\),\([0-9]*\),\([0-9]*\),.*/\1 \2 \3/p' <<<"$tap_output")" "255 0 0" \
        "placements of the corpus: what is cut and moved"
    tap_check "the ablation finds each heuristic" "$PYTHON3" "$top_srcdir/bench/corpus/ablation" --tree "$top_srcdir" --check
else
    tap_skip "placements of the corpus" "needs python3 with numpy and scipy"
fi
tap_plan
