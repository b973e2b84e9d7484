#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# No folder has more lines than tests/frame/budget says.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

cd "$top_srcdir" || exit 1

# The files that count, of what is tracked or packed.
list_files() {
    if [[ -e .git ]]; then
        git ls-files -- "${@:2}"
    else
        find "${@:2}" -type f
    fi | case $1 in
    code) grep -E '\.([ch]|py)$' ;;
    test) grep -E '\.([ch]|py|sh)$' | grep -v /fixtures/ ;;
    words) grep -E '\.(md|[1-9])$' ;;
    esac
}

while read -r kind most folders; do
    # shellcheck disable=SC2086 # words
    now=$(list_files "$kind" $folders | xargs cat | if [[ $kind == words ]]; then wc -w; else wc -l; fi)
    tap_check "$folders: $now of $most" test "$now" -le "$most"
done < <(grep -v '^#' tests/frame/budget)
tap_plan
