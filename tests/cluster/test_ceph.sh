#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# CephFS on the test cluster: what one node writes the others read; bytes cross the links between a node and the
# server that has them; tatp layout says what Ceph's own program says; collective calls write the right bytes, and give a
# new file a layout whose stripes are near to the data's owners.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
need_cluster
cluster_name=ceph-$$
trap 'stop_cluster; rm -rf "$tap_dir"' EXIT
said=$("$CLUSTER" up --name "$cluster_name" --owner $$ --storage ceph 2>&1)
status=$?
[[ $status != 77 ]] || tap_skip_all "${said#cluster: }"
tap_is "$status, ${said#*: }" \
    "0, 4 nodes of 4 slots with CephFS, 2 on a leaf switch; links counted, limits: links none, uplinks none" "CephFS is up"

# inside COMMAND [ARGUMENT...]: a shell's, with the functions of $tap_dir/functions
inside() {
    # shellcheck disable=SC2016
    timeout --kill-after=5 "$HANG_LIMIT" "$CLUSTER" exec --name "$cluster_name" \
        bash -c '. "$0" && "$@"' "$tap_dir/functions" "$@" </dev/null 2>&1
}

export tap_dir
cat >"$tap_dir/functions" <<'END_OF_FUNCTIONS'
# new_file NAME LAYOUT
new_file() {
    : >"$CEPH_FILES/$1"
    "$PYTHON3" -c 'import os, sys; os.setxattr(sys.argv[1], "ceph.file.layout", sys.argv[2].encode())' "$CEPH_FILES/$1" "$2"
}

# from_node NODE COMMAND...
from_node() {
    "$top_srcdir/tests/cluster/agent" "$1" "$(printf '%q ' "${@:2}")"
}

# write_from NODE NAME
write_from() {
    from_node "$1" cp "$tap_dir/random" "$CEPH_MOUNTS/$1/$2"
}

# compare NAME: on all nodes with what was written
compare() {
    local node
    for node in n0 n1 n2 n3; do
        from_node $node cmp "$CEPH_MOUNTS/$node/$1" "$tap_dir/random"
    done
}

layout() {
    "$TOOLS_DIR/tatp" layout "$CEPH_FILES/$1"
}

# queries NAME: also while the program that asks still lives, the metadata server has no client but the mounts
queries() {
    local times answers
    coproc asking { "$top_builddir/tests/cluster/queries" "$CEPH_FILES/$1"; }
    exec {answers}<&"${asking[0]}"
    read -r times <&"$answers"
    echo "$times"
    echo "clients $(clients)"
    eval "exec ${asking[1]}>&-"
    wait "$asking_PID"
    echo "status $?"
}

unconfigured() {
    CEPH_CONF=$tap_dir/none layout "$1"
}

# by_tatp NAME: target and host of each object
by_tatp() {
    "$TOOLS_DIR/tatp" layout --json "$CEPH_FILES/$1" | "$PYTHON3" -c '
import json, sys
layout = json.load(sys.stdin)
hosts = {t["target"]: t["host"] for t in layout["targets"]}
for target in layout["extents"][0]["targets"]:
    print(target, hosts[target])'
}

value_of() {
    "$PYTHON3" -c 'import json, sys; print(eval("json.load(sys.stdin)" + sys.argv[1]))' "$1"
}

# by_ceph NAME: the same of its first four objects
by_ceph() {
    local object osd
    for object in 0 1 2 3; do
        osd=$(ceph osd map data "$(printf '%x.%08x' "$(stat -c %i "$CEPH_FILES/$1")" $object)" -f json 2>/dev/null | value_of '["acting_primary"]')
        echo "$osd $(ceph osd find "$osd" -f json 2>/dev/null | value_of '["crush_location"]["host"]')"
    done
}

# one_object NAME NODE: an empty file whose only object will be on that node
one_object() {
    local try
    for try in {1..100}; do
        new_file "$1" "stripe_unit=8388608 stripe_count=1 object_size=8388608"
        [[ $(by_tatp "$1") != *" $2" ]] || return 0
        rm "$CEPH_FILES/$1"
    done
    echo "no object on $2 in $try tries"
}

# near_halves NAME: an empty file whose first object will be under the first leaf switch, the second under the other one
near_halves() {
    local try
    for try in {1..100}; do
        new_file "$1" "stripe_unit=4194304 stripe_count=4 object_size=4194304"
        [[ ! $(by_tatp "$1" | xargs) =~ ^[0-9]+\ n[01]\ [0-9]+\ n[23]\  ]] || return 0
        rm "$CEPH_FILES/$1"
    done
    echo "no such objects in $try tries"
}

# array NAME [ARGUMENT...]: 16 ranks, a quarter of a file of 128 MiB on each node
array() {
    mpirun -np 16 --map-by slot --mca fcoll tatp --mca fcoll_tatp_topology "$tap_dir/topology.conf" --mca fcoll_tatp_stats "$tap_dir/stats" \
        "$BENCH_DIR/cube" --size 256 --grid 4x2x2 --hint romio_cb_read=enable --file "$CEPH_FILES/$1" "${@:2}" >"$tap_dir/out" 2>&1
    echo "status $?"
}

# collective COMPONENT
collective() {
    new_file cube "stripe_unit=65536 stripe_count=4 object_size=4194304"
    mpirun -np 8 --map-by node --mca fcoll "$1" "$BENCH_DIR/cube" --size 64 --grid 2x2x2 --verify --file "$CEPH_FILES/cube"
    echo "status $?"
    rm "$CEPH_FILES/cube"
}

clients() {
    ceph tell mds.a session ls 2>/dev/null | value_of '.__len__()'
}

# opens NAME [MCA-ARGUMENT...]: by eight ranks
opens() {
    mpirun -np 8 --map-by node --mca fcoll tatp --mca fcoll_tatp_num_aggregators 4 --mca fcoll_tatp_stats "$tap_dir/stats" \
        "${@:2}" "$top_builddir/tests/cluster/opens" "$CEPH_FILES/$1" ${sign:+"$sign"} 2>&1
}

# killed NAME: all ranks, after a collective write, and after the question about the file's servers
killed() {
    local sign=$tap_dir/sign
    opens "$1" >"$tap_dir/out" &
    until grep -q written "$tap_dir/out"; do
        sleep .1
    done
    : >"$sign"
    wait $!
    grep -o -m 1 "signal 9" "$tap_dir/out"
    clients
}

# counted: whether calls count storage hop-bytes of all bytes
counted() {
    "$PYTHON3" -c '
import json, sys
print([call["storage_hop_bytes"] >= call["bytes"] for call in map(json.loads, open(sys.argv[1]))])' "$tap_dir/stats"
    rm "$tap_dir/stats"
}
END_OF_FUNCTIONS

# crossings COMMAND...: how often the 8 MiB went over the links of n0 to n3
crossings() {
    "$CLUSTER" links --name "$cluster_name" --reset >/dev/null
    inside "$@"
    "$CLUSTER" links --name "$cluster_name" --csv | awk -F , '$2 == "node" { print int(($3 + $4) / 8388608 + .5) }' | xargs
}

head -c 8388608 /dev/urandom >"$tap_dir/random"
tap_is "$(inside new_file four "stripe_unit=65536 stripe_count=4 object_size=4194304")" "" "a layout is set"
tap_is "$(inside write_from n3 four)$(inside compare four)" "" "what one node wrote all nodes read"
tap_is "$(inside by_tatp four)" "$(inside by_ceph four)" "tatp layout: the server of each object, as ceph says"
printed=$(inside layout four)
tap_contains "$(xargs <<<"$printed")" "source CephFS bytes 8388608 from to stripe unit stripe count object size targets \
0 - 65536 4 4194304 " "tatp layout: stripe unit and count"
tap_is "$(awk '$1 ~ /^[0-3]$/ && $2 ~ /^n[0-3]$/ { sum += $3 } END { print sum }' <<<"$printed")" 8388608 \
    "tatp layout: all bytes have a host"
tap_contains "$(inside unconfigured four)" "/four: librados: no access to the cluster" "without Ceph's configuration: a message"
asked=$(inside queries four)
tap_is "$(tail -n 2 <<<"$asked" | xargs)" "clients 4 status 0" "who asks is no client of the metadata server"
tap_diag "milliseconds in which most questions begin, of the first answer, and of most others: $(head -n 1 <<<"$asked")"
for from in n1 n2; do
    tap_is "$(inside one_object "from-$from" n1)" "" "an empty file, all of it on n1"
done
tap_is "$(crossings write_from n1 from-n1)" "0 0 0 0" "a node writes to its own server: nothing on the links"
tap_is "$(crossings write_from n2 from-n2)" "0 1 1 0" "a node writes to another's server: all of it on both links"
clients=$(inside clients)
tap_is "$clients" 4 "the file system has four clients, the mounts"
for way in tatp vulcan; do
    output=$(inside collective $way)
    tap_is "$(grep -c '^cube *write' <<<"$output"), $(tail -n 1 <<<"$output")" "1, status 0" "$way writes and reads the right bytes"
done

# uplinks COMMAND...: its output, and the bytes that went up and down on uplinks.
uplinks() {
    "$CLUSTER" links --name "$cluster_name" --reset >/dev/null
    inside "$@"
    "$CLUSTER" links --name "$cluster_name" --uplinks-total
}

# chosen: of the first call in the statistics; stripe unit, stripe count and object size that were chosen.
chosen() {
    "$PYTHON3" -c 'import json, sys
layout = json.loads(open(sys.argv[1], encoding="utf-8").readline()).get("layout")
print("none" if layout is None else " ".join(str(layout.get(key)) for key in ("choice", "stripe_unit", "stripe_count", "object_size")))' \
        "$tap_dir/stats"
    rm "$tap_dir/stats"
}

printf '%s\n' 'SwitchName=a Nodes=n[0-1]' 'SwitchName=b Nodes=n[2-3]' 'SwitchName=top Switches=a,b' >"$tap_dir/topology.conf"
for name in kept fitted; do
    tap_is "$(inside near_halves $name)" "" "$name: an empty file"
done
kept=$(uplinks array kept --write-only | xargs)
tap_is "${kept% *}, $(chosen)" "status 0, none" "without the option the layout stays"
fitted=$(uplinks array fitted --write-only --hint striping_unit=auto | xargs)
read -ra striping <<<"$(chosen)"
tap_is "${fitted% *}, ${striping[0]}" "status 0, fit" "another layout is chosen"
tap_contains "$(inside layout fitted | xargs)" "object size targets 0 - ${striping[*]:1} " "the file has it"
tap_diag "${striping[*]}; bytes over uplinks: ${fitted##* }, with the present layout ${kept##* }"
# A byte counts twice, up and down; mpirun and idle servers send some 1 MB.
tap_check "at most 1 % of the file goes over uplinks" test "${fitted##* }" -le 2684354
tap_check "less than with the present layout" test "${fitted##* }" -lt "${kept##* }"
tap_is "$(inside array fitted --verify --read-only | xargs)" "status 0" "all bytes are right"
rm "$tap_dir/stats"
tap_is "$(inside array fitted --verify --hint striping_unit=auto | xargs), $(chosen)" "status 0, none" "a file with data keeps its layout"
tap_is "$(inside clients)" "$clients" "no rank has left a client behind, for which the servers would wait"
for weight in 1 0; do
    tap_is "$(inside new_file "far-$weight" "stripe_unit=1048576 stripe_count=4 object_size=4194304")" "" "another file"
    opened=$(inside opens "far-$weight" --mca fcoll_tatp_storage_weight $weight)
    tap_is "$(tail -n 1 <<<"$opened")" "written" "it is opened again and again, written and read, weight $weight"
    tap_diag "milliseconds in which most opens end, weight $weight: $(grep -x -m 1 '[0-9.]*' <<<"$opened")"
    [[ $weight == 0 ]] || tap_is "$(inside counted)" "[True, True, True, True]" \
        "all bytes have a server, also behind those that were asked for at open"
    rm -f "$tap_dir/stats"
done
tap_is "$(inside killed far-1 | xargs)" "signal 9 $clients" "killed ranks leave no client behind either"
tap_plan
