#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Which file uses which: the rules are in structure.py, which says what they are. First each rule is shown to find
# a break that is planted into a small tree, then the project's own files are checked.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
tap_tempdir
tatp=ompi/mca/fcoll/tatp/fcoll_tatp
modules=(comm error file help hints io params process)
mapfile -t headers < <(printf '#include "fcoll_tatp_%s.h"\n' "${modules[@]}")

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

# A tree without breaks, which has each folder and each module, and uses as many as it may.
small_tree() {
    local module name
    rm -rf "$tap_dir/tree"
    put src/base/base.h 'int base_a(void);'
    put src/base/a.c '#include "base/base.h"' 'int base_a(void) { return 1; }'
    put src/matrix/matrix.h 'int matrix_a(void);' 'int matrix_b(void);'
    put src/matrix/a.c '#include "matrix/matrix.h"' '#include "base/base.h"' 'int matrix_a(void) { return base_a(); }'
    put src/matrix/b.h '#include "matrix/matrix.h"' 'int b_value(void);'
    put src/matrix/b.c '#include "matrix/matrix.h"' '#include "b.h"' 'int b_value(void) { return 2; }' \
        'int matrix_b(void) { return matrix_a() + b_value(); }'
    put src/topo/topo.h 'int topo_a(void);'
    put src/topo/topo.c '#include "topo.h"' '#include "matrix/matrix.h"' 'int topo_a(void) { return matrix_b(); }'
    put tools/one.h 'int one(void);'
    put tools/one.c '#include "one.h"' '#include "topo/topo.h"' 'int one(void) { return topo_a(); }'
    put tools/two.c '#include "one.h"' 'int two(void) { return one(); }' 'int main(void) { return two(); }'
    put orte/mca/rmaps/dla/rmaps_dla.h 'int rmaps_dla_map(void);'
    put orte/mca/rmaps/dla/rmaps_dla_map.c '#include "rmaps_dla.h"' 'int rmaps_dla_map(void) { return 0; }'
    put orte/mca/rmaps/dla/rmaps_dla_spec.c 'int rmaps_dla_map(void);' 'int rmaps_dla_spec(void) { return rmaps_dla_map(); }'
    put $tatp.h 'extern int mca_fcoll_tatp_component;'
    for module in "${modules[@]}"; do
        put "${tatp}_$module.h" "int tatp_$module(void);"
    done
    for name in error: help: process:help comm:process io:process hints:process params: file:comm; do
        module=${name%:*} name=${name#*:}
        put "${tatp}_$module.c" "#include \"fcoll_tatp_$module.h\"" "${name:+#include \"fcoll_tatp_$name.h\"}"
    done
    for module in "${modules[@]}"; do
        put "${tatp}_$module.c" "int tatp_$module(void) { return 0; }"
    done
    put ${tatp}_comm_internal.h 'int tatp_comm_part(void);'
    put ${tatp}_view.c '#include "fcoll_tatp_io.h"' 'int tatp_view(void) { return tatp_io(); }'
    put ${tatp}_params.c '#include "fcoll_tatp.h"' 'int tatp_set(void) { return mca_fcoll_tatp_component; }'
    put ${tatp}_call.c '#include "fcoll_tatp.h"' "${headers[@]}" \
        'int tatp_call(void) { return tatp_file() + tatp_io(); }'
    put ${tatp}_component.c '#include "fcoll_tatp.h"' 'int mca_fcoll_tatp_component;'
}

# finds BREAK FILE LINE...: with these lines in the file the tree has this break, the first of its rule.
finds() {
    rm -rf "$tap_dir/tree"
    cp -R "$tap_dir/good" "$tap_dir/tree"
    put "${@:2}"
    tap_is "$(structure "$tap_dir/tree" "$tap_dir/tree" | grep -m 1 "^${1%%:*}: ")" "$1" "found: $1"
}

# uses_module USER MODULE: the break that a file uses a function of a module, declared by itself.
uses_module() {
    finds "modules: ${tatp}_$1.c uses ${tatp}_$2.c" ${tatp}_"$1".c "int tatp_$2(void);" "int tatp_planted(void) { return tatp_$2(); }"
}

small_tree
tap_is "$(structure "$tap_dir/tree" "$tap_dir/tree")" "" "a good tree has no break"
mv "$tap_dir/tree" "$tap_dir/good"

finds "open-mpi: src/base/a.c includes mpi.h" src/base/a.c '#if 0' '#include <mpi.h>' '#endif'
finds "open-mpi: src/base/a.c includes opal/util/output.h" src/base/a.c '#if 0' '#include "opal/util/output.h"' '#endif'
finds "open-mpi: src/base/a.c refers to MPI_Barrier" src/base/a.c 'int MPI_Barrier(int);' 'int base_b(void) { return MPI_Barrier(0); }'
finds "open-mpi: src/base/a.c refers to opal_output" src/base/a.c 'int opal_output(int);' 'int base_b(void) { return opal_output(0); }'
finds "open-mpi: src/base/a.c uses tools/one.c" src/base/a.c 'int one(void);' 'int base_b(void) { return one(); }'
finds "open-mpi: src/base/a.c uses ${tatp}.h" src/base/a.c "#include \"$tatp.h\""

finds "folders: src/base/a.c uses src/matrix/matrix.h" src/base/a.c '#include "matrix/matrix.h"'
finds "folders: src/matrix/a.c uses src/topo/topo.c" src/matrix/a.c 'int topo_a(void);' 'int matrix_c(void) { return topo_a(); }'
finds "folders: src/extra/a.c: src/extra has no row in the table of structure.py" src/extra/a.c 'int extra_a(void) { return 0; }'

finds "front-ends: mpi/file.c includes tools/one.h" mpi/file.c '#if 0' '#include "tools/one.h"' '#endif'
finds "circles: src/matrix: a.c -> b.c; b.c -> a.c" src/matrix/a.c 'int matrix_c(void) { return matrix_b(); }'
finds "circles: src/matrix: b.h -> matrix.h; matrix.h -> b.h" src/matrix/matrix.h '#if 0' '#include "b.h"' '#endif'
finds "circles: tools: one.c -> two.c; two.c -> one.c" tools/one.c 'int two(void);' 'int three(void) { return two(); }'
finds "circles: orte/mca/rmaps/dla: rmaps_dla_map.c -> rmaps_dla_spec.c; rmaps_dla_spec.c -> rmaps_dla_map.c" \
    orte/mca/rmaps/dla/rmaps_dla_map.c 'int rmaps_dla_spec(void);' 'int rmaps_dla_all(void) { return rmaps_dla_spec(); }'
finds "circles: ompi/mca/fcoll/tatp: fcoll_tatp_io.c -> fcoll_tatp_view.c; fcoll_tatp_view.c -> fcoll_tatp_io.c" \
    ${tatp}_io.c 'int tatp_view(void);' 'int tatp_io_all(void) { return tatp_view(); }'

mapfile -t many < <(printf '/* %d */\n' {1..150})
finds "headers: src/base/base.h has 151 lines; at most 150" src/base/base.h "${many[@]}"
finds "headers: ${tatp}_io.h has 151 lines; at most 150" ${tatp}_io.h "${many[@]}"

for user in comm hints io process; do
    for module in call file params; do
        uses_module $user $module
    done
done
for pair in comm:io io:comm io:hints hints:comm file:call; do
    uses_module "${pair%:*}" "${pair#*:}"
done
finds "modules: ${tatp}_view.c uses ${tatp}_params.h" ${tatp}_view.c '#include "fcoll_tatp_params.h"'
finds "modules: ${tatp}_comm.c uses ${tatp}_io.h" ${tatp}_comm.c '#include "fcoll_tatp_io.h"'
finds "modules: ${tatp}_io.c uses the struct mca_fcoll_tatp_component" ${tatp}_io.c '#include "fcoll_tatp.h"' \
    'int tatp_planted(void) { return mca_fcoll_tatp_component; }'
finds "modules: ${tatp}_odd.c belongs to no module" ${tatp}_odd.c 'int tatp_odd(void) { return 0; }'
finds "modules: ${tatp}_view.h: a module has one header, fcoll_tatp_MODULE.h, and fcoll_tatp_MODULE_internal.h for its own files" \
    ${tatp}_view.h 'int tatp_view(void);'
finds "modules: ${tatp}_call.c includes ${tatp}_comm_internal.h of another module" ${tatp}_call.c \
    '#if 0' '#include "fcoll_tatp_comm_internal.h"' '#endif'
finds "modules: ${tatp}_module.c includes the headers of all modules" ${tatp}_module.c \
    "${headers[@]}"

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
