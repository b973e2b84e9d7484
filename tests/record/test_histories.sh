#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Writers of one record, in orders that seeds determine, some of them killed: the sanitized program, where
# there is one, for a sample.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

program=$top_builddir/tests/record/histories
sanitized=${program}_sanitized
[ -x "$sanitized" ] || sanitized=$program
tap_tempdir

# histories PROGRAM NUMBER FIRST-SEED
histories() {
    tap_check "$2 histories from seed $3" "$1" --histories="$2" --seed="$3"
    tap_diag "$(printf '%s\n' "$tap_output" | grep '^# ')"
}

seed=${TEST_SEED:-1}
if tap_full; then
    histories "$sanitized" 1000 "${seed}0001"
    histories "$program" 10000 "${seed}5001"
else
    histories "$sanitized" 100 "${seed}0001"
    histories "$program" 300 "${seed}5001"
fi
tap_plan
