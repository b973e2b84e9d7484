#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# dla map -H reads the hosts and slots of a host file that mpirun reads, and refuses what it refuses. `make check` compares with
# what dla read when both agreed.
. "$top_srcdir/tests/lib/dla.sh" || exit 1

read_files() { "${PYTHON3:-python3}" "$top_srcdir/tests/dla/hostfiles.py" "$TOOLS_DIR/dla" "$@" 2>&1; }
if tap_full; then
    told=$(read_files "$MPIRUN")
    tap_diag "$(tail -n 1 <<<"$told")"
    tap_is "$(sed '$d' <<<"$told")" "" "hostfiles: dla and mpirun agree"
fi
tap_is "$(TEST_SEED=1 read_files | diff - "$top_srcdir/tests/fixtures/hostfiles.txt")" "" "hostfiles: dla reads as before"
tap_plan
