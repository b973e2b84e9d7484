#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Which file uses which: the rules are in structure.py, which says what they are. What documents name is there, and
# their figures are those of the CSV files.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
tap_tempdir
structure() { "$PYTHON3" "$top_srcdir/tests/frame/structure.py" "$@" 2>&1; }

# A small tree with two breaks, as the build would compile it.
mkdir -p "$tap_dir"/src/base/.libs "$tap_dir/src/matrix"
echo 'int matrix_a(void);' >"$tap_dir/src/matrix/matrix.h"
printf '%s\n' '#include "matrix/matrix.h"' 'int MPI_Barrier(int);' 'int base_a(void) { return MPI_Barrier(0); }' >"$tap_dir/src/base/a.c"
cc -c -I"$tap_dir/src" -o "$tap_dir/src/base/.libs/lib_la-a.o" "$tap_dir/src/base/a.c" || exit 1
tap_is "$(structure "$tap_dir" "$tap_dir")" "open-mpi: src/base/a.c refers to MPI_Barrier
folders: src/base/a.c uses src/matrix/matrix.h" "breaks in a small tree are found"

# --- the project ---

structure "$top_srcdir" "$top_builddir" >"$tap_dir/found"
for rule in "objects|each source file has an object file" \
    "open-mpi|src/ uses nothing of Open MPI, of the components and of the tools" \
    "folders|folders of src/ use those that the table names" "front-ends|mpi/ and the components do not use each other" \
    "circles|no circle of files in a folder" "headers|headers are short" "modules|modules of fcoll/tatp use those that they may"; do
    tap_is "$(grep "^${rule%%|*}: " "$tap_dir/found")" "" "${rule##*|}"
done
tap_is "$(grep -v -E '^(objects|open-mpi|folders|front-ends|circles|headers|modules): ' "$tap_dir/found")" "" "nothing else is said"

# Here names with an underscore are those of functions, types and members, and a parameter of Open MPI.
code=$(find "$top_srcdir"/{src,ompi,mpi,orte,prte,tools,tests} -name '*.[ch]' -exec cat {} +)fs_ufs_lock_algorithm
gone=$(grep -ohP '\x60\K[a-z]+(_[a-z]+)+(?=\x60)' "$top_srcdir"/{HACKING,doc/{datapath,exchange,fitted,lap,plan,topology}}.md | sort -u |
    while read -r name; do [[ $code == *"$name"* ]] || echo "$name"; done)
tap_is "$gone" "" "what documents name of the code is there"
tap_is "$("$PYTHON3" "$top_srcdir/tests/frame/check_figures.py" "$top_srcdir" 2>&1)" "" "figures of documents are those of their CSV files"
tap_plan
