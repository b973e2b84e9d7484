#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation of a file's life detects defects: a file of src/collective is compiled with each patch in
# defects/. The name of a result ends with the number of the first life that fails.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

lives=10000
compiler=${CC:-cc}
here=$top_srcdir/tests/simulate
wrapped=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

command -v "$compiler" >/dev/null || tap_skip_all "there is no C compiler ($compiler)"
command -v patch >/dev/null || tap_skip_all "patch is not installed (apt-get install patch)"
tap_tempdir

compile() {
    "$compiler" -std=gnu11 -O1 -w -I"$top_srcdir/src" "$@"
}

# link OBJECT...: the simulation with these in place of those of the libraries.
link() {
    compile -o "$tap_dir/simulate" "$tap_dir"/objects/*.o "$@" "$wrapped" -Wl,--start-group \
        "$top_builddir"/.libs/lib{collective,exchange,plan,lap_real,topo,storage,record,cache,access,matrix,json,machine}.a \
        -Wl,--end-group -lhwloc -lm -lpthread
}

compile_objects() {
    mkdir "$tap_dir/objects" && cd "$tap_dir/objects" && compile -c "$here"/*.c
}

# first_failure: the life that fails or in which the program ends, or nothing. Seeds count from 1.
first_failure() {
    timeout 600 "$tap_dir/simulate" --lives=$lives --seed=1 2>&1 |
        sed -n 's/^# .*--lives=1 --seed=\([0-9]*\)$/\1/p' | head -n 1
}

# check_defect PATCH
check_defect() {
    local name=${1##*/} source found
    name=${name%.patch}
    source=$(sed -n 's|^--- a/||p' "$1")
    mkdir -p "$tap_dir/$name"
    cp "$top_srcdir/$source" "$tap_dir/$name"
    if ! patch -s -p3 -d "$tap_dir/$name" <"$1" ||
        ! compile -c -o "$tap_dir/defect.o" "$tap_dir/$name/${source##*/}" || ! link "$tap_dir/defect.o"; then
        tap_not_ok "$name: the patch does not fit the sources"
        return
    fi
    found=$(first_failure)
    if [ -n "$found" ]; then
        tap_ok "$name: life $found"
    else
        tap_not_ok "$name: not detected in $lives lives"
    fi
}

tap_check "the simulation is built" compile_objects
for defect in "$here"/defects/*.patch; do
    check_defect "$defect"
done
tap_plan
