#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tatp simulate: figures that follow from what is accessed, and what is refused.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

python=${PYTHON3:-/usr/bin/python3}
record=$top_srcdir/tests/fixtures/recorded/4.1.crs

# figure PHASE KEY: of the last job
figure() {
    "$python" -c 'import json, sys
print(next(p[sys.argv[2]] for p in json.load(open("out"))["phases"] if p["phase"] == sys.argv[1]))' "$1" "$2"
}

write_json() { tatp simulate --json "$@" >out; }

# simulates NAME ARGUMENT...
simulates() { tap_check "$1: ends" write_json "${@:2}"; }

# Slabs of one node each: no data cross.
simulates "slabs" --cart 4x2x2 --block 64x64x64 --ranks-per-node 4 --servers 1x2GB/s
tap_check "slabs: headers of messages cross alone" test "$(figure write bytes_between_nodes)" -lt 4096
tap_is "$(figure close messages)" 0 "slabs: closing sends nothing"
tap_described tatp.1 simulate "$(<out)"
# Columns of each node: of each quarter of the file three quarters cross.
simulates "columns" --cart 1x1x16 --block 64x64x4 --ranks-per-node 4
moved=$((64 * 64 * 64 * 8 * 3 / 4))
tap_check "columns: three quarters of the data cross, and headers" \
    test "$(figure write bytes_between_nodes)" -ge $moved -a "$(figure write bytes_between_nodes)" -le $((moved * 11 / 10))
tap_is "$(figure write messages)" "$(figure read messages)" "columns: a read as many messages as a write"
simulates "the same again" --cart 1x1x16 --block 64x64x4 --ranks-per-node 4 --link 1.25GB/s:1us
slow=$(figure write seconds)
simulates "faster links" --cart 1x1x16 --block 64x64x4 --ranks-per-node 4 --link 125GB/s:1us
tap_check "faster links: less time" awk -v slow="$slow" -v fast="$(figure write seconds)" 'BEGIN { exit !(fast < slow) }'
simulates "records" --records 1024 --ranks 64 --ranks-per-node 16
tap_check "records: memory of rank 0" test "$(figure write rank_0_bytes)" -gt 1000000
simulates "a recorded run" --view "$record" --hosts 'n[0-1]:4'
once=$(figure write bytes_between_nodes)
simulates "a recorded run, without nodes" --view "$record"
tap_is "$(figure write bytes_between_nodes)" 0 "a recorded run, without nodes: 32 ranks on each"
simulates "a recorded run, its ranks by node" --view "$record" --ranks-per-node 4
tap_is "$(figure write bytes_between_nodes)" "$once" "a recorded run, its ranks by node: the same"
simulates "a recorded run 8 times" --view "$record" --times 8 --ranks-per-node 4
tap_check "a recorded run 8 times: as many bytes at least" test "$(figure write bytes_between_nodes)" -ge $((once * 8))
tap_check "a recorded run 8 times: placements are compared" tatp simulate --view "$record" --times 8 --ranks-per-node 4 --compare
tap_check "a table" tatp simulate --cart 4x4 --servers 4x1GB/s:10us

# in_turn RANKS BYTES COUNT UNIT: the record "turns.crs" of ranks that have so many records in turn, in bins of UNIT
# bytes, each of which all ranks share.
in_turn() {
    "$python" - "$@" >turns.crs <<'END'
import sys
ranks, size, count, unit = map(int, sys.argv[1:])
bins, share = ranks * size * count // unit, unit // ranks
print("FILEVIEW", 2 * ranks, ranks + 1)
neighbours = [sorted(((r - 1) % ranks, (r + 1) % ranks)) for r in range(ranks)]
print(*(other for pair in neighbours for other in pair))
print(*(count - ({r, other} == {0, ranks - 1}) for r, pair in enumerate(neighbours) for other in pair))
print(*range(1, 2 * ranks + 2, 2))
print("ACCESS 1 0", unit, bins, ranks, ranks * bins, "file")
for r in range(ranks):
    print(r, bins, *(number for b in range(bins) for number in (b, share)))
END
}

# moves NAME ARGUMENT...: what a simulated job sends in its calls.
moves() {
    tatp simulate --json "$@" --servers 1x2GB/s >out || return 1
    "$python" -c 'import json
for p in json.load(open("out"))["phases"]:
    print(p["phase"], p["messages"], p["messages_between_nodes"], p["bytes_between_nodes"], p["accesses"])'
}

by_node="$(printf 'n[0-3],%.0s' {1..15})n[0-3]"
for case in "64 32 4096 262144" "64 1024 64 524288"; do
    read -r ranks bytes count unit <<<"$case"
    in_turn "$ranks" "$bytes" "$count" "$unit"
    for hosts in 'n[0-3]:16' "$by_node"; do
        tap_is "$(moves --view turns.crs --hosts "$hosts")" \
            "$(moves --records "$bytes" --count "$count" --ranks "$ranks" --hosts "$hosts")" \
            "$count records of $bytes bytes in turn, on ${hosts:0:9}: the same by a record with large bins"
    done
done
tap_contains "$(tatp simulate --view turns.crs --hosts 'n[0-3]:16')" "in its bins 100 % of the bytes" \
    "a record with large bins: says that it does not know all places"
tap_is "$("$python" -c 'import json; print(json.load(open("out"))["hidden_bytes"])')" 0 "records: all places are known"

# Chunks of one rank each, of which the domains of its node consist.
simulates "chunks" --cart 1x1x16 --block 64x64x4 --chunk 64x64x4 --ranks-per-node 4 --servers 1x2GB/s
tap_check "chunks: headers of messages cross alone" test "$(figure write bytes_between_nodes)" -lt 4096
simulates "random records" --records 1024 --ranks 64 --ranks-per-node 16 --random
moved=$((64 * 32 * 1024 * 3 / 4))
tap_check "random records: three quarters of them cross" \
    test "$(figure write bytes_between_nodes)" -ge $((moved * 9 / 10)) -a "$(figure write bytes_between_nodes)" -le $((moved * 11 / 10))

# 64 ranks have records in the domains of 4 aggregators, which send nothing to themselves.
simulates "ROMIO" --records 1024 --ranks 64 --ranks-per-node 16 --romio
tap_is "$(figure write messages)" $((3 * 63 * 4)) "ROMIO: offsets, lengths and data of each rank for each aggregator"
tap_is "$(figure first\ write messages) $(figure read messages)" "756 756" "ROMIO: as many each time"
tap_is "$(figure write accesses)" 4 "ROMIO: one access of each aggregator"
simulates "ROMIO, slabs" --cart 16 --block 4096 --ranks-per-node 4 --romio
tap_is "$(figure write messages) $(figure write accesses)" "0 16" "ROMIO, slabs: each rank by itself"

# A step of 65 stripes, and one of 64 and a quarter, which cuts others.
steps=(--records 64 --ranks 4096 --ranks-per-node 32 --servers 16x5GB/s)
simulates "steps of whole stripes" "${steps[@]}" --count 260
messages=$(figure write messages) seconds=$(figure write seconds)
tap_is "$(figure second\ write messages)" "$messages" "steps of whole stripes: the first plan is for the next ones, too"
simulates "other steps" "${steps[@]}" --count 257
tap_check "other steps: the second plan is for the next ones, too" test "$(figure write messages)" -lt $((messages * 3 / 2))
tap_check "other steps: which take as long" awk 'BEGIN { exit !(ARGV[1] < 1.1 * ARGV[2]) }' "$(figure write seconds)" "$seconds"

# choice NAME KEY: of the third write
choice() {
    "$python" -c 'import json, sys
chosen = next(c for c in json.load(open("out"))["choices"] if c["choice"] == sys.argv[1])
print(next(p[sys.argv[2]] for p in chosen["phases"] if p["phase"] == "write"))' "$1" "$2"
}
compared=(--records 1024 --ranks 64 --ranks-per-node 16 --compare)
simulates "a comparison" "${compared[@]}"
tap_described tatp.1 simulate "$(<out)"
tap_is "$(choice ROMIO messages)" 756 "a comparison: ROMIO's messages are those of ROMIO alone"
tap_check "a comparison: ranks by dla move no more than by slot" \
    test "$(choice 'ranks by dla' bytes_between_nodes)" -le "$(choice 'ranks by slot' bytes_between_nodes)"
tap_is "$(tatp simulate "${compared[@]}" | grep -c '[0-9]$')" 8 "a comparison: a line for each choice"
simulates "a comparison, stripes" --records 65536 --count 20 --random --ranks 16 --ranks-per-node 4 --compare
tap_check "a comparison, stripes: the placement is for them" \
    test "$(choice 'ranks by dla' bytes_between_nodes)" -le "$(choice 'ranks by node' bytes_between_nodes)"

# dla map, tatp plan, tatp report and tatp simulate say the same of a placement.
tap_is "$(cd "$tap_dir" && "$python" "$top_srcdir/tests/tools/check_tatp.py" networks "$TOOLS_DIR" "$top_srcdir/tools/report" 2>&1)" \
    "$(yes right | head -n 12 | xargs)" "12 networks: bytes between nodes and groups, hop-bytes, the busiest link"

# 16 nodes on 4 switches below one: half of what each node sends goes to the other half.
tree=(--cart 1x16 --block 512x64 --hosts 'n[0-15]' --topology "$top_srcdir/tests/fixtures/topology/slurm-topology.conf")
simulates "a tree of Slurm" "${tree[@]}"
once=$(figure write busiest_link_bytes)
simulates "a tree of Slurm with 4 uplinks" "${tree[@]}" --uplinks 4
tap_described tatp.1 simulate "$(<out)"
tap_check "a tree of Slurm with 4 uplinks: the busiest link has less" \
    awk -v few="$once" -v many="$(figure write busiest_link_bytes)" 'BEGIN { exit !(many < few) }'
tap_contains "$(tatp simulate "${tree[@]}" --uplinks 4)" "above each switch: 4" "a tree of Slurm: how many uplinks"
tap_contains "$(tatp simulate "${tree[@]}")" "Not simulated: processor time" "what is not simulated is said"
tap_contains "$(tatp simulate --cart 16x16x16)" "OMPIO itself allocates 67 MB" "what OMPIO takes is said"
timeout --preserve-status -s INT 2 tatp simulate --cart 32x32x8 >out
tap_is $? 130 "Ctrl-C ends it"

tap_refuses_each "what is refused" "tatp simulate" <<'END'
2||--view --cart --records
2|--cart 4x0|'4x0'
2|--cart 4x4 --ranks 3|--ranks --records
2|--cart 1048576x1048576x1048576|1048576
2|--cart 2x2 --block 1048576x1048576|simulate:
2|--cart 2x2 --chunk 1048576x1048576|simulate:
2|--records 4096 --ranks 2 --count 1048576|simulate:
2|--records 1024|--records --ranks
2|--cart 2x2 --random|--random --records
2|--cart 2x2 --count 4|--count --records
2|--records 8 --ranks 4 --block 4x4|--block --cart
2|--view x --ranks-per-node 4 --element 4|--element --cart
2|--cart 2x2 --romio --compare|--romio --compare
2|--cart 2x2 --view x|--view --cart
2|--cart 2x2 --hosts n0:4 --uplinks 4|--uplinks --topology
1|--cart 1 --hosts n0 --topology "$top_srcdir/tests/fixtures/topology/ibnetdiscover.2level.out" --uplinks 4|ibnetdiscover.2level.out
1|--cart 1048576 --ranks-per-node 128|1048576
2|--cart 2x2 --link 0GB/s|'0GB/s'
2|--cart 2x2 --link 1GB/s:1parsec|'1GB/s:1parsec'
2|--cart 2x2 --servers 3|'3'
2|--cart 2x2 --topology x|--topology --hosts
1|--cart 2x2 --hosts n0:3|4 3
1|--view x --hosts n0:4|x:
2|--cart 2x2 --times 2|--times --view
1|--view "$record" --ranks-per-node 4 --times 1048576|1048576
END
tap_plan
