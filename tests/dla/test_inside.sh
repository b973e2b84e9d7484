#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# --map-by dla and ranks that are bound: which processors of its node each of them gets. On nodes as hwloc describes
# them in a file, where nothing is started, and on this machine.

. "$top_srcdir/tests/lib/dla.sh" || exit 1

need_mapper
lstopo=$(command -v lstopo-no-graphics) || tap_skip_all "lstopo-no-graphics is not installed (apt-get install hwloc-nox)"

# Here what PRRTE binds by default counts.
unset PRTE_MCA_hwloc_default_binding_policy PRTE_MCA_bindto

# Four NUMA nodes of four cores, two in each package.
"$lstopo" --input "pack:2 numa:2 l3:1 core:4 pu:1" --of xml -f node.xml
# Neighbours are not near each other as any launcher binds, one after another or in turn.
write_view 8 0,5,9 1,4,9 2,7,9 3,6,9 >pairs.crs
write_view 16 0,9,9 1,8,9 2,11,9 3,10,9 4,13,9 5,12,9 6,15,9 7,14,9 0,1,1 >two.crs

# bindings ARGUMENT...: "NODE RANK CORE" for each rank, its first core of those to which it is bound
bindings() {
    HWLOC_XMLFILE=$tap_dir/node.xml HWLOC_THISSYSTEM=0 launch --do-not-launch --display-map "$@" true 2>errors |
        awk '/Data for node:/ { node = $4 }
            / Data for proc: / { rank = $0; gsub(/.*,|\]/, "", rank) }
            / Process rank: / { rank = $0; sub(/.* Process rank: /, "", rank) }
            / Process rank: |^ *\tBinding: / { core = $0
                core = sub(/.*(Bound|Binding): [^0-9]*[0-9]+\]?\[core[: ]L?/, "", core) ? core + 0 : "none"; print node, rank + 0, core }'
}

# apart CORES: how many pairs of neighbours are not on one node and its same CORES consecutive cores
apart() {
    awk -v each="$1" '{ place[$2] = $1 " " ($3 == "none" ? $2 : int($3 / each)) }
        END { for (r = 0; r < NR / 2; r++) n += place[r] != place[NR / 2 + r + (r % 2 ? -1 : 1)]
            print NR ? n + 0 : "no ranks" }'
}

one="-np 8 --host 198.51.100.1:8"
nodes="-np 16 --host 198.51.100.1:8,198.51.100.2:8"

# near NAME CORES ARGUMENT...: all pairs share so many cores, of those that slot uses as well
near() {
    local stock placed
    # shellcheck disable=SC2086 # several words
    {
        stock=$(bindings $one --map-by "slot$qualifier" "${@:3}")
        placed=$(bindings $one --map-by "dla:file=pairs.crs$qualifier" "${@:3}")
    }
    tap_is "$(apart "$2" <<<"$placed")" 0 "$1: neighbours are near each other"
    tap_is "$(apart "$2" <<<"$stock")" 4 "$1: by slot they are not"
    tap_is "$(cut -d ' ' -f 3 <<<"$placed" | sort -n | xargs)" "$(cut -d ' ' -f 3 <<<"$stock" | sort -n | xargs)" \
        "$1: on the processors of slot"
}

qualifier=
near "--bind-to core" 4 --bind-to core
near "--bind-to numa" 4 --bind-to numa
near "the default binding" 4
qualifier=:PE=2
near ":PE=2" 4
qualifier=

# as_slot NAME ARGUMENT... -- ARGUMENT...: with dla and the arguments before -- as with slot
as_slot() {
    local name=$1 items=$2
    shift 2
    # shellcheck disable=SC2086 # several words
    tap_is "$(bindings $one --map-by "dla:file=pairs.crs$items" "$@")" "$(bindings $one --map-by slot --bind-to core)" "$name"
}
as_slot "numa=off" ,numa=off --bind-to core
as_slot "rmaps_dla_numa" "" --bind-to core --mca rmaps_dla_numa off
if [[ $launcher == orte ]]; then
    as_slot "an ordered list of processors" "" --cpu-list 0,1,2,3,4,5,6,7 --bind-to cpu-list:ordered
else
    tap_skip "an ordered list of processors" "a mapping policy of its own in PRRTE"
fi
# shellcheck disable=SC2086 # several words
{
    tap_is "$(bindings $one --map-by dla:file=pairs.crs --bind-to none | cut -d ' ' -f 3 | sort -u)" none "--bind-to none"

    placed=$(bindings $nodes --map-by dla:file=two.crs --bind-to core)
    tap_is "$(apart 4 <<<"$placed")" 0 "two nodes: neighbours are near each other"
    tap_is "$(cut -d ' ' -f 1,2 <<<"$placed" | sort)" \
        "$(bindings $nodes --map-by dla:file=two.crs,numa=off --bind-to core | cut -d ' ' -f 1,2 | sort)" \
        "two nodes: no rank is on another node"

    placed=$(bindings --map-by dla:file=pairs.crs --bind-to core --host 198.51.100.1:8 -np 3 true : -np 5)
    tap_is "$(apart 4 <<<"$placed")" 0 "several programs: neighbours are near each other"

    bindings $one --map-by dla:file=pairs.crs --bind-to core --mca rmaps_dla_verbose 1 >/dev/null
    tap_contains "$(cat launched.*)" "mean hops between neighbours of a node: 0.875 as the launcher binds, 0.625 arranged" \
        "the verbose line tells what it is worth"
}

# ---- on this machine ----

if (($(nproc) < 2)); then
    tap_skip "ranks that are started" "needs two processors"
else
    # Four ranks on two cores; neighbours would be on different ones.
    write_view 4 0,1,9 2,3,9 >neighbours.crs
    mapfile -t cpus < <(launch --host localhost:4 -np 4 --bind-to core:overload-allowed --map-by dla:file=neighbours.crs \
        sh -c "$where_am_i" 2>errors | sort -n | cut -d ' ' -f 3)
    tap_is "${#cpus[@]} ${cpus[0]} ${cpus[2]}" "4 ${cpus[1]} ${cpus[3]}" "ranks that are started: neighbours share a core"
    tap_check "ranks that are started: not all of them" test "${cpus[0]}" != "${cpus[2]}"
    said=$(launch --host localhost:4 -np 4 --bind-to core:overload-allowed --report-bindings --map-by dla:file=neighbours.crs true 2>&1)
    tap_is "$(grep -ci 'rank.*bound' <<<"$said")" 4 "--report-bindings"
    tap_diag "$said"
fi

tap_plan
