#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What crosses the counted links of the test cluster, by placement and component: by what was recorded, next to
# nothing but what every start costs. No time is looked at.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
need_component rmaps dla
[[ -n $PYTHON3 ]] || tap_skip_all "python3 is missing"
need_cluster

tap_check "all placements, vulcan and tatp" timeout --kill-after=5 "$HANG_LIMIT" "$PYTHON3" "$top_srcdir/bench/placements" \
    --size 128x128x128 --rounds 1 --links unlimited --csv
rows=$tap_output
tap_is "$(grep -c -E ',(vulcan|tatp),(write|read),[0-9]+,[0-9]+,' <<<"$rows")" 16 "have a line each for write and read"

# bytes PLACEMENT CONTESTANT COLUMN: of a write
bytes() {
    awk -F, -v p="$1" -v c="$2" -v k="$3" '$1 == p && $2 == c && $3 == "write" { print $k }' <<<"$rows"
}
least=$((128 * 128 * 128 * 8))
for placed in cart recorded; do
    tap_check "$placed, tatp: a twentieth of the array at most leaves nodes" \
        test "$(bytes $placed tatp 4)" -lt $((least / 20))
    tap_check "$placed: less over uplinks than by node, with tatp" test "$(bytes $placed tatp 5)" -lt "$(bytes bynode tatp 5)"
    tap_check "$placed, tatp: less over uplinks than vulcan" \
        test "$(bytes $placed tatp 5)" -lt "$(bytes $placed vulcan 5)"
done
tap_plan
