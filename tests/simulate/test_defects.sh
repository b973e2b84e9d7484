#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation of a file's life detects defects of src/collective.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
. "$top_srcdir/tests/lib/defects.sh" || exit 1

here=$top_srcdir/tests/simulate
wrapped=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
tap_tempdir

link() {
    compile -o "$tap_dir/simulate" "$tap_dir"/objects/*.o "$@" "$wrapped" -Wl,--start-group \
        "$top_builddir"/.libs/lib{collective,exchange,plan,lap_real,topo,storage,record,cache,access,matrix,json,machine}.a \
        -Wl,--end-group -lhwloc -lm -lpthread
}

compile_objects() {
    mkdir "$tap_dir/objects" && cd "$tap_dir/objects" && compile -c "$here"/*.c
}

tap_check "the simulation is built" compile_objects
check_defects "$here" --lives=1 --lives=10000
tap_plan
