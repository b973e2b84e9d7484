#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What one rank carries for others of its node: the same bytes, in one message for each pair of a node and an
# aggregator and window; without shared memory each rank sends its own. Two nodes of eight ranks. And agreements of
# many ranks on a node.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1
. "$top_srcdir/tests/mpi/conformance.sh" || exit 1

need_component fcoll tatp
[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
stats=$tap_dir/stats.jsonl
nodes=(--host "n0:8,n1:8" --map-by slot)

# most_messages: of any line, for each aggregator and window; each aggregator gets them from one node.
most_messages() {
    "$PYTHON3" -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(max(line["messages"] / (line["aggregators"] * line["cycles"]) for line in lines))' "$stats"
}

# records BYTES WANTED ARGUMENT...: of the 16 ranks in turn.
records() {
    rm -f "$stats"
    tap_check "records of $1 bytes: right" run -np 16 "${nodes[@]}" --mca fcoll tatp --mca fcoll_tatp_stats "$stats" "${@:3}" \
        "$BENCH_DIR/tile" --size 16x1 --grid 1x16 --element "$1" --repeat 2 --verify --file "$files/tile"
    tap_is "$(most_messages)" "$2" "records of $1 bytes: messages"
}

start_cluster
[[ -n $cluster_name ]] || tap_skip_all "needs nodes of the cluster"
records 64 1.0
records 512 1.0 --mca fcoll_tatp_num_aggregators 2
records 64 15.0 --mca fcoll_tatp_shared_memory false
cases=(even/\* ragged/\* doubles/\* nothing/\* one_rank/\* new_holes/\* old_holes/\* memory_\*/\* past_end\*/\*
    overlapping_reads/\* overlapping_writes/\* outstanding/\* atomic/\* intermixed/\*)
conform conformance "16 ranks, two nodes" run -np 16 "${nodes[@]}" --mca fcoll tatp
# More ranks on a node than have one parent.
cases=(even/all ragged/split_all several_files/all)
conform conformance "21 ranks, 18 of them on one node" run -np 21 --host n0:18,n1:3 --map-by slot --mca fcoll tatp
tap_plan
