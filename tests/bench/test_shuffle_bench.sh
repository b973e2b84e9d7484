#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages on modelled networks: one from each rank to each aggregator, or from each node. Modelled times do not depend on
# this machine. On the test cluster the same exchanges have the same messages; how long they take is not looked at.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

bench=$BENCH_DIR/shuffle_bench

# messages ARGUMENT...: of the write and the read.
messages() {
    "$bench" --network=cluster --ranks=64 --aggregators=4 "$@" | cut -d, -f10 | paste -sd ' '
}

# seconds NETWORK ARGUMENT...: of the write.
seconds() {
    "$bench" --network="$1" --aggregators=4 "${@:2}" | awk -F, '$8 == "write" { print $12 }'
}

tap_is "$(messages)" "192 192" "48 ranks of other nodes, 4 aggregators"
tap_is "$(messages --loads)" "12 12" "3 other nodes, 4 aggregators"
tap_is "$(messages --loads --per-node=32)" "4 4" "1 other node, 4 aggregators"
tap_is "$(messages --record=4096)" "384 384" "parts of full messages"
tap_is "$(messages --record=4096 --loads)" "216 216" "small parts in all cycles together are carried"
tap_is "$(messages --record=4096 --records=1024 --loads)" "3456 3456" "larger ones are not"
tap_is "$(messages --messages)" "252 252" "all other ranks, 4 aggregators"
tap_check "a shuffle with loads takes less time" \
    awk "BEGIN { exit !($(seconds crill --ranks=192 --loads) < $(seconds crill --ranks=192)) }"
# 4 MiB each way over each uplink, in messages of 63 KiB: 66 bytes for 1,448, and again for two such frames of the other
# way. The first 128 KiB take no time.
slow=$(seconds cluster --ranks=16 --per-node=4 --records=16384 --link=5e6 --uplink=5e6)
tap_check "slow links take the time of their bytes: $slow" awk "BEGIN { exit !($slow > 0.870 && $slow < 0.885) }"
tap_check_fails "a network that does not exist" "$bench" --network=string

if [[ -n $PYTHON3 ]] && has_component fcoll tatp && "$CLUSTER" check >/dev/null 2>&1; then
    for name in 200mbit-32-4096-32768k-4 100mbit/50mbit-32-512-1024k-4; do
        tap_check "cycles and messages of the test cluster: $name" timeout --kill-after=5 "$HANG_LIMIT" "$PYTHON3" \
            "$top_srcdir/bench/shuffle_check" --rounds 1 --tolerance inf --cases "$name"
    done
else
    tap_skip "the test cluster" "needs fcoll/tatp, python3 and links that can be limited"
fi
tap_plan
