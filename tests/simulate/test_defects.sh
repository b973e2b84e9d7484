#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation of files detects defects of src/collective and, in `make check-long`, of src/exchange: a source
# file is compiled with a patch, and linked in place of the one that the libraries have. The name of a result ends with the
# seed of the first life that fails.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

compiler=${CC:-cc}
command -v "$compiler" >/dev/null || tap_skip_all "there is no C compiler ($compiler)"
command -v patch >/dev/null || tap_skip_all "patch is not installed (apt-get install patch)"

compile() { "$compiler" -std=gnu11 -O1 -w -I"$top_srcdir/src" "$@"; }

compile_simulation() {
    mkdir "$tap_dir/objects" && cd "$tap_dir/objects" && compile -c "$top_srcdir"/tests/simulate/*.c && rm jobs.o
}

link_simulation() {
    compile -o "$tap_dir/simulate" "$tap_dir"/objects/*.o "$tap_dir/defect.o" \
        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=exchange_execute,--wrap=rows_most_domains -Wl,--start-group \
        "$top_builddir"/.libs/lib{simulate,collective,parameters,exchange,plan,lap_real,topo,storage,record,cache,access,matrix,json,machine}.a \
        -Wl,--end-group -lhwloc -lm -lpthread
}

# The life that fails or in which the program ends, or nothing.
first_failure() {
    timeout 600 "$tap_dir/simulate" --lives=10000 --orders=0 --seed=1 2>&1 |
        sed -n 's/^# .* --lives=1 --seed=\([0-9]*\)$/\1/p' | head -n 1
}

# check_defect PATCH
check_defect() {
    local name=${1##*/} source found
    name=${name%.patch}
    source=$(sed -n 's|^--- a/||p' "$1")
    mkdir "$tap_dir/$name" && cp "$top_srcdir/$source" "$tap_dir/$name"
    if ! patch -s -p3 -d "$tap_dir/$name" <"$1" ||
        ! compile -I"$top_srcdir/${source%/*}" -c -o "$tap_dir/defect.o" "$tap_dir/$name/${source##*/}" ||
        ! link_simulation; then
        tap_not_ok "$name: the patch does not fit the sources"
        return
    fi
    found=$(first_failure)
    if [ -n "$found" ]; then
        tap_ok "$name: life $found"
    else
        tap_not_ok "$name: not detected in 10000 lives"
    fi
}

folders=("$top_srcdir/tests/simulate")
! tap_full || folders+=("$top_srcdir/tests/exchange")
tap_tempdir
tap_check "the simulation is built" compile_simulation
for folder in "${folders[@]}"; do
    for defect in "$folder"/defects/*.patch; do check_defect "$defect"; done
done
tap_plan
