#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The last line of `make check`, and its exit status.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir

# run_program NAME SCRIPT: runs it as make check does.
run_program() {
    AM_TAP_AWK='awk' sh "$top_srcdir/build-aux/tap-driver.sh" --test-name "$1" \
        --log-file "$tap_dir/$1.log" --trs-file "$tap_dir/$1.trs" -- sh -c "$2" >/dev/null
}

run_program good 'echo "ok 1 - a"; echo "ok 2 - b # SKIP no network"; echo 1..2'
run_program bad 'echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1'
run_program crash 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$'
tap_check_fails "failed tests fail the run" env CHECK_LEVEL=quick TEST_SEED=7 \
    "$top_srcdir/build-aux/count-results" 0 "$tap_dir/good.trs" "$tap_dir/bad.trs" "$tap_dir/crash.trs"
tap_is "$(echo "$tap_output" | tail -n 1)" "3 passed, 2 failed, 1 skipped" "programs are summed: a crash fails, and a failed test counts once"
tap_contains "$tap_output" "no network" "the reason of a skip is shown"
tap_contains "$tap_output" "Run it again: make check TESTS=$tap_dir/bad TEST_SEED=7" "the command that runs a failed test again is shown"
tap_plan
