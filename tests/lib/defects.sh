# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Whether a simulation detects defects: a source file is compiled with a patch, and linked in place of the one that the
# simulation has. Source it from bash, after tap.sh:
#     check_defects FOLDER OPTION PROGRAM-OPTION...
# for each patch in FOLDER/defects. The program's options say how many cases from seed 1 on are tried, and OPTION how one
# is repeated. The name of a result ends with the number of the first case that fails. The caller
# defines link OBJECT..., which makes $tap_dir/simulate.

compiler=${CC:-cc}
command -v "$compiler" >/dev/null || tap_skip_all "there is no C compiler ($compiler)"
command -v patch >/dev/null || tap_skip_all "patch is not installed (apt-get install patch)"

compile() {
    "$compiler" -std=gnu11 -O1 -w -I"$top_srcdir/src" "$@"
}

# first_failure OPTION PROGRAM-OPTION...: the case that fails or in which the program ends, or nothing.
first_failure() {
    timeout 600 "$tap_dir/simulate" "${@:2}" --seed=1 2>&1 |
        sed -n "s/^# .*$1 --seed=\\([0-9]*\\)\$/\\1/p" | head -n 1
}

# check_defect PATCH OPTION PROGRAM-OPTION...
check_defect() {
    local name=${1##*/} source found
    name=${name%.patch}
    source=$(sed -n 's|^--- a/||p' "$1")
    mkdir "$tap_dir/$name" && cp "$top_srcdir/$source" "$tap_dir/$name"
    if ! patch -s -p3 -d "$tap_dir/$name" <"$1" ||
        ! compile -I"$top_srcdir/${source%/*}" -c -o "$tap_dir/defect.o" "$tap_dir/$name/${source##*/}" ||
        ! link "$tap_dir/defect.o"; then
        tap_not_ok "$name: the patch does not fit the sources"
        return
    fi
    found=$(first_failure "${@:2}")
    if [ -n "$found" ]; then
        tap_ok "$name: case $found"
    else
        tap_not_ok "$name: not detected by $3"
    fi
}

check_defects() {
    local defect
    for defect in "$1"/defects/*.patch; do
        check_defect "$defect" "${@:2}"
    done
}
