#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Plans for 65,536 ranks on 2,048 nodes, and on 256 with 8 domains each: each is checked, and takes at most 500 MB. Whether each takes at most 1 s is for
# the benchmark alone: other load would fail the test.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

bench=$top_builddir/bench/plan_bench
small="--ranks=600 --nodes=40 --domains=30 --touched=3 --repeat=1"

tap_check "65,536 ranks, all patterns" timeout "$HANG_LIMIT" "$top_srcdir/bench/plan_scale" "$bench" --quick \
    --repeat=1 --strategy=tatp --most-seconds=300
tap_is "$(echo "$tap_output" | grep -c ',yes$')" 22 "each is checked"

# shellcheck disable=SC2086 # words
{
    tap_check "all strategies" "$bench" $small --per-node=0
    tap_is "$(echo "$tap_output" | cut -d , -f 6 | tr '\n' ' ')" "strategy tatp latp_volume latp_count otp " \
        "have a line each"
    tap_check "storage servers" "$bench" $small --network=tree --servers=7 --strategy=tatp
    tap_contains "$tap_output" ",yes" "count in the least"
    tap_check_fails "more servers than nodes" "$bench" $small --servers=41
    tap_check "the least load of a link" "$bench" $small --network=tree --congestion
    tap_check_fails "a limit of time" "$bench" $small --most-seconds=1e-9
    tap_contains "$tap_output" ",OVER" "is seen"
    tap_check_fails "a limit of memory" "$bench" $small --most-megabytes=0.1
    tap_check_fails "a pattern that does not exist" "$bench" $small --pattern=waves
    tap_check_fails "a network that does not exist" "$bench" $small --network=torus
}
tap_plan
