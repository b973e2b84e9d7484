#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hints of MPI_File_set_view and MPI_File_set_info, and what MPI_File_get_info returns.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

cases=("[!t]*") # all but the table
conform conformance_hints "1 rank" run_here 1 --mca fcoll tatp
conform conformance_hints "4 ranks" run_here 4 --mca fcoll tatp
for hint in cb_nodes cb_buffer_size striping_unit striping_factor romio_cb_write romio_cb_read collective_buffering; do
    tap_is "$(grep "^The hint $hint " "$tap_dir/output" | sort | uniq -c | awk '{ print $1 }' | xargs)" "1 1" \
        "$hint: reported once where it is invalid, and where one rank alone has it"
done

# With a record, and with statistics, which agree more often; without shared memory data are in messages.
conform conformance_hints "4 ranks, recorded" run_here 4 --mca fcoll tatp --mca fcoll_tatp_record "$tap_dir/view.crs" \
    --mca fcoll_tatp_shared_memory false --mca fcoll_tatp_stats "$stats"
tap_check "the record is there" test -s "$tap_dir/view.crs"

# calls CASE: operation and number of aggregators of each call, and m where there were messages.
calls() {
    grep "/$1\.[0-9]*\"" "$stats" | sed 's/.*"op": "\(.\).*"aggregators": \([0-9]*\).*"messages": \([0-9]*\).*/\1\2m\3/
        s/m0$//; s/m.*/m/' | tr '\n' ' '
}

tap_is "$(calls given-aggregators)" "w1m r1m w2m r2m w2m r2m w1m r1m w4m r4m " "cb_nodes counts from the view on"
tap_is "$(calls given-in_turn)" "w1m r1m w0 r0 w0 r1m w1m r1m w0 r0 " "collective_buffering, romio_cb_read and romio_cb_write"
tap_is "$(calls given-at_open)" "w0 r0 w0 r0 " "disabled when the file is opened, or by the hints of another file"
tap_is "$(calls atomic-all)" "w1m " "atomic mode: there is an aggregator"
if [[ -n $PYTHON3 ]]; then
    tap_is "$("$PYTHON3" "$top_srcdir/tests/mpi/check_stats.py" "$stats" 2>&1 | sed 's/ plans.*//')" \
        "lines $(wc -l <"$stats")" "statistics are right"
else
    tap_skip "statistics are right" "there is no Python 3"
fi
tap_plan
