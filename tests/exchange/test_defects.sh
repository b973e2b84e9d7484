#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whether the simulation of files detects defects of src/exchange.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
. "$top_srcdir/tests/lib/defects.sh" || exit 1

tap_tempdir
check_defects "$top_srcdir/tests/exchange"
tap_plan
