#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The number of aggregators: by nodes, stripes and size of the access, or as given.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

# aggregators SIZE ARGUMENT...: what the statistics say of a write of an array by 16 ranks.
aggregators() {
    array "$1" 4x2x2 -np 16 --map-by node "${@:2}" >/dev/null 2>&1
    statistic aggregators
}

start_cluster
nodes=4
[[ -n $cluster_name ]] || nodes=1
large=128x128x256 # 32 MiB
tap_is "$(aggregators $large)" $((nodes == 1 ? 8 : 16)) "four on a node, or half of its ranks"
tap_is "$(aggregators 64x64x64)" $((nodes == 1 ? 2 : 4)) "one for each MiB, or on each node"
tap_is "$(aggregators 8x8x8)" 1 "one for little"
tap_is "$(aggregators $large --mca fcoll_tatp_num_aggregators 5)" 5 "as many as asked for"
tap_is "$(aggregators $large --mca io_ompio_num_aggregators 7)" 7 "as many as OMPIO was asked for"
tap_is "$(aggregators $large --mca fcoll_tatp_stripe_size 1048576 --mca fcoll_tatp_stripe_count 6)" \
    $((nodes == 1 ? 6 : 12)) "what stripes allow"
tap_plan
