#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation detects defects: each patch in defects/ is applied to a copy of src/exchange. The name of a
# result ends with the number of the first schedule that fails.
here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$here/../..}
. "$top/tests/lib/tap.sh" || exit 1

schedules=20000
compiler=${CC:-cc}

command -v "$compiler" >/dev/null || tap_skip_all "there is no C compiler ($compiler)"
command -v patch >/dev/null || tap_skip_all "patch is not installed (apt-get install patch)"

compile() {
    "$compiler" -std=gnu11 -O1 -w -I"$top/src" "$@"
}

# What no defect changes, in the folder objects.
compile_objects() {
    local sources
    mapfile -t sources < <(find "$top/src/access" "$top/tests/exchange" -name '*.c' ! -name neighbours.c ! -name threads.c)
    mkdir "$tap_dir/objects" && cd "$tap_dir/objects" && compile -c "${sources[@]}"
}

# build FOLDER: the simulation with the engine of that folder.
build() {
    compile -o "$1/simulate" "$1"/*.c "$tap_dir"/objects/*.o
}

# first_failure FOLDER: the schedule that fails or in which the program ends, or nothing. Seeds count from 1.
first_failure() {
    timeout 600 "$1/simulate" --schedules=$schedules --orders=0 --seed=1 2>&1 |
        sed -n 's/^# .*--schedules=1 --seed=\([0-9]*\)$/\1/p' | head -n 1
}

# check_defect PATCH
check_defect() {
    local name=${1##*/} folder=$tap_dir/engine found
    name=${name%.patch}
    rm -rf "$folder"
    cp -r "$top/src/exchange" "$folder"
    if ! patch -s -p3 -d "$folder" <"$1" || ! build "$folder"; then
        tap_not_ok "$name: the patch does not fit the sources"
        return
    fi
    found=$(first_failure "$folder")
    if [ -n "$found" ]; then
        tap_ok "$name: schedule $found"
    else
        tap_not_ok "$name: not detected in $schedules schedules"
    fi
}

tap_tempdir
tap_check "the simulation is built" compile_objects
cp -r "$top/src/exchange" "$tap_dir/sound"
tap_check "the simulation is linked" build "$tap_dir/sound"
tap_is "$(first_failure "$tap_dir/sound")" "" "without a defect nothing is detected"
tap_check "without a defect no order fails" "$tap_dir/sound/simulate" --schedules=0 --orders=20
for defect in "$here"/defects/*.patch; do
    check_defect "$defect"
done
tap_plan
