#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Aggregators are near the storage servers that a file of targets names: the sum of hop-bytes between ranks and to
# servers is the least of all assignments. A file that cannot be used is one warning, and changes nothing.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
need_cluster
start_cluster
[[ -n $cluster_name ]] || tap_skip_all "no cluster here"
printf '%s\n' 'SwitchName=a Nodes=n[0-1],s0' 'SwitchName=b Nodes=n[2-3],s1' 'SwitchName=top Switches=a,b' >"$tap_dir/topology.conf"
network=$tap_dir/topology.conf
striped=(--hint striping_unit=65536 --hint striping_factor=4)

# targets HOST...: a target on each
targets() {
    local k=0 host
    for host in "$@"; do
        echo "$((10 * k++)) $host"
    done >"$tap_dir/targets"
}

# blocks SIZE HOST...: 2 MiB in blocks, which the hosts have in turn
blocks() {
    local at hosts=("${@:2}")
    for ((at = 0; at < 2097152; at += $1)); do
        echo "$at $1 ${hosts[at / $1 % ${#hosts[@]}]}"
    done >"$tap_dir/targets"
}

# array MAPPING MCA-ARGUMENT... -- PROGRAM-ARGUMENT...: 2 MiB, written and read by four aggregators, every byte checked.
array() {
    local mapping=$1 mca=()
    shift
    while [[ $1 != -- ]]; do
        mca+=("$1")
        shift
    done
    rm -f "$tap_dir/stats"
    run -np 16 --map-by "$mapping" --mca fcoll tatp --mca fcoll_tatp_num_aggregators 4 \
        --mca fcoll_tatp_topology "$network" --mca fcoll_tatp_stats "$tap_dir/stats" "${mca[@]}" \
        "$cube" --size 64 --grid 4x2x2 --verify --file "$files/cube" "${@:2}" >"$tap_dir/out" 2>&1 || {
        cat "$tap_dir/out"
        return 1
    }
}

# right NAME MAPPING MCA-ARGUMENT... -- PROGRAM-ARGUMENT...: as array, with the file of targets
right() {
    tap_check "$1: right" array "$2" --mca fcoll_tatp_targets "$tap_dir/targets" "${@:3}"
}

# from_stats EXPRESSION: of the first call and its plan
from_stats() {
    "$PYTHON3" -c 'import json, sys
call = json.loads(open(sys.argv[1], encoding="utf-8").readline())
plan = call["plan"]
print(eval(sys.argv[2]))' "$tap_dir/stats" "$1"
}

owners() {
    from_stats '" ".join(plan["hosts"][plan["node_of_rank"][rank]] for rank in plan["rank_of_domain"])'
}

# least WEIGHT HOST...: hop-bytes between ranks and to servers of the plan, and the least sum of any, where domain k is on
# the k-th host. One domain on a node.
least() {
    "$PYTHON3" - "$tap_dir/stats" "$@" <<'END_OF_PYTHON'
import collections
import itertools
import json
import sys
call = json.loads(open(sys.argv[1], encoding="utf-8").readline())
plan, weight, servers = call["plan"], int(sys.argv[2]), sys.argv[3:]
leaf = {"n0": 0, "n1": 0, "s0": 0, "n2": 1, "n3": 1, "s1": 1}
def hops(a, b):
    return 1 if a == b else 2 if leaf[a] == leaf[b] else 4
host = [plan["hosts"][node] for node in plan["node_of_rank"]]
size = collections.Counter()
cost = collections.Counter()
for rank, domain, amount in zip(*(plan["requests"][k::3] for k in range(3))):
    size[domain] += amount
    for owner in range(16):
        cost[owner, domain] += 0 if owner == rank else amount * hops(host[rank], host[owner])
def storage(owners):
    return sum(size[j] * hops(host[owner], servers[j]) for j, owner in enumerate(owners))
def shuffle(owners):
    return sum(cost[owner, j] for j, owner in enumerate(owners))
totals = (shuffle(owners) + weight * storage(owners) for owners in itertools.permutations(range(16), 4)
          if len({host[owner] for owner in owners}) == 4)
mine = plan["rank_of_domain"]
right = shuffle(mine) == call["hop_bytes"] and storage(mine) == call["storage_hop_bytes"]
moved = sum(size[j] for j, owner in enumerate(mine) if host[owner] != servers[j])
right = right and moved == call["storage_crossing_bytes"]
print("right" if right else "wrong", shuffle(mine) + weight * storage(mine) - min(totals))
END_OF_PYTHON
}

# Each node accesses as much of each stripe as any other: servers alone decide.
for order in "n0 n1 n2 n3" "n3 n1 n0 n2" "n1 n0 n3 n2"; do
    read -ra hosts <<<"$order"
    targets "${hosts[@]}"
    right "stripes on $order" node -- "${striped[@]}"
    tap_is "$(owners)" "$order" "stripes on $order: aggregators beside them"
    tap_is "$(least 1 "${hosts[@]}")" "right 0" "stripes on $order: nothing costs less"
done
read -ra hosts <<<"n2 n0 n3 n1"
blocks 524288 "${hosts[@]}"
right "blocks" node --mca fcoll_tatp_domains even --
tap_is "$(owners)" "n2 n0 n3 n1" "blocks: aggregators beside them"
tap_is "$(least 1 "${hosts[@]}")" "right 0" "blocks: nothing costs less"

# Ranks by slot: what is near to ranks is far from servers. The latter may be on hosts without ranks.
for order in "n3 n2 n1 n0" "n2 n2 n0 n0" "s1 s1 s0 s0" "n3 s0 s0 n1"; do
    read -ra hosts <<<"$order"
    for weight in 1 3; do
        blocks 524288 "${hosts[@]}"
        right "blocks on $order, weight $weight" slot --mca fcoll_tatp_storage_weight $weight --mca fcoll_tatp_domains even --
        tap_is "$(least $weight "${hosts[@]}")" "right 0" "blocks on $order, weight $weight: nothing costs less"
    done
done
targets n3.cluster N2 n1 n0
right "names of hosts" slot -- "${striped[@]}"
tap_is "$(least 1 n3 n2 n1 n0)" "right 0" "names of hosts: without case and domain"
blocks 65536 n3 n2 n1 n0
right "fitted domains" node --mca fcoll_tatp_domains fitted --mca fcoll_tatp_unit_size 65536 --
tap_is "$(from_stats 'call["domains"], call["storage_crossing_bytes"]')" "('fitted', 0)" "fitted domains: each unit goes to its server's node"

# What tatp plan predicts of recorded calls is what their plans say: written and read.
targets n3 s0 n1 n0
right "recorded" slot --mca fcoll_tatp_record "$tap_dir/view.crs" -- "${striped[@]}"
# predicted_by_tatp ARGUMENT...
predicted_by_tatp() {
    "$TOOLS_DIR/tatp" plan --view "$tap_dir/view.crs" --topology "$tap_dir/topology.conf" --hosts 'n[0-3]:4' --json "$@" | "$PYTHON3" -c 'import json, sys
patterns = json.load(sys.stdin)["patterns"]
calls = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
keys = "hop_bytes", "crossing_bytes", "storage_hop_bytes", "storage_crossing_bytes"
print(*(int(sum(entry[key] for entry in patterns)) - int(sum(call[key] for call in calls)) for key in keys), len(calls))' \
        "$tap_dir/stats"
}
tap_is "$(predicted_by_tatp --targets "$tap_dir/targets" --striping-unit 65536)" "0 0 0 0 2" "recorded: predicted as it was"
tap_is "$(predicted_by_tatp --targets recorded)" "0 0 0 0 2" "recorded: and from the layout in the record"
tap_is "$(predicted_by_tatp --targets "$tap_dir/targets")" "0 0 0 0 2" "recorded: and from that with the hosts of a file"

# The record has the layout, also where plans need none; dla predicts the same from it.
tap_is "$("$TOOLS_DIR/dla" show "$tap_dir/view.crs" | sed -n 's/ in .*cube$//; s/^stripes //p')" "4 of 65536 on 0@n3 10@s0 20@n1 30@n0" \
    "recorded: the layout"
tap_is "$("$TOOLS_DIR/dla" map --file "$tap_dir/view.crs" --nodes 'n[0-3]:4' --topology "$tap_dir/topology.conf" --targets recorded \
    --method byslot --format json | "$PYTHON3" -c 'import json, sys
predicted = json.load(sys.stdin)
calls = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(*(predicted[key] - sum(call[key] for call in calls) for key in ("crossing_bytes", "storage_crossing_bytes")))' \
    "$tap_dir/stats")" "0 0" "recorded: dla predicts the same from the layout"
right "recorded with weight 0" slot --mca fcoll_tatp_storage_weight 0 --mca fcoll_tatp_record "$tap_dir/weightless.crs" -- "${striped[@]}"
tap_is "$(grep -A 6 ^LAYOUT "$tap_dir/weightless.crs")" "$(grep -A 6 ^LAYOUT "$tap_dir/view.crs")" "recorded with weight 0: the layout"

# Says that it is ready, and at the end of its input how often the file was opened: without the closes in between, the
# kernel would make one event of several.
count_opens() {
    "$PYTHON3" -c 'import ctypes, os, struct, sys
IN_CLOSE_NOWRITE, IN_OPEN, IN_NONBLOCK = 0x10, 0x20, 0o4000
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(IN_NONBLOCK)
libc.inotify_add_watch(watch, os.fsencode(sys.argv[1]), IN_OPEN | IN_CLOSE_NOWRITE)
print("ready", flush=True)
sys.stdin.read()
print(sum(mask == IN_OPEN for _, mask, _, _ in struct.iter_unpack("iIII", os.read(watch, 1 << 16))))' "$1"
}
begin_count() {
    rm -f "$tap_dir/opens"
    exec {ending}> >(count_opens "$1" >"$tap_dir/opens")
    counter=$!
    until [[ -s $tap_dir/opens ]]; do
        sleep .1
    done
}
# Sets opens.
end_count() {
    exec {ending}>&-
    wait "$counter"
    opens=$(tail -n 1 "$tap_dir/opens")
}
targets s0 s1 s0 s1
begin_count "$network"
right "servers without ranks" slot -- "${striped[@]}"
end_count
tap_is "$opens" 1 "servers without ranks: the topology is read once"

# The layout in the record and each plan use what was read when the file was opened, also where
# there are bytes that no block has.
echo "0 1048576 n3" >"$tap_dir/targets"
begin_count "$tap_dir/targets"
right "blocks of one half" slot --mca fcoll_tatp_record "$tap_dir/half.crs" -- --write-only
end_count
tap_is "$opens" 1 "blocks of one half: the file of targets is read once"

# The file system says the stripes, and a file only the hosts: no stripe is in two domains.
targets n3 n2 n1 n0
right "hosts for a layout" slot -x "LD_PRELOAD=$programs/.libs/lustre_calls.so" --
tap_is "$(from_stats 'call["domains"], call["unit"]') $(owners)" "('stripe', 65536) n3 n2 n1 n0" \
    "hosts for a layout: domains are its stripes"

# Without effect: as without servers.
decision() {
    from_stats '[plan["rank_of_domain"], call["hop_bytes"], "storage_hop_bytes" in call]'
}
tap_check "no file: right" array slot -- "${striped[@]}"
none=$(decision)
targets n3 n2 n1 n0
right "weight 0" slot --mca fcoll_tatp_storage_weight 0 -- "${striped[@]}"
tap_is "$(decision)" "$none" "weight 0: the same plan as without servers"

network=none
tap_check "a flat network: right" array slot -- "${striped[@]}"
flat=$(decision)
targets s1 s0 s0 s1
right "a flat network, other hosts" slot -- "${striped[@]}"
tap_is "$(decision), $(grep -c "fcoll_tatp_targets" "$tap_dir/out")" "$flat, 0" "a flat network, other hosts: the same plan as without servers"
network=$tap_dir/topology.conf

# ignored NAME PART-OF-MESSAGE PROGRAM-ARGUMENT...: of $tap_dir/targets
ignored() {
    right "$1" slot -- "${@:3}"
    tap_contains "$(cat "$tap_dir/out")" "$2" "$1: the message says so"
    tap_is "$(grep -c "fcoll_tatp_targets" "$tap_dir/out")" 1 "$1: once"
    [[ $# -eq 2 ]] || tap_is "$(decision)" "$none" "$1: the same plan as without it"
}
targets n3 n2 x9 n0
ignored "unknown host" "the distance of host x9 is not known" "${striped[@]}"
targets n3 n2 n1
ignored "fewer targets than stripes" "3 targets are fewer than the stripe count, 4" "${striped[@]}"
targets n3 n2 n1 n0
ignored "no stripes" "the stripe size of the file is not known"
echo "4 n1 n2" >>"$tap_dir/targets"
ignored "malformed" "targets, line 5" "${striped[@]}"
rm "$tap_dir/targets"
ignored "missing" "No such file or directory" "${striped[@]}"
mkfifo "$tap_dir/targets"
ignored "a FIFO" "it is not a regular file" "${striped[@]}"
tap_plan
