#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The product has no more lines than tests/frame/budget says, and new files replace something.
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

# The commits since that rule began which add files to the folders, and do not say what these replace.
count_silent() {
    local begin commit
    begin=$(git log --format=%H -S'new 0' -- tests/frame/budget | tail -n 1)
    for commit in $(git log --format=%H --diff-filter=A -M "$begin..HEAD" -- "$@"); do
        git log -1 --format=%B "$commit" | grep -q '^Replaces: ' || echo "$commit"
    done | wc -l
}

while read -r kind most folders; do
    if [[ $kind == new ]]; then
        # shellcheck disable=SC2086 # words
        [[ ! -e .git ]] || tap_is "$(count_silent $folders)" "$most" "commits that add files to $folders say what they replace"
        continue
    fi
    # shellcheck disable=SC2086 # words
    now=$(list_files "$kind" $folders | xargs cat | if [[ $kind == words ]]; then wc -w; else wc -l; fi)
    tap_check "$folders: $now of $most" test "$now" -le "$most"
done < <(grep -v '^#' tests/frame/budget)
tap_plan
