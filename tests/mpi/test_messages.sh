#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The size of messages by the transport between nodes.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
array=("$cube" --size 128x128x256 --grid 1x4x4 --verify --file "$files/array")

# messages: the size that was chosen, and the number of messages of a write of 32 MiB by
# 16 ranks. Each of 16 aggregators gets 128 KiB from each of 15 other ranks: without shared memory no rank carries the
# data of others.
messages() {
    rm -f "$stats"
    run -np 16 --map-by node --mca fcoll tatp --mca fcoll_tatp_domains even --mca fcoll_tatp_shared_memory false \
        --mca fcoll_tatp_stats "$stats" "${array[@]}" >"$tap_dir/said" 2>&1 || cat "$tap_dir/said"
    echo "$(statistic message_size) $(statistic messages)"
}

# tells WANTED NAME
tells() { tap_is "$(messages)" "$1" "$2"; }

start_cluster
if [[ -n $cluster_name ]]; then
    # Windows of 16 messages: three for a domain of 2 MiB, or one.
    tells "64512 720" ob1
    for layer in ucx ofi; do by_transport $layer $layer tells "516096 240" $layer; done
else
    tap_skip "messages between nodes" "needs nodes of the cluster"
fi
stop_cluster

rm -f "$stats"
tap_check "one node: a run" run_here 4 --mca fcoll tatp --mca fcoll_tatp_stats "$stats" \
    "$cube" --size 64 --grid 1x2x2 --file "$files/array"
tap_is "$(statistic message_size)" 64512 "one node"
tap_plan
