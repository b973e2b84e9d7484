#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rank 0 of a call decides by what the nodes tell of some of their ranks: that costs what tatp plan finds by
# all of them, whatever the strategy. The model here counts which rank accesses how much of each domain.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
need_cluster
start_cluster
[[ -n $cluster_name ]] || tap_skip_all "no cluster here"
printf '%s\n' 'SwitchName=a Nodes=n[0-1]' 'SwitchName=b Nodes=n[2-3]' 'SwitchName=top Switches=a,b' \
    >"$tap_dir/topology.conf"

# requests SIZE GRID DOMAINS BYTES BLOCKS: bytes of each even domain that each rank of a grid accesses, and in how many
# blocks, as files in Matrix Market format. Domains of less than 1 MiB begin anywhere.
requests() {
    "$PYTHON3" - "$@" <<'END_OF_PYTHON'
import collections
import itertools
import sys
size, grid = ([int(word) for word in text.split("x")] for text in sys.argv[1:3])
domains, element = int(sys.argv[3]), 8
domain = size[0] * size[1] * size[2] * element // domains
count, blocks, last = collections.Counter(), collections.Counter(), {}
for at, place in enumerate(itertools.product(*map(range, size))):
    rank = 0
    for i in range(3):
        rank = rank * grid[i] + ((place[i] + 1) * grid[i] - 1) // size[i]
    j = at * element // domain
    count[rank, j] += element
    blocks[rank, j] += last.get((rank, j)) != at - 1
    last[rank, j] = at
for name, numbers in (sys.argv[4], count), (sys.argv[5], blocks):
    with open(name, "w", encoding="ascii") as out:
        print("%%MatrixMarket matrix coordinate integer general", file=out)
        print(grid[0] * grid[1] * grid[2], domains, len(numbers), file=out)
        for (rank, j), value in sorted(numbers.items()):
            print(rank + 1, j + 1, value, file=out)
END_OF_PYTHON
}

# hosts RANKS MAPPING: that of each rank; four nodes of four slots.
hosts() {
    local r
    for ((r = 0; r < $1; r++)); do
        [[ $2 == slot ]] && echo "n$((r / 4))" || echo "n$((r % 4))"
    done
}

# told: hop-bytes of the plan and of otp, and bytes between nodes, as the call tells them. Not in statistics: for
# those all nodes tell of all their ranks.
told() {
    sed -n 's/.*domains by .*: \([0-9]*\) hop-bytes, \([0-9]*\) bytes between nodes; by otp \([0-9]*\) hop-bytes.*/\1 \3 \2/p' \
        "$tap_dir/out" | head -n 1
}

# array ARGUMENT...: written and read; every byte is checked.
array() {
    run "$@" --verify --file "$files/cube" >"$tap_dir/out" 2>&1 || {
        cat "$tap_dir/out"
        return 1
    }
}

# expected STRATEGY PER-NODE
expected() {
    "$TOOLS_DIR/tatp" plan --requests "$tap_dir/c.mtx" --blocks "$tap_dir/b.mtx" --topology "$tap_dir/topology.conf" \
        --hosts "@$tap_dir/hosts.list" --per-node "$2" --quiet --json | "$PYTHON3" -c 'import json, sys
by = {plan["name"]: plan for plan in json.load(sys.stdin)["strategies"]}
mine = by[sys.argv[1]]
print(int(mine["hop_bytes"]), int(by["otp"]["hop_bytes"]), mine["crossing_bytes"])' "$1"
}

# agrees STRATEGY RANKS MAPPING SIZE GRID DOMAINS PER-NODE: SIZE is of whole domains.
agrees() {
    local name="$1, $2 ranks by $3, $4 by $5, $6 domains"
    requests "$4" "$5" "$6" "$tap_dir/c.mtx" "$tap_dir/b.mtx"
    hosts "$2" "$3" >"$tap_dir/hosts.list"
    tap_check "$name: right" array -np "$2" --map-by "$3" --mca fcoll tatp --mca fcoll_base_verbose 20 \
        --mca fcoll_tatp_topology "$tap_dir/topology.conf" --mca fcoll_tatp_strategy "$1" \
        --mca fcoll_tatp_domains even --mca fcoll_tatp_num_aggregators "$6" \
        "$cube" --size "$4" --grid "$5"
    tap_is "$(told)" "$(expected "$1" "$7" || echo "no plan")" "$name: what it costs"
}

for strategy in tatp latp_volume latp_count otp; do
    # Blocks of 1, 2, 2 and 2 columns: those that access most of a node's two domains are not its lowest rank.
    agrees $strategy 16 slot 32x28x7 4x1x4 7 2
    agrees $strategy 16 node 32x32x32 4x4x1 4 1
    # Planes 2, 3, 2 and 3 in blocks of a row each: as many ranks of two nodes access each domain, in 8 and 12 blocks.
    agrees $strategy 16 slot 10x8x8 4x4x1 2 1
done
# A node of one rank, the others of four: the last has no room for three.
agrees tatp 13 slot 8x26x40 1x13x1 10 3
agrees tatp 13 slot 8x26x40 1x13x1 5 2
agrees tatp 16 node 32x32x32 1x4x4 16 4
agrees tatp 2 slot 8x8x8 1x1x2 2 2
tap_plan
