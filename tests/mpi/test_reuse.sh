#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plans are reused over OMPIO by calls whose accesses are the same but for a distance: with a view that is set before each
# call, by the file pointer, reading after writing. tests/simulate has the bytes, and which plans have to be reused.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python
tap_check "a run" run_here 4 --mca fcoll tatp --mca fcoll_tatp_num_aggregators 3 --mca fcoll_tatp_stats "$stats" \
    "$programs/conformance" --dir "$files" same_view_again/at_all several_files/all many_in_turn turns

# plans NAME: accesses to the files of a case, and the plans by which they were made.
plans() {
    "$PYTHON3" -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
plans = [line["schedule"] for line in lines if "/" + sys.argv[2] in line["file"] and line["aggregators"] > 0]
print(len(plans), len(set(plans)))' "$stats" "$1"
}

tap_is "$(plans same_view_again-at_all)" "40 8" "four views, which are set in turn, and two lengths"
tap_is "$(plans several_files-all)" "24 6" "six files, by the file pointer, then by an offset"
tap_is "$(plans many_in_turn)" "200 1" "the same place again and again, non-blocking"
tap_is "$(grep /turns "$stats" | grep -c '"metadata_bytes": 0')" 8 "files of ten groups in turn: plans of the last eight are kept"
tap_plan
