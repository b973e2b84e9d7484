#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The first collective write of a file without data gives it the layout that is nearest to the data's owners, where that
# is asked for; where the file system refuses, or the file has data, it keeps the one that it has. A preloaded library
# stands for CephFS: object k is on the k-th node of a list.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
need_cluster
start_cluster
[[ -n $cluster_name ]] || tap_skip_all "no cluster here"
printf '%s\n' 'SwitchName=a Nodes=n[0-1]' 'SwitchName=b Nodes=n[2-3]' 'SwitchName=top Switches=a,b' >"$tap_dir/topology.conf"
printf '%s\n' '0 n0' '1 n1' '2 n2' '3 n3' >"$tap_dir/targets"
file=$files/array.ceph
# Each node has a quarter.
mapping=slot grid=4x2x2 size=128
error=

# array NODES [ARGUMENT...]: 16 MiB, by $mapping, $grid and $size, to a file whose objects are on these nodes; every byte checked.
array() {
    local mca=()
    while [[ ${2-} == --mca ]]; do
        mca+=("${@:2:3}")
        set -- "$1" "${@:5}"
    done
    rm -f "$tap_dir/stats"
    run -np 16 --map-by "$mapping" -x LD_PRELOAD="$programs/.libs/fake_ceph.so" -x FAKE_CEPH_OSDS="$1" ${error:+-x FAKE_CEPH_ERROR="$error"} \
        --mca fcoll tatp --mca fcoll_tatp_topology "$tap_dir/topology.conf" --mca fcoll_tatp_targets "$tap_dir/targets" \
        --mca fcoll_tatp_stats "$tap_dir/stats" "${mca[@]}" \
        "$cube" --size "$size" --grid "$grid" --verify --file "$file" "${@:2}" >"$tap_dir/out" 2>&1 || {
        cat "$tap_dir/out"
        return 1
    }
}

# new_array NODES [ARGUMENT...]: to a new file
new_array() {
    rm -f "$file"*
    array "$@"
}

# chosen: fit or keep, or none where there was no choice; the layout that was set.
chosen() {
    "$PYTHON3" -c 'import json, sys
calls = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(*(call.get("layout", {}).get("choice", "none") for call in calls))' "$tap_dir/stats"
    cat "$file.layout" 2>/dev/null
}

# plans: whether the plan costs what the choice went by.
plans() {
    "$PYTHON3" -c 'import json, sys
call = json.loads(open(sys.argv[1], encoding="utf-8").readline())
print(call["layout"]["hop_bytes"] - call["hop_bytes"] - call["storage_hop_bytes"])' "$tap_dir/stats"
    "$PYTHON3" "$top_srcdir/tests/mpi/check_stats.py" "$tap_dir/stats"
}

# is_set NAME NODES LAYOUT [ARGUMENT...]
is_set() {
    tap_check "$1: right" new_array "$2" "${@:4}"
    tap_is "$(chosen | xargs)" "fit none $3" "$1: the layout"
}

# is_kept NAME CHOICE NODES [ARGUMENT...]
is_kept() {
    tap_check "$1: right" new_array "${@:3}"
    tap_is "$(chosen | xargs)" "$2 none" "$1: the layout stays"
}

fit=(--mca fcoll_tatp_layout fit)
halves="stripe_unit=8388608 stripe_count=1 object_size=8388608"
is_set "by parameter" "1 2 0 3 3 1" "$halves" "${fit[@]}"
tap_is "$(plans)" "0
lines 2 plans 1 timelines 2" "by parameter: the plan is the one that was predicted"
is_set "by hint" "1 2 0 3 3 1" "$halves" --hint striping_unit=auto
grid=16x1x1 is_set "without aggregators" "1 2 0 3 3 1" "$halves" "${fit[@]}"
mapping=node grid=16x1x1 is_set "nodes in turn" "0 1 2 3" "stripe_unit=1048576 stripe_count=4 object_size=67108864" "${fit[@]}"
is_kept "not asked for" none "1 2 0 3 3 1"
is_kept "a stripe size that is given" none "1 2 0 3 3 1" "${fit[@]}" --hint striping_unit=65536
is_kept "weight 0" none "1 2 0 3 3 1" "${fit[@]}" --mca fcoll_tatp_storage_weight 0
size=32 is_kept "a small write" none "1 2 0 3 3 1" "${fit[@]}"
is_kept "nothing better" keep "0 1 2 3" "${fit[@]}"

tap_check "a file with data: right" array "1 2 0 3 3 1" "${fit[@]}"
tap_is "$(chosen | xargs)" "none none" "a file with data keeps its layout"
error=39 is_kept "got data meanwhile" keep "1 2 0 3 3 1" "${fit[@]}"
tap_is "$(grep -c "fcoll_tatp_layout" "$tap_dir/out")" 0 "got data meanwhile: no message"
error=1 is_kept "refused" keep "1 2 0 3 3 1" "${fit[@]}"
tap_is "$(grep -c "fcoll_tatp_layout" "$tap_dir/out")" 1 "refused: one message"
tap_contains "$(cat "$tap_dir/out")" "cannot be set: $halves: Operation not permitted" "refused: with the reason"
tap_plan
