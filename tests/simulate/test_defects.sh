#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation of files detects defects of src/collective and src/exchange: a source file is compiled with a patch,
# and linked in place of the one that the libraries have. The name of a result ends with the seed of the first life that fails.
# `make check` applies all patches, and runs those that the simulation finds last: what makes it blind to others hides these, too.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

compiler=${CC:-cc}
command -v "$compiler" >/dev/null || tap_skip_all "there is no C compiler ($compiler)"
command -v patch >/dev/null || tap_skip_all "patch is not installed (apt-get install patch)"

compile() { "$compiler" -std=gnu11 -O1 -w -I"$top_srcdir/src" "$@"; }

link_simulation() {
    compile -o "$tap_dir/simulate" "$top_builddir"/tests/simulate/{access,engine,life,order,orders,runtime,simulate,store,watch}.o "$tap_dir/defect.o" \
        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=exchange_execute,--wrap=rows_most_domains -Wl,--start-group \
        "$top_builddir"/.libs/lib{simulate,collective,exchange,plan,lap,topo,storage,record,cache,access,matrix,json,machine}.a \
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
    if ! patch -s -p3 -d "$tap_dir/$name" <"$1"; then
        tap_not_ok "$name: the patch does not fit the sources"
        return
    elif ! tap_full && [[ " $quick " != *" $name "* ]]; then
        tap_ok "$name: the patch fits the sources"
        return
    elif ! compile -I"$top_srcdir/${source%/*}" -c -o "$tap_dir/defect.o" "$tap_dir/$name/${source##*/}" ||
        ! link_simulation; then
        tap_not_ok "$name: it cannot be built"
        return
    fi
    found=$(first_failure)
    if [ -n "$found" ]; then
        tap_ok "$name: life $found"
    else
        tap_not_ok "$name: not detected in 10000 lives"
    fi
}

quick="own-domain-error-ignored totals-not-added early-without-flush batch-overrun"
tap_tempdir
for defect in "$top_srcdir"/tests/{simulate,exchange}/defects/*.patch; do check_defect "$defect"; done
tap_plan
