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

# histories PROGRAM NUMBER
histories() {
    tap_check "${1##*/}: $2 histories" "$1" --histories="$2"
    tap_diag "$(printf '%s\n' "$tap_output" | grep '^# ')"
}

if tap_full; then
    histories "$sanitized" 1000
    histories "$program" 10000
else
    histories "$sanitized" 100
    histories "$program" 300
fi
tap_plan
