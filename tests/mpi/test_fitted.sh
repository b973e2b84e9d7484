#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fitted file domains, on counted links: what is predicted crosses them, and where the nodes' parts are whole
# units nothing does.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_cluster
slots=(-np 16 --map-by slot)

# stat KEY: its value in the last line.
stat() { tail -n 1 "$stats" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# Bytes over the nodes' links, both ways, since it was last asked.
links() {
    "$CLUSTER" links --name "$cluster_name" --csv --reset |
        awk -F, '$2 == "node" { bytes += $3 + $4 } END { print bytes }'
}

# near MEASURED PREDICTED: within 5 %, and what mpirun, the launch and the plan need (under 1 MB).
near() {
    local slack=$(($2 / 20 + 1500000))
    (($1 >= $2 - slack && $1 <= $2 + slack))
}

# crosses NAME KIND BYTES SIZE GRID [ARGUMENT...]: domains of that kind are chosen, and a write and a read
# each take BYTES (or, if that is "some", what is predicted) over the hosts' links.
crosses() {
    local name=$1 kind=$2 bytes=$3 predicted measured
    links >/dev/null
    tap_check "$name: right" array "${@:4:2}" "${slots[@]}" "${@:6}"
    measured=$(links)
    predicted=$(stat crossing_bytes)
    tap_is "$(stat domains)" "$kind" "$name: $kind domains"
    [[ $bytes == some ]] || tap_is "$predicted" "$bytes" "$name: predicted bytes"
    # a byte from node to node takes the link of each, and is counted at both
    tap_diag "$name: predicted $predicted a call, measured $measured on all links"
    tap_check "$name: as much as predicted" near "$measured" $((4 * predicted))
}

crosses "1x4x4" fitted 0 64x256x256 1x4x4
crosses "2x2x4" fitted 0 128 2x2x4
crosses "1x4x4, even asked for" even some 64x256x256 1x4x4 --mca fcoll_tatp_domains even
crosses "odd numbers" fitted some 150x140x130 1x4x4
crosses "stripes" fitted 0 64x256x256 1x4x4 --mca fcoll_tatp_stripe_size 131072
# A plane has eight stripes, two in the rows of each node.
crosses "stripes of eight targets" fitted 0 64x256x256 1x4x4 --mca fcoll_tatp_stripe_size 65536 \
    --mca fcoll_tatp_stripe_count 8 --mca fcoll_tatp_num_aggregators 4
crosses "whole planes" none 0 128 16x1x1
crosses "whole planes, with aggregators" even 0 128 16x1x1 --mca fcoll_tatp_num_aggregators 16

# kind SIZE GRID [ARGUMENT...]: of domains.
kind() {
    array "$1" "$2" "${slots[@]}" "${@:3}" >"$tap_dir/out" 2>&1
    stat domains
}

tap_is "$(kind 128 1x4x4 --mca fcoll_tatp_stripe_size 1048576)" even "units that are too large for the pattern are not taken"
four=(--mca fcoll_tatp_num_aggregators 4)
tap_is "$(kind 16 1x4x4 "${four[@]}")" even "a small range is not cut into units"
tap_is "$(kind 16 1x4x4 "${four[@]}" --mca fcoll_tatp_stripe_size 256)" fitted "unless its stripes are small"
tap_plan
