#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpirun --map-by dla: on simulated nodes: what each option does to the map, that binding stays as with stock policies,
# and ten thousand nodes.

. "$top_srcdir/tests/lib/dla.sh" || exit 1

[[ $launcher == orte ]] || tap_skip_all "the component rmaps/dla is not built"
[[ $("$OMPI_INFO" --parsable) == *mca:ras:simulator:* ]] || tap_skip_all "this Open MPI simulates no nodes"

# simulate NODES SLOTS ARGUMENT...: what mpirun says about a job on such nodes, nodeA0 and so on. It ends with an
# error of Open MPI's own, since nothing is started.
simulate() {
    launch --mca ras simulator --mca ras_simulator_num_nodes "$1" --mca ras_simulator_topologies "core:$2 pu:1" \
        --do-not-launch --display-map --bind-to none "${@:3}" true 2>&1
}

# dry ARGUMENT...: the map of eight ranks on four nodes of two
dry() { simulate 4 2 -np 8 "$@" | parse_map; }

# ---- the objective ----

# In the view ranks 2k and 2k + 1 are bound; but r and r + 4 access the same part of the file.
{
    write_view 8 0,1,9 2,3,9 4,5,9 6,7,9
    echo "ACCESS 1 0 1048576 4 8 8 out"
    for rank in 0 1 2 3 4 5 6 7; do echo "$rank 1 $((rank % 4)) 524288"; done
} >profile.crs
neighbours="0,1 2,3 4,5 6,7"
same_part="0,4 1,5 2,6 3,7"
maps "$same_part" "the profile is the objective where there is one" --map-by dla:file=profile.crs
maps "$neighbours" "objective=neighbours" --map-by dla:file=profile.crs,objective=neighbours
maps "$neighbours" "rmaps_dla_objective" --map-by dla:file=profile.crs --mca rmaps_dla_objective neighbours
maps "$same_part" "an objective in the policy goes before it" --mca rmaps_dla_objective neighbours \
    --map-by dla:file=profile.crs,objective=profile
said=$(simulate 4 2 -np 8 --map-by dla:file=profile.crs --mca rmaps_dla_verbose 1)
tap_contains "$said" "0 of 36 (0 of 4194304 bytes" "what a placement by profile is worth"

tap_check "by node is as good" grep -E -q 'dla: placed by profile.crs \(by node\): [0-9.]+ MB .*-> 0$' <<<"$said"
said=$(simulate 4 2 -np 8 --map-by dla:file=profile.crs)
tap_is "$(grep -c "dla: " <<<"$said") $(grep -c " placed$" <<<"$said")" "1 0" "one line says what came of it"
said=$(simulate 4 2 -np 8 --map-by dla:file=profile.crs --mca rmaps_dla_verbose -1)
tap_is "$(grep -c "dla: " <<<"$said") $(sets "$(parse_map <<<"$said")")" "0 $same_part" "rmaps_dla_verbose=-1 says nothing"
said=$(simulate 4 2 -np 8 --map-by dla:file=profile.crs,objective=neighbours)
tap_check "what a placement costs that is demanded" grep -E -q 'dla: placed by profile.crs: ([0-9.]+ MB) between nodes -> \1$' <<<"$said"
said=$(simulate 1 8 -np 8 --map-by dla:file=profile.crs)
tap_contains "$said" "dla: not placed by profile.crs: " "one node"

# Ranks 0 and 1 share a part of the file, 2 and 3, ...: as by slot.
{
    sed '/^ACCESS/,$d' profile.crs
    echo "ACCESS 1 0 1048576 4 8 8 out"
    for rank in 0 1 2 3 4 5 6 7; do echo "$rank 1 $((rank / 2)) 524288"; done
} >order.crs
said=$(simulate 4 2 -np 8 --map-by dla:file=order.crs)
tap_contains "$said" "dla: not placed by order.crs: " "by slot is as good"
said=$(simulate 4 2 -np 8 --map-by dla:file=order.crs,method=setmatch --mca rmaps_dla_verbose 1)
tap_contains "$said" "dla: placed by order.crs: 0 between nodes -> " "a method that is demanded is obeyed"

# Calls without aggregators move nothing.
sed 's/^FILEVIEW/&\n% independent: 77/; /^ACCESS/,$d' profile.crs >alone.crs
maps "$neighbours" "without aggregators by slot" --map-by dla:file=alone.crs
said=$(simulate 4 2 -np 8 --map-by dla:file=alone.crs --mca rmaps_dla_verbose 1)
tap_contains "$said" "(0 of 77 bytes" "what they moved"

# ---- grids ----

maps "0,1 2,3 4,5 6,7" "cart=2x4" --map-by dla:cart=2x4
tap_check "a grid: the weight" grep -E -q 'dla: not placed by 2x4: weight [0-9]+ ' <<<"$(simulate 4 2 -np 8 --map-by dla:cart=2x4)"
maps "$same_part" "cart=2x4,order=Fortran" --map-by dla:cart=2x4,order=Fortran
maps "$same_part" "rmaps_dla_order" --mca rmaps_dla_cart 2x4 --mca rmaps_dla_order Fortran

# ---- methods: as dla map places ----

# as_tool METHOD: the map is that of dla map with it.
seq 0 31 | awk '{ a = $1 * 5 % 32; print a "," (a + 7) % 32 "," $1 * 3 % 11 + 1
                 print $1 "," ($1 * 11 + 5) % 32 "," $1 % 7 + 1 }' | write_view 32 >odd.crs
as_tool() {
    tap_is "$(simulate 8 4 -np 32 --map-by "dla:file=odd.crs,method=$1" | parse_map)" \
        "$("$dla" map -f odd.crs -n 'nodeA[0-7]:4' --method "$1" | awk '!/^#/ { s[$2] = s[$2] (s[$2] == "" ? "" : ",") $1 }
            END { for (n = 0; n < 8; n++) printf "%snodeA%d:%s", n ? " " : "", n, s["nodeA" n] }')" "method=$1"
}
for method in auto setmatch bynode; do as_tool $method; done
# ---- the network ----

# Pairs of ranks for nodes, pairs of pairs for switches, which have every fourth node.
seq 0 7 | awk '{ print $1 "," $1 + 8 ",1000" } $1 < 4 { print $1 "," $1 + 4 ",10" }' | write_view 16 >levels.crs
for leaf in 0 1 2 3; do echo "SwitchName=leaf$leaf Nodes=nodeA[$leaf,$((leaf + 4))]"; done >tree.conf
echo "SwitchName=top Switches=leaf[0-3]" >>tree.conf
{
    echo "%%MatrixMarket matrix coordinate integer symmetric"
    echo "% bandwidth"
    echo "% hosts" nodeA{0..7}
    echo "8 8 36"
    for i in {1..8}; do for ((j = 1; j <= i; j++)); do echo "$i $j $((i == j ? 9000 : i % 4 == j % 4 ? 900 + i : 300 + j))"; done; done
} >bandwidth.mtx
# leaves: which ranks share a switch
leaves() {
    tr ' ' '\n' | sed 's/nodeA//; s/:/ /' | awk '{ s[$1 % 4] = s[$1 % 4] (s[$1 % 4] == "" ? "" : ",") $2 }
        END { for (k = 0; k < 4; k++) print s[k] }' |
        while read -r line; do tr ',' '\n' <<<"$line" | sort -n | paste -sd ,; done | sort -t, -n | xargs
}
# on_leaves NAME ARGUMENT...
on_leaves() {
    map=$(simulate 8 2 -np 16 "${@:2}" | parse_map)
    tap_is "$(sets "$map") / $(leaves <<<"$map")" \
        "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15 / 0,4,8,12 1,5,9,13 2,6,10,14 3,7,11,15" "$1"
}
for leaf in 0 1; do echo "SwitchName=leaf$leaf Nodes=nodeA[$((2 * leaf)),$((2 * leaf + 1))]"; done >two.conf
echo "SwitchName=top Switches=leaf[0-1]" >>two.conf
said=$(simulate 4 2 -np 8 --map-by dla:file=profile.crs,topology=two.conf --mca rmaps_dla_verbose 1)
tap_contains "$said" "(0 of 4194304 bytes leave their nodes, 0 their groups of level 1)" \
    "what a placement by profile is worth, on two switches"
on_leaves "topology=" --map-by dla:file=levels.crs,topology=tree.conf
on_leaves "rmaps_dla_topology" --map-by dla:file=levels.crs --mca rmaps_dla_topology tree.conf
on_leaves "topology=, measured bandwidths" --map-by dla:file=levels.crs,topology=bandwidth.mtx
on_leaves "topology= goes before rmaps_dla_topology" --map-by dla:file=levels.crs,topology=tree.conf \
    --mca rmaps_dla_topology none.mtx
on_leaves "an absolute name" --map-by "dla:file=$tap_dir/levels.crs,topology=$tap_dir/tree.conf"

sed '1s/,4//' tree.conf >few.conf
# What mpirun says of a job names these, and no map is shown.
while IFS='|' read -r named arguments; do
    # shellcheck disable=SC2086 # words
    said=$(simulate 8 2 -np 16 $arguments </dev/null)
    tap_lacks "refused: $arguments" "$(unnamed "$named" "$said"; grep "JOB MAP" <<<"$said")"
done <<END
few.conf nodeA4|--map-by dla:file=levels.crs,topology=few.conf
bandwidth topology|--map-by dla:file=levels.crs,bandwidth=bandwidth.mtx
levels.crs profile|--map-by dla:file=levels.crs,objective=profile
2x8 profile|--map-by dla:cart=2x8,objective=profile
profile.crs 8 16|--map-by dla:file=profile.crs
rmaps_dla_objective time neighbours|--mca rmaps_dla_file levels.crs --mca rmaps_dla_objective time
END

# ---- binding, on nodes of 2 sockets of 4 cores of 2 threads ----

# bindings ARGUMENT...: what each node's ranks are bound to, how often. Without counts of slots: where there are any,
# Open MPI 4.1 counts the processors of a simulated node by writing into a structure of another type, a pointer's
# bytes. With some addresses it then crashes, or takes ranks for unbound.
bindings() {
    launch --mca ras simulator --mca ras_simulator_num_nodes 2 \
        --mca ras_simulator_topo_files node.xml --mca ras_simulator_slots "" --mca ras_simulator_max_slots "" \
        --oversubscribe --do-not-launch --display-map --map-by "$@" true 2>&1 |
        awk '/Data for node:/ { node = $4 } /Process rank:/ { sub(/.*:/, ""); print node, $0 }' |
        sort | uniq -c | awk '{ print $1, $2, $3 }'
}

# on_both LINE...: "COUNT MASK" of one node, as bindings prints them for two
on_both() {
    local node
    for node in nodeA0 nodeA1; do printf '%s\n' "$@" | sed "s/ / $node /"; done | sort -k 2
}

empty="../../../.."
whole=("4 [BB/BB/BB/BB][$empty]" "4 [$empty][BB/BB/BB/BB]")
lstopo=$(command -v lstopo-no-graphics)
if [[ -n $lstopo ]] && "$lstopo" --input "pack:2 numa:1 l3:1 core:4 pu:2" --of xml -f node.xml 2>/dev/null; then
    half="dla:cart=2x8,order=Fortran -np 16 --npernode 8"
    cores=() threads=()
    for mask in BB/../../.. ../BB/../.. ../../BB/.. ../../../BB; do
        cores+=("1 [$mask][$empty]" "1 [$empty][$mask]")
        threads+=("1 [${mask/BB/B.}][$empty]" "1 [${mask/BB/.B}][$empty]")
    done
    # shellcheck disable=SC2086 # several words
    {
        tap_is "$(bindings $half --bind-to core | sort -k 2)" "$(on_both "${cores[@]}")" "--bind-to core"
        tap_is "$(bindings $half --bind-to hwthread | sort -k 2)" "$(on_both "${threads[@]}")" "--bind-to hwthread"
        for binding in socket numa l3cache; do
            tap_is "$(bindings $half --bind-to $binding | sort -k 2)" "$(on_both "${whole[@]}")" "--bind-to $binding"
        done
        tap_is "$(bindings $half --bind-to none | grep -c B)" 0 "--bind-to none"
    }
    tap_is "$(bindings dla:cart=4x1:PE=2 -np 4 --npernode 2 | sort -k 2)" \
        "$(on_both "1 [BB/BB/../..][$empty]" "1 [../../BB/BB][$empty]")" ":PE=2: two cores a rank"
    tap_is "$(bindings dla:cart=2x8:PE=2 -np 16 --npernode 8 --bind-to core)" "" ":PE=2 that does not fit is refused"
else
    tap_skip "binding" "lstopo-no-graphics is not installed (apt-get install hwloc-nox)"
fi

# ---- ranking ----

for ranking in node socket:SPAN; do
    maps "$same_part" "--rank-by $ranking changes nothing" --map-by dla:cart=2x4,order=Fortran --rank-by $ranking
done

# ---- where names of files begin ----

mkdir elsewhere
tap_is "$(launch --host localhost:8 -np 8 --bind-to none --wdir "$tap_dir/elsewhere" \
    --map-by dla:file=profile.crs pwd | sort -u)" "$tap_dir/elsewhere" "names are relative to mpirun's folder, not to --wdir"

# ---- parameters of the mapper that there are not ----

echo "-mca rmaps_dla_fil x" >tune
echo "rmaps_dla_zzzz = x" >am
tap_is "$(simulate 4 2 -np 2 --tune tune --am am --mca rmaps_dla_ordr C | sed -n 's/.*: .* \(rmaps_dla_[a-z]*\);.* \(rmaps_dla[a-z_]*\).*/\1 \2/p' | sort)" \
    "rmaps_dla_fil rmaps_dla_file
rmaps_dla_ordr rmaps_dla_order
rmaps_dla_zzzz rmaps_dla" "unknown names: on the line, in files of --tune and --am"

# ---- ten thousand nodes ----

# by_column NAME [ITEM]: nodes hold c, c + 10000, c + 20000 and c + 30000
by_column() {
    tap_is "$(simulate 10000 4 -np 40000 --map-by "dla:cart=4x10000,order=Fortran$2" | parse_map | tr ' ' '\n' |
        awk -F'[:,]' '{ nodes++; for (k = 3; k <= NF; k++) far += $k - $(k - 1) != 10000; ranks += NF - 1 }
            END { print nodes, ranks, far + 0 }')" "10000 40000 0" "$1"
}
for ((leaf = 0; leaf < 500; leaf++)); do
    echo "SwitchName=l$leaf Nodes=nodeA[$(printf '%05d-%05d' $((20 * leaf)) $((20 * leaf + 19)))]"
done >leaves.conf
by_column "ten thousand nodes, five hundred switches" ,topology=leaves.conf
! tap_full || by_column "ten thousand nodes" ""

tap_plan
