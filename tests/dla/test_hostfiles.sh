#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# dla map -H reads the hosts and slots of a host file that mpirun reads, and refuses what it refuses.
. "$top_srcdir/tests/lib/dla.sh" || exit 1

told=$("${PYTHON3:-python3}" "$top_srcdir/tests/dla/hostfiles.py" "$TOOLS_DIR/dla" "$MPIRUN" 2>&1)
tap_diag "$(tail -n 1 <<<"$told")"
tap_is "$(sed '$d' <<<"$told")" "" "hostfiles: dla and mpirun agree"
tap_plan
