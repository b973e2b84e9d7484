#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Which file uses which: the rules are in structure.py, which says what they are. First each rule is shown to find
# a break in a small tree, then the project's own files are checked.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
tap_tempdir
structure() {
    "$PYTHON3" "$top_srcdir/tests/frame/structure.py" "$@" 2>&1
}

# put FILE LINE...: appends lines to a file of the tree, and compiles it as the build would.
put() {
    local file=$tap_dir/tree/$1 folder stem
    folder=$(dirname "$file") stem=$(basename "$file" .c)
    mkdir -p "$folder/.libs"
    printf '%s\n' "${@:2}" >>"$file"
    [[ $file != *.c ]] ||
        (cd "$tap_dir/tree" && cc -c -I. -Isrc -o "$folder/.libs/lib_la-$stem.o" "$file") || exit 1
}

# finds BREAK FILE LINE...: with these lines in the file the tree has this break, the first of its rule.
finds() {
    put "${@:2}"
    tap_is "$(structure "$tap_dir/tree" "$tap_dir/tree" | grep -m 1 "^${1%%:*}: ")" "$1" "found: $1"
}

put src/base/base.h 'int base_a(void);'
put src/base/a.c '#include "base/base.h"' 'int base_a(void) { return 1; }'
put src/matrix/matrix.h 'int matrix_a(void);'
put src/matrix/a.c '#include "matrix/matrix.h"' '#include "base/base.h"' 'int matrix_a(void) { return base_a(); }'
tap_is "$(structure "$tap_dir/tree" "$tap_dir/tree" | grep -v 'out of date')" "" "a good tree has no break"
finds "open-mpi: src/base/a.c refers to MPI_Barrier" src/base/a.c 'int MPI_Barrier(int);' 'int base_b(void) { return MPI_Barrier(0); }'
finds "folders: src/base/a.c uses src/matrix/matrix.h" src/base/a.c '#include "matrix/matrix.h"'
put tools/one.h 'int one(void);'
finds "front-ends: mpi/file.c includes tools/one.h" mpi/file.c '#if 0' '#include "tools/one.h"' '#endif'
put src/matrix/b.c '#include "matrix/matrix.h"' 'int matrix_b(void) { return matrix_a(); }'
finds "circles: src/matrix: a.c -> b.c; b.c -> a.c" src/matrix/a.c 'int matrix_b(void);' 'int matrix_c(void) { return matrix_b(); }'
mapfile -t many < <(printf '/* %d */\n' {1..150})
finds "headers: src/base/base.h has 151 lines; at most 150" src/base/base.h "${many[@]}"
finds "modules: ompi/mca/fcoll/tatp/fcoll_tatp_odd.c belongs to no module" ompi/mca/fcoll/tatp/fcoll_tatp_odd.c \
    'int tatp_odd(void) { return 0; }'

# --- the project ---

structure "$top_srcdir" "$top_builddir" >"$tap_dir/found"
for rule in "objects|each source file has an object file" \
    "open-mpi|src/ uses nothing of Open MPI, of the components and of the tools" \
    "folders|folders of src/ use those that the table names" \
    "front-ends|mpi/ and the components do not use each other" \
    "circles|no circle of files in a folder" \
    "headers|headers are short" \
    "modules|modules of fcoll/tatp use those that they may"; do
    tap_is "$(grep "^${rule%%|*}: " "$tap_dir/found")" "" "${rule##*|}"
done
tap_is "$(grep -v -E '^(objects|open-mpi|folders|front-ends|circles|headers|modules): ' "$tap_dir/found")" "" "nothing else is said"
tap_plan
