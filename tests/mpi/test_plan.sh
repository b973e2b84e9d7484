#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rank 0 of a call decides by what the nodes tell of some of their ranks: that costs what tatp plan finds by
# all of them, whatever the strategy. The model here counts which rank accesses how much of each domain.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_cluster
two_leaves "$tap_dir/topology.conf"

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

# expected DOMAINS PER-NODE: a line for each strategy: its hop-bytes, those of otp, and bytes between nodes.
expected() {
    requests "$size" "$grid" "$1" "$tap_dir/c.mtx" "$tap_dir/b.mtx"
    "$TOOLS_DIR/tatp" plan --requests "$tap_dir/c.mtx" --blocks "$tap_dir/b.mtx" --topology "$tap_dir/topology.conf" \
        --hosts "@$tap_dir/hosts.list" --per-node "$2" --quiet --json | "$PYTHON3" -c 'import json, sys
plans = {plan["name"]: plan for plan in json.load(sys.stdin)["strategies"]}
for name, plan in plans.items():
    print(name, int(plan["hop_bytes"]), int(plans["otp"]["hop_bytes"]), plan["crossing_bytes"])'
}

# told DOMAINS STRATEGY: the same, as the call tells it that made the plan.
told() {
    sed -n "s/.* $1 domains by $2: \([0-9]*\) hop-bytes, \([0-9]*\) bytes between nodes; by otp \([0-9]*\) .*/$2 \1 \3 \2/p" \
        "$tap_dir/out"
}

# agree RANKS MAPPING SIZE GRID DOMAINS:PER-NODE:STRATEGY,...: SIZE is of whole domains. One start of the program makes each
# plan twice: with statistics, for which all nodes tell of all their ranks, and without.
agree() {
    local size=$3 grid=$4 name="$1 ranks by $2, $3 by $4" problem domains per_node strategy ways=() plan rank
    for ((rank = 0; rank < $1; rank++)); do
        [[ $2 == slot ]] && echo "n$((rank / 4))" || echo "n$((rank % 4))"
    done >"$tap_dir/hosts.list"
    for problem in "${@:5}"; do
        IFS=: read -r domains per_node strategy <<<"$problem"
        for strategy in ${strategy//,/ }; do ways+=("tatp+strategy=$strategy,num_aggregators=$domains"); done
    done
    tap_check "$name: right" run -np "$1" --map-by "$2" --mca fcoll tatp --mca fcoll_base_verbose 20 \
        --mca fcoll_tatp_topology "$tap_dir/topology.conf" --mca fcoll_tatp_domains even \
        "$contest" --rounds 0 --size "$3" --grid "$4" --file "$files/array" --contestants "${ways[*]}"
    printf '%s\n' "$tap_output" >"$tap_dir/out"
    for problem in "${@:5}"; do
        IFS=: read -r domains per_node strategy <<<"$problem"
        expected "$domains" "$per_node" >"$tap_dir/plans"
        for strategy in ${strategy//,/ }; do
            plan=$(grep "^$strategy " "$tap_dir/plans" || echo "no plan")
            tap_is "$(told "$domains" "$strategy")" "$plan"$'\n'"$plan" "$name, $domains domains by $strategy: what it costs"
        done
    done
}

all=tatp,latp_volume,latp_count,otp
# Blocks of 1, 2, 2 and 2 columns: those that access most of a node's two domains are not its lowest rank. Planes 2, 3, 2
# and 3: as many ranks of two nodes access each of two domains, in more and less blocks of a row.
agree 16 slot 10x28x7 4x1x4 7:2:$all 2:1:$all
agree 16 node 32x32x32 4x4x1 4:1:$all 16:4:tatp
# A node of one rank, the others of four: the last has no room for three.
agree 13 slot 8x26x40 1x13x1 10:3:tatp 5:2:tatp
agree 2 slot 8x8x8 1x1x2 2:2:tatp,otp
tap_plan
