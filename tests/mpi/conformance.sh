# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# How shell tests run the conformance programs. Source it after lib.sh.

# conform PROGRAM LABEL COMMAND...: runs "${cases[@]}", options and patterns, in one go of
# COMMAND, and tells a result for each. A case that a dead program did not come to is not ok. What was written is in
# $tap_dir/output.
conform() {
    local program=$programs/$1 label=$2 output line name shown=
    local -A result=()
    if [[ ! -x $program ]]; then
        tap_not_ok "$label: $program is not built"
        return
    fi
    output=$("${@:3}" "$program" --limit "$HANG_LIMIT" --dir "${case_dir:-$files}" "${cases[@]}" 2>&1)
    printf '%s\n' "$output" >"$tap_dir/output"
    while read -r line; do
        case $line in
        "ok "* | "skip "*) name=${line#* } ;;
        "not ok "*) name=${line#not ok } ;;
        *) continue ;;
        esac
        result[${name%% *}]=$line
    done <<<"$output"
    for name in $("$program" --list "${cases[@]}"); do
        case ${result[$name]-} in
        ok*) tap_ok "$label: $name" ;;
        skip*) tap_skip "$label: $name" "${result[$name]#*# }" ;;
        not*) tap_not_ok "$label: $name" "${result[$name]#*# }" ;;
        *)
            tap_not_ok "$label: $name" "no result"
            [[ -n $shown ]] || tap_diag "${*:3} $program ${cases[*]}
$(tail -n 20 <<<"$output")"
            shown=yes
            ;;
        esac
    done
}
