#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The last line of `make check`, and its exit status.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir
export CHECK_LEVEL=quick TEST_SEED=7

# run_program NAME: runs a test program given on standard input as make check does.
run_program() {
    cat >"$tap_dir/$1.sh"
    AM_TAP_AWK='awk' sh "$top_srcdir/build-aux/tap-driver.sh" --test-name "$1" \
        --log-file "$tap_dir/$1.log" --trs-file "$tap_dir/$1.trs" -- sh "$tap_dir/$1.sh" >/dev/null
}

# counted STATUS NAME...: the last line and the exit status after a run that ended with STATUS
counted() {
    run_status=$1
    shift
    # shellcheck disable=SC2046 # file names without spaces
    "$top_srcdir/build-aux/count-results" "$run_status" $(printf "$tap_dir/%s.trs " "$@") >"$tap_dir/output"
    exit_status=$?
    echo "$(tail -n 1 "$tap_dir/output"), status $exit_status"
}

run_program good <<'END'
printf 'ok 1 - a\nok 2 - b # SKIP no network\n1..2\n'
END
run_program bad <<'END'
printf 'ok 1 - a\nnot ok 2 - b\n1..2\n'; exit 1
END
run_program crash <<'END'
printf 'ok 1 - a\n1..1\n'; kill -SEGV $$
END
run_program skipped <<'END'
echo '1..0 # SKIP needs a cluster'
END

tap_is "$(counted 0 good)" "1 passed, 0 failed, 1 skipped, status 0" "all well"
tap_is "$(counted 0 bad)" "1 passed, 1 failed, 0 skipped, status 1" "a failed test counts once"
tap_is "$(counted 0 crash)" "1 passed, 1 failed, 0 skipped, status 1" "a crash fails"
tap_is "$(counted 0 good bad skipped)" "2 passed, 1 failed, 2 skipped, status 1" "programs are summed"
tap_contains "$(cat "$tap_dir/output")" "no network" "the reason of a skip is shown"
tap_is "$(grep '^Run it again' "$tap_dir/output")" "Run it again: make check TESTS=$tap_dir/bad.sh TEST_SEED=7" \
    "the command that runs a failed test again is shown"
tap_plan
