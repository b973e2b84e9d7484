#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What placement saves, on counted links: an array over 2x2x4 ranks placed by dla moves less than
# 5 % of the bytes over the uplinks that it moves placed by node.
. "$top_srcdir/tests/mpi/lib.sh"

need_component fcoll tatp
need_component rmaps dla
"$CLUSTER" check >"$tap_dir/check" 2>&1 || tap_skip_all "$(head -n 1 "$tap_dir/check")"

# array MAPPING [ARGUMENT...]: writes and reads it, checks every byte.
array() {
    run -np 16 --map-by "$1" --mca fcoll tatp "${@:2}" \
        "$cube" --size 192 --grid 2x2x4 --verify --repeat 3 --file "$files/cube"
}

uplinks() {
    "$CLUSTER" links --name "$cluster_name" --uplinks-total --reset
}

start_cluster
tap_check "by node, recorded" array node --mca fcoll_tatp_record "$files/view.crs"
uplinks >/dev/null
tap_check "by node" array node
by_node=$(uplinks)
tap_check "by dla" array "dla:file=$files/view.crs"
by_dla=$(uplinks)
tap_diag "bytes over the uplinks: by node $by_node, by dla $by_dla"
tap_check "by dla less than 5 % of by node" test $((by_dla * 20)) -lt "$by_node"
tap_plan
