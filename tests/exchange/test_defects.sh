#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation of the exchange detects defects of src/exchange.
here=$(cd "$(dirname "$0")" && pwd)
export top_srcdir=${top_srcdir:-$here/../..}
. "$top_srcdir/tests/lib/tap.sh" || exit 1
. "$top_srcdir/tests/lib/defects.sh" || exit 1

tap_tempdir

link() {
    compile -o "$tap_dir/simulate" "$tap_dir"/simulation/*.o "$@" "$tap_dir/engine.a"
}

# What no defect changes, and the engine, of which a file with a defect replaces a part.
compile_objects() {
    local simulation engine
    mapfile -t simulation < <(find "$top_srcdir/src/access" "$top_srcdir/tests/exchange" -name '*.c' ! -name neighbours.c ! -name threads.c)
    mapfile -t engine < <(find "$top_srcdir/src/exchange" -name '*.c')
    mkdir "$tap_dir/simulation" "$tap_dir/engine" &&
        (cd "$tap_dir/simulation" && compile -c "${simulation[@]}") &&
        (cd "$tap_dir/engine" && compile -c "${engine[@]}" && ar rc "$tap_dir/engine.a" ./*.o)
}

tried=(--schedules=1 --schedules=20000 --orders=0)
tap_check "the simulation is built" compile_objects
tap_check "the simulation is linked" link
tap_is "$(first_failure "${tried[@]}")" "" "without a defect nothing is detected"
tap_check "without a defect no order fails" "$tap_dir/simulate" --schedules=0 --orders=20
check_defects "$here" "${tried[@]}"
tap_plan
