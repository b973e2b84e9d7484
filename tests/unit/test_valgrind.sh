#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the unit tests under valgrind: no error, no leak.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

[ -n "$VALGRIND" ] || tap_skip_all "valgrind is not installed (apt-get install valgrind)"

# In one process, so that valgrind sees one exit; much slower than without. Tests that are tagged slow judge
# placements of many ranks, by code that others run as well.
export CK_FORK=no CK_TIMEOUT_MULTIPLIER=20 RANDOM_CASES_DIVISOR=20 CK_EXCLUDE_TAGS=slow

for program in "$top_builddir"/tests/unit/test_*; do
    case ${program##*/} in
    *.* | *_sanitized) continue ;;
    test_storage_library) continue ;; # executes itself once more; AddressSanitizer has it
    esac
    tap_check "${program##*/} under valgrind" timeout 3600 "$VALGRIND" --quiet --error-exitcode=99 \
        --leak-check=full --show-leak-kinds=definite,possible "$program"
done
tap_plan
