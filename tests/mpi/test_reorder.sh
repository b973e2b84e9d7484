#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Communicators with reorder, by topo/dla and by libtatp-mpiio.so: fewer neighbours are on two nodes, and whatever the order is,
# coordinates, neighbours and messages agree. The nodes are host names that ranks have for themselves.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

names=(unshare --uts)
"${names[@]}" true 2>/dev/null || names=(unshare --user --map-root-user --uts)
"${names[@]}" hostname n0 2>/dev/null || tap_skip_all "processes cannot get host names of their own"
cd "$tap_dir" || exit 1
# node PER COMMAND...: on one of the nodes, which have so many ranks each
cat >node <<END_OF_NODE
#!/bin/sh
export name=n\$((\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK} / \$1))
shift
exec ${names[*]} sh -c 'hostname \$name; exec "\$@"' sh "\$@"
END_OF_NODE
chmod +x node

# pairs PER HOW...: what $run prints in a run of $ranks, which succeeds
pairs() { "$run" "$ranks" ./node "$1" ./reorder "${@:2}" >said 2>&1 && sed -n 's/ between$//p' said | LC_ALL=C sort | xargs; }

# Node by node 32 ranks have 4 x 4 x 2; "graph" a ring.
check_orders() {
    ranks=32
    tap_is "$(pairs 8 grid none periodic twice graph)" "graph 4 grid 16 none 24 periodic 32 twice 16 twice 16" \
        "$run: grids and a graph on four nodes; without reorder nothing changes"
    tap_is "$(pairs 8 dist{,_adjacent}{,_unweighted,_none,_some,_empty})" \
        "dist 2 dist_adjacent 2 dist_adjacent_empty 0 dist_adjacent_none 34 dist_adjacent_some 34 dist_adjacent_unweighted 2 dist_empty 0 \
dist_none 34 dist_some 34 dist_unweighted 2" "$run: distributed graphs"
    tap_is "$(pairs 32 grid) $(pairs 1 grid)" "grid 0 grid 64" "$run: one node, and a rank on each node"
    ranks=18
    tap_is "$(pairs 7 extra half)" "extra 10 half 5 half 6" "$run: more processes than the grid has, two communicators; unequal nodes"
    ranks=4
    tap_is "$(pairs 2 graph many)" "graph 2 many 1" "$run: a ring of four ranks, and more edges than are looked at"
}

# same_records FILE FILE: of two runs
same_records() {
    tap_is "$(grep -v '^% run' "$2")" "$(grep -v '^% run' "$1")" "$run: the record of a reordered run is that of one which is not"
}

# by_component RANKS COMMAND...
by_component() { run_here "$1" --mca topo "${topo:-dla,basic}" "${record[@]}" "${@:2}"; }

# by_library RANKS COMMAND...
by_library() {
    environment=(TATP_REORDER="${reorder-1}" TATP_RECORD="${record[0]-}")
    other "$@"
}

record=()
if [[ -n $OMPI_VERSION ]] && "$MPICC" -O1 -o reorder "$top_srcdir/tests/mpi/reorder.c"; then
    run=by_component
    check_orders
    ranks=32
    tap_is "$(pairs 8 some)" "some 24" "$run: nor with it where ranks differ in reorder" # MPICH hangs then
    for topo in ^treematch ^dlax; do
        tap_is "$(pairs 8 grid)" "grid 24" "$run: not without being asked for: --mca topo $topo"
    done
    unset topo
    for record_topo in basic dla,basic; do
        record=(--mca fcoll tatp --mca fcoll_tatp_num_aggregators 3 --mca fcoll_tatp_record "$tap_dir/$record_topo.crs")
        topo=$record_topo pairs 8 write
    done >before
    tap_is "$(xargs <before)" "write 24 write 16" "$run: a run is recorded without and with reordering"
    same_records basic.crs dla,basic.crs
    # In an order of the program's own, a record is by ranks of the job, and notes those of the grid.
    record[-1]=$tap_dir/shuffled.crs
    topo=basic pairs 8 shuffle >/dev/null
    for file in basic shuffled; do
        record=(--mca topo_dla_file "$tap_dir/$file.crs")
        pairs 8 "$([[ $file == basic ]] && echo grid || echo shuffle)" >"$file.after"
    done
    tap_is "$(grep -c ORDER basic.crs shuffled.crs | xargs)" "basic.crs:0 shuffled.crs:1" "$run: the record notes the ranks of the grid"
    tap_is "$(cut -d ' ' -f 2- shuffled.after)" "$(cut -d ' ' -f 2- basic.after)" "$run: a record of another order places as the other one"
    sed '/^ORDER/d' shuffled.crs >wrong.crs
    record=(--mca topo_dla_file "$tap_dir/wrong.crs")
    tap_check_fails "$run: but not without what it notes" test "$(pairs 8 shuffle)" = "$(cat shuffled.after)"
    record=(--mca topo_dla_file "$tap_dir/none.crs")
    tap_is "$(pairs 8 grid)" "grid 24" "$run: a record that is not there"
    tap_is "$(grep -c "not reordered: .*none.crs" said)" 1 "$run: one line says so"
else
    tap_skip "topo/dla" "there is no Open MPI"
fi
record=()
if [[ -e $library ]] && "$OTHER_MPICC" -O1 -o reorder "$top_srcdir/tests/mpi/reorder.c"; then
    run=by_library
    check_orders
    ranks=32
    tap_is "$(reorder='' pairs 8 grid)" "grid 24" "$run: not without being asked for"
    record=("$tap_dir/plain.crs")
    reorder='' pairs 8 write >before
    record=("$tap_dir/reordered.crs")
    tap_is "$(xargs <before) $(pairs 8 write)" "write 24 write 16" "$run: a run is recorded without and with reordering"
    same_records plain.crs reordered.crs
    tap_is "$(reorder=none.crs pairs 8 grid)" "grid 24" "$run: a record that is not there"
    tap_is "$(grep -c "not reordered: .*none.crs" said)" 1 "$run: one line says so"
else
    tap_skip "libtatp-mpiio.so" "there is no other MPI than Open MPI"
fi
tap_plan
