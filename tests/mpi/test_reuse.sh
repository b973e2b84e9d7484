#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans are reused by calls whose accesses are the same but for a distance: without a view, by file
# pointer or explicit offset, with a view before each call, by turns, reading after writing.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp

# plans PATTERN[:HINT=VALUE] WANTED NAME: a file of the next start; the number of accesses to it, of those by a plan, and of
# plans.
plans() {
    items+=("$1") wanted+=("$2") names+=("$3")
}

# start LABEL COMMAND...: all files in one start.
start() {
    local got=() i
    rm -f "$tap_dir/stats.json" "${items[@]/#/$files/}"
    tap_check "$1: a run" "${@:2}" --mca io ompio --mca fcoll "$FCOLL" --mca fcoll_tatp_stats "$tap_dir/stats.json" \
        "$programs/reuse" "$files" "${items[@]}"
    readarray -t got < <("$PYTHON3" -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
for item in sys.argv[2:]:
    own = [line for line in lines if line["file"].endswith("/" + item)]
    plans = [line["schedule"] for line in own if line["aggregators"] > 0]
    print(len(own), len(plans), len(set(plans)))' "$tap_dir/stats.json" "${items[@]}")
    for i in "${!items[@]}"; do
        tap_is "${got[i]}" "${wanted[i]}" "$1: ${names[i]}"
    done
    items=() wanted=() names=()
}

items=() wanted=() names=()
for ranks in 1 4 7; do
    plans segments:cb_nodes=3 "20 20 1" "blocks without a view"
    plans seek:cb_nodes=3 "20 20 1" "by the file pointer"
    plans read-after-write:cb_nodes=3 "40 40 1" "reading after writing"
    plans variables:cb_nodes=3 "20 20 5" "five variables in turn, a view before each"
    plans many-variables:cb_nodes=3 "36 36 36" "more variables than plans"
    plans last-differs:cb_nodes=3 "20 20 2" "the last rank takes turns"
    plans read-after-write "40 0 0" "no aggregators for blocks"
    if ((ranks == 4)); then
        plans variables "20 20 5" "aggregators for small records"
        plans distances:cb_nodes=3 "40 40 21" "ranks that move by different distances"
        plans distances "40 0 0" "no aggregators, different distances"
        # Without aggregators, ranks transfer their data before they agree on the call.
        plans early "20 0 0" "blocks are written before the other ranks make the call"
        plans mixed "12 4 1" "some ranks expect another way"
        # Pieces that no aggregator could merge with others are written by each rank, and read by aggregators with the holes.
        plans sparse "40 20 1" "small pieces with holes"
        plans sparse:striping_unit=4096 "40 40 1" "small pieces, stripes shared"
    elif ((ranks == 7)); then
        plans absent:cb_nodes=3 "20 20 4" "ranks without data in turn"
        plans absent "20 0 0" "no aggregators, ranks without data"
    fi
    start "$ranks ranks" run_here $ranks
    ((ranks != 4)) || tap_is "$(grep "/sparse\"" "$tap_dir/stats.json" | grep -c '"metadata_bytes": *0[,}]')" 39 \
        "small pieces with holes: one plan, of the first call"
done

# Agreement by node: nodes of four ranks, one of them alone; as many ranks as nodes; many ranks on a node; two steps among
# the leaders, of which the last one goes around, and three.
cluster_options=(--nodes 18)
start_cluster
for ranks in "7 slot" "11 slot" "13 slot" "16 slot" "3 node" "6 ppr:2:node" "20 ppr:10:node" "12 ppr:2:node" \
    "36 ppr:2:node"; do
    plans two-variables "8 8 2" "two variables in turn"
    start "$ranks" run -np "${ranks% *}" --map-by "${ranks#* }" --oversubscribe
done
tap_plan
