#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The placement benchmark in miniature: it reaches its bars on cuts and crossing bytes. No time is
# looked at, and no other partitioner.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

bench=$top_builddir/bench/setmatch_bench

# rows TEXT: how many lines of $tap_output contain it.
rows() {
    printf '%s\n' "$tap_output" | grep -c "$1"
}

tap_check "the short benchmark reaches its bars" timeout "$HANG_LIMIT" "$bench" --short
tap_is "$(rows ',auto,')" 30 "28 patterns and 2 for the time are placed by auto"
tap_is "$(rows ',setmatch,')" 28 "and by the paper's method"
tap_is "$(rows 'worst: 1\.')" 1 "the worst cut is told"
tap_is "$(rows 'by profile: sum V/P')" 24 "8 profiles for even, fitted and either domains, placed by profile"
tap_is "$(rows 'by neighbours: sum V/P')" 24 "and by neighbours"
tap_is "$(rows MISSED)" 0 "no bar is missed"
tap_check_fails "a pattern that is none" "$bench" --only
tap_plan
