#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The benchmark in miniature: it runs, it checks, it counts. No time is looked at.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python

quick() { bench bench --quick --cube 24 --megabytes 1 --rounds 1 "$@"; }

tap_check "all contestants in three cases" quick --cases "cube-1x4x4-node records-64-slot blocks-slot" --csv "$tap_dir/all.csv"
tap_is "$(rows "$tap_dir/all.csv" 'r["verified"] == "yes"')" 48 "every contestant wrote and read, checked"
tap_is "$(rows "$tap_dir/all.csv" 'float(r["median_s"]) > 0 and float(r["min_s"]) <= float(r["median_s"])')" 48 "and was timed"
tap_is "$(rows "$tap_dir/all.csv" 'r["contestant"] == "tatp" and r["crossing_bytes"] != ""')" 6 "tatp tells what changes nodes"

if "$CLUSTER" check >/dev/null 2>&1; then
    # Interleaved over 16 ranks, 3 of 4 bytes of each slab come from other nodes.
    tap_is "$(rows "$tap_dir/all.csv" 'r["case"] == "records-64-slot" and r["contestant"] == "hand" and
        0.75 * 2**20 < float(r["node_bytes"]) < 0.9 * 2**20')" 2 "bytes on links of records by hand"
    tap_is "$(rows "$tap_dir/all.csv" 'r["case"] == "blocks-slot" and r["contestant"] in ("hand", "floor") and
        float(r["node_bytes"]) < 0.1 * 2**20')" 4 "and next to none where each rank's block is its slab"
    tap_check "limited links" quick --cases halo-2x2x4-slot --links 2gbit --contestants "tatp hand" --csv "$tap_dir/limited.csv"
    tap_is "$(rows "$tap_dir/limited.csv" 'float(r["bound_s"]) > 0 and r["links"] == "2gbit"')" 4 "tell what the busiest link needs"
else
    tap_skip "bytes on links" "links cannot be counted here"
fi

tap_check "first calls" quick --first --cases records-1024-node --contestants "tatp romio" --csv "$tap_dir/first.csv"
tap_is "$(rows "$tap_dir/first.csv" 'r["verified"] == "yes"')" 4 "first calls: every contestant wrote and read, checked"
tap_check "by several transports" quick --cases records-1024-node --transports ob1,ucx,ofi --contestants "tatp hand" \
    --csv "$tap_dir/transports.csv"
components=$("$OMPI_INFO" --parsable)
for pair in ob1=pml:ob1 ucx=pml:ucx ofi=mtl:ofi; do
    transport=${pair%=*}
    if grep -q "^mca:${pair#*=}:" <<<"$components"; then
        tap_is "$(rows "$tap_dir/transports.csv" "r['transport'] == '$transport' and r['verified'] == 'yes'")" 4 \
            "$transport: every contestant wrote and read, checked"
        tap_contains "$tap_output" "$transport, unlimited" "$transport: in the table of all"
    else
        tap_skip "$transport" "Open MPI has no component ${pair#*=}"
    fi
done

"$MPICC" -shared -fPIC -o "$tap_dir/spoil.so" "$top_srcdir/tests/bench/spoil.c" || exit
spoiled() {
    run_here 4 -x LD_PRELOAD="$tap_dir/spoil.so" -x SPOIL="$1" "$contest" --size 16x16x16 --grid 1x2x2 \
        --rounds 0 --csv --contestants "${2:-hand}" --file "$tap_dir/file"
}
tap_check "nothing is wrong unless spoiled" spoiled nothing
for operation in write read; do
    tap_check_fails "a wrong bit in a $operation" spoiled $operation
    tap_contains "$tap_output" ",WRONG," "... is shown"
done

tap_check "blocks of unequal sizes, and room around them in memory" run_here 3 "$contest" \
    --size 17x13x7 --grid 3x1x1 --element 12 --halo 2 --fresh --rounds 1 --file "$tap_dir/file"
tap_check "a contestant with settings of its own" run_here 4 "$contest" --size 16x16x16 --grid 1x2x2 \
    --contestants "tatp tatp+num_aggregators=2,cycle_buffer_size=4096" --file "$tap_dir/file"
tap_check_fails "no such setting" run_here 2 "$contest" --size 16x16x16 --grid 1x1x2 \
    --contestants "tatp+colour=2" --file "$tap_dir/file"
tap_check_fails "a grid of another number of ranks" run_here 2 "$contest" --size 16x16x16 --grid 1x2x2 --file "$tap_dir/file"
tap_check_fails "no such case" quick --cases sphere
tap_check_fails "no such transport" quick --cases blocks-slot --transports pigeon
tap_check_fails "no such rate" quick --cases blocks-slot --links fast
tap_plan
