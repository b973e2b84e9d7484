#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans are reused by calls whose accesses are the same but for a distance: without a view, by file
# pointer or explicit offset, with a view before each call, by turns, reading after writing.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp

# plans PATTERN RANKS ARGUMENT...: runs it, and prints the number of accesses, and of those by a plan and of plans.
plans() {
    local pattern=$1 runner=(run_here "$2")
    [[ -z $cluster_name ]] || runner=(run -np "$2")
    rm -f "$tap_dir/file" "$tap_dir/stats.json"
    "${runner[@]}" --mca io ompio --mca fcoll "$FCOLL" --mca fcoll_tatp_stats "$tap_dir/stats.json" "${@:3}" \
        "$programs/reuse" "$pattern" "$tap_dir/file" >"$tap_dir/out" 2>&1 || {
        cat "$tap_dir/out"
        return 1
    }
    "$PYTHON3" - "$tap_dir/stats.json" <<'END_OF_PYTHON'
import json
import sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
plans = [line["schedule"] for line in lines if line["aggregators"] > 0]
print(len(lines), len(plans), len(set(plans)))
END_OF_PYTHON
}

for ranks in 1 4 7; do
    three=(--mca fcoll_tatp_num_aggregators 3)
    tap_is "$(plans segments "$ranks" "${three[@]}")" "20 20 1" "$ranks ranks: blocks without a view"
    tap_is "$(plans seek "$ranks" "${three[@]}")" "20 20 1" "$ranks ranks: by the file pointer"
    tap_is "$(plans read-after-write "$ranks" "${three[@]}")" "40 40 1" "$ranks ranks: reading after writing"
    tap_is "$(plans variables "$ranks" "${three[@]}")" "20 20 5" "$ranks ranks: five variables in turn, a view before each"
    tap_is "$(plans many-variables "$ranks" "${three[@]}")" "36 36 36" "$ranks ranks: more variables than plans"
    tap_is "$(plans last-differs "$ranks" "${three[@]}")" "20 20 2" "$ranks ranks: the last rank takes turns"
    tap_is "$(plans read-after-write "$ranks")" "40 0 0" "$ranks ranks: no aggregators for blocks"
done
tap_is "$(plans variables 4)" "20 20 5" "aggregators for small records"
tap_is "$(plans distances 4 --mca fcoll_tatp_num_aggregators 3)" "40 40 21" "ranks that move by different distances"
tap_is "$(plans absent 7 --mca fcoll_tatp_num_aggregators 3)" "20 20 4" "ranks without data in turn"
tap_is "$(plans distances 4)" "40 0 0" "no aggregators, different distances"
tap_is "$(plans absent 7)" "20 0 0" "no aggregators, ranks without data"
# Without aggregators, ranks transfer their data before they agree on the call.
tap_is "$(plans early 4)" "20 0 0" "blocks are written before the other ranks make the call"
tap_is "$(plans mixed 4)" "12 4 1" "some ranks expect another way"
# Pieces that no aggregator could merge with others are written by each rank, and read by aggregators with the holes.
tap_is "$(plans sparse 4)" "40 20 1" "small pieces with holes"
tap_is "$(grep -c '"metadata_bytes": *0[,}]' "$tap_dir/stats.json")" 39 "small pieces with holes: one plan, of the first call"
tap_is "$(plans sparse 4 --mca fcoll_tatp_stripe_size 4096)" "40 40 1" "small pieces, stripes shared"

# Agreement by node: two and three nodes, all four, one of them alone; as many ranks as nodes.
start_cluster
for ranks in 7 11 13 16; do
    tap_is "$(plans variables "$ranks" --map-by slot)" "20 20 5" "$ranks ranks on nodes of four"
done
tap_is "$(plans variables 3 --map-by node)" "20 20 5" "3 ranks on three nodes"
tap_is "$(plans variables 6 --map-by ppr:2:node)" "20 20 5" "6 ranks on three nodes"
tap_is "$(plans variables 20 --map-by ppr:10:node --oversubscribe)" "20 20 5" "10 ranks on each of two nodes"
stop_cluster
# Two steps among the leaders, of which the last one goes around, and three.
for nodes in 6 18; do
    cluster_options=(--nodes "$nodes" --slots 2)
    start_cluster
    tap_is "$(plans variables $((2 * nodes)) --map-by slot --oversubscribe)" "20 20 5" "2 ranks on each of $nodes nodes"
    stop_cluster
done
tap_plan
