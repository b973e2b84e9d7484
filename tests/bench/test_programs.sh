#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The calls of other programs in miniature: every contestant writes and reads every pattern, all bytes are
# checked; the driver places, counts and summarises. No time is compared.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python

# pattern NAME ARGUMENT...: three ranks, a number that divides nothing.
pattern() {
    run_here 3 "$contest" --pattern "$1" --megabytes 1 --rounds 0 --csv --file "$files/file" \
        --contestants "tatp vulcan romio independent" "${@:2}"
}

for name in $("$contest" --list | cut -d ' ' -f 1); do
    tap_check "$name" pattern "$name"
    tap_is "$(grep -c ',yes,' <<<"$tap_output")" 8 "all contestants are right"
done
tap_check "a new file for each write" pattern unstructured-holes --fresh --rounds 1
tap_check_fails "no such pattern" pattern waves

"$MPICC" -shared -fPIC -o "$tap_dir/spoil.so" "$top_srcdir/tests/bench/spoil.c" || exit
spoiled() {
    run_here 3 -x LD_PRELOAD="$tap_dir/spoil.so" -x SPOIL="$1" "$contest" --pattern small-16k --rounds 0 --csv \
        --contestants romio --file "$files/file"
}
tap_check "nothing is wrong unless spoiled" spoiled nothing
for operation in write readonly; do
    tap_check_fails "a wrong bit: $operation" spoiled $operation
    tap_contains "$tap_output" ",WRONG" "... is shown"
done

driver() { bench bench_programs --quick --megabytes 1 --rounds 1 "$@"; }
tap_check "the driver, two patterns in three placements" driver --patterns "segments-65536 small-1k" \
    --contestants "tatp romio independent" --csv "$tap_dir/all.csv" --stats "$tap_dir/stats"
tap_contains "$tap_output" "All 12 ratios of time:" "summarises"
tap_is "$(rows "$tap_dir/all.csv" 'r["verified"] == "yes" and 0 < float(r["min_s"]) <= float(r["median_s"])')" 36 \
    "each was timed and is right"
tap_is "$(rows "$tap_dir/all.csv" 'r["contestant"] == "tatp" and 1 <= int(r["plans"]) <= int(r["calls"]) == int(r["steps"])')" \
    12 "calls and plans of tatp are counted"
tap_is "$(find "$tap_dir/stats" -name '*.jsonl.tatp' | wc -l)" 6 "its statistics are kept"
if "$CLUSTER" check >/dev/null 2>&1; then
    tap_is "$(rows "$tap_dir/all.csv" 'r["contestant"] == "independent" and float(r["uplink_bytes"]) < 500000')" 12 \
        "independent access sends next to nothing over uplinks"
else
    tap_skip "bytes on links" "links cannot be counted here"
fi
tap_check_fails "no such placement" driver --mappings socket
tap_check_fails "no pattern of this name" driver --patterns waves
tap_plan
