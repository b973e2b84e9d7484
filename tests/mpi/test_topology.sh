#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What knowing the network saves, on counted links: with a file of its topology another rank serves the file, and the
# uplinks carry as many bytes less as `tatp plan` predicts.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_cluster
"$CLUSTER" links --name "$cluster_name" >"$tap_dir/links" 2>&1 || tap_skip_all "$(head -n 1 "$tap_dir/links")"

# n2 has more ranks than any other node, but n0 and n1 together, below one switch, have more than n2.
hosts=n0:3,n1:3,n2:4 ranks=10 bytes=$((160 * 256 * 256 * 8))
two_leaves "$tap_dir/topology.conf"
{
    printf '%%%%MatrixMarket matrix array integer general\n%d 1\n' "$ranks"
    for ((rank = 0; rank < ranks; rank++)); do echo $((bytes / ranks)); done
} >"$tap_dir/C.mtx"

# predicted RANK: bytes on the uplinks when that rank serves the file, up and down, for a write and a read.
predicted() {
    "$TOOLS_DIR/tatp" plan --json --requests "$tap_dir/C.mtx" --topology "$tap_dir/topology.conf" --hosts "$hosts" \
        --aggregators "$1" | "$PYTHON3" -c '
import json, sys
links = json.load(sys.stdin)
nodes, root = links["nodes"], len(links["parent"]) - 1
print(round(2 * sum(links["given"][way][v] for way in ("up", "down") for v in range(nodes, root))))'
}

# near MEASURED PREDICTED: within 5 %.
near() { (($1 * 20 >= $2 * 19 && $1 * 20 <= $2 * 21)); }

# measure TOPOLOGY: sets chosen, expected and measured.
measure() {
    uplinks >/dev/null
    tap_check "topology ${1##*/}: right" array 160x256x256 10x1x1 -np "$ranks" --host "$hosts" --map-by slot \
        --mca fcoll_tatp_topology "$1" --mca fcoll_tatp_num_aggregators 1
    measured=$(uplinks)
    chosen=$(statistic rank_of_domain)
    expected=$(predicted "$chosen")
    tap_diag "topology ${1##*/}: rank $chosen, predicted $expected, measured $measured"
    tap_check "topology ${1##*/}: as much as predicted" near "$measured" "$expected"
}

measure none
tap_check "without a topology the file is served on the node with most ranks" test "$chosen" -ge 6
before_expected=$expected before=$measured
measure "$tap_dir/topology.conf"
tap_check "with it, below the switch with most ranks" test "$chosen" -lt 6
tap_check "less on the uplinks is predicted" test "$expected" -lt "$before_expected"
tap_check "and that much less is measured" near $((before - measured)) $((before_expected - expected))
tap_plan
