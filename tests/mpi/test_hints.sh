#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hints of MPI_File_set_view and MPI_File_set_info, and what MPI_File_get_info returns.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1
. "$top_srcdir/tests/mpi/conformance.sh" || exit 1

need_component fcoll tatp
stats=$tap_dir/stats.jsonl

# lines CASE: runs it on 4 ranks that share no memory; operation and number of aggregators of each call, and
# whether there were messages.
lines() {
    rm -f "$stats"
    run_here 4 --mca fcoll tatp --mca fcoll_tatp_shared_memory false --mca fcoll_tatp_stats "$stats" \
        "$programs/conformance_hints" --dir "$files" "$1" >"$tap_dir/output" 2>&1
    sed -n 's/.*"op": "\(.\).*"aggregators": \([0-9]*\).*"messages": 0,.*/\1\2/p; t
        s/.*"op": "\(.\).*"aggregators": \([0-9]*\).*/\1\2m/p' "$stats" | tr '\n' ' '
}

tap_is "$(lines aggregators)" "w1m r1m w2m r2m w2m r2m w1m r1m w4m r4m " "cb_nodes counts from the view on"
tap_is "$(lines in_turn)" "w1m r1m w0 r0 w0 r1m w1m r1m w0 r0 " "collective_buffering, romio_cb_read and romio_cb_write"
tap_is "$(lines disable/all)" "w0 r0 w0 r0 " "disabled: neither aggregators nor messages"
tap_is "$(lines disable/i_at_all)" "w0 r0 w0 r0 " "disabled: non-blocking calls"
tap_is "$(lines at_open)" "w0 r0 w0 r0 " "disabled when the file is opened, or by the hints of another file"
tap_is "$(lines different/all)" "w1m r1m w1m r1m w2m r0 w2m r2m " "different hints: those of rank 0"
tap_is "$(lines atomic/all)" "w1m " "atomic mode: there is an aggregator"
if [[ -n $PYTHON3 ]]; then
    lines in_turn >/dev/null
    tap_is "$("$PYTHON3" "$top_srcdir/tests/mpi/check_stats.py" "$stats" 2>&1 | sed 's/ plans.*//')" "lines 10" \
        "statistics are right"
else
    tap_skip "statistics are right" "there is no Python 3"
fi

lines invalid >/dev/null
for hint in cb_nodes cb_buffer_size striping_unit striping_factor romio_cb_write romio_cb_read collective_buffering; do
    tap_is "$(grep -c "The hint $hint has the value" "$tap_dir/output")" 1 "invalid: $hint is reported once"
done
tap_contains "$(cat "$tap_dir/output")" "ok invalid" "invalid: the values before apply"

for hint in cb_nodes cb_buffer_size striping_unit striping_factor romio_cb_write romio_cb_read collective_buffering; do
    lines "one_rank/$hint" >/dev/null
    tap_is "$(grep "is not the same on all ranks" "$tap_dir/output")" \
        "The hint $hint is not the same on all ranks that opened the file" "one rank alone has $hint: reported once"
done

# With a record, and with statistics, which agree more often.
cases=(\*)
for ranks in 1 2 4 7; do
    conform conformance_hints "$ranks ranks" run_here "$ranks" --mca fcoll tatp
done
conform conformance_hints "4 ranks, recorded" run_here 4 --mca fcoll tatp --mca fcoll_tatp_record "$tap_dir/view.crs" \
    --mca fcoll_tatp_stats "$stats"
tap_check "the record is there" test -s "$tap_dir/view.crs"
tap_plan
