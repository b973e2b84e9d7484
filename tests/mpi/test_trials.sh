#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The way of repeated calls is found by trying: file accesses of one way are made so slow that the other is faster.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
stats=$tap_dir/stats.jsonl

# ways RANKS KIND MILLISECONDS ARGUMENT...: for each call its operation, and + where it had aggregators.
ways() {
    rm -f "$stats"
    run_here "$1" --mca io ompio --mca fcoll tatp --mca fcoll_tatp_stats "$stats" "${@:4}" \
        "$programs/trials" "$2" "$3" "$files/file" >"$tap_dir/out" 2>&1 || {
        cat "$tap_dir/out"
        return 1
    }
    sed -n 's/.*"op": "\(.\).*"aggregators": \([0-9]*\).*/\1\2/p' "$stats" | sed 's/[1-9][0-9]*/+/; s/0//' | tr -d '\n'
}

all=w+w+w+w+w+w+w+w+w+w+w+w+r+r+r+r+r+r+r+r+r+r+r+r+
tried=w+w+w+ww+wwwwwwwr+r+rr+rrrrrrrr
tap_is "$(ways 4 large 1000)" $tried "two trials that succeed, then each rank accesses its data"
tap_is "$(ways 4 small 100)" $all "trials that take too long are given up"
tap_is "$(ways 4 fault 1000)" $tried "an error in a trial is that of all ranks"
tap_is "$(ways 4 large 20 --mca fcoll_tatp_num_aggregators 2)" $all "no trial where aggregators are demanded"
tap_is "$(ways 4 large 20 --mca fcoll_tatp_stripe_size 1048576 | cut -c 1-24)" "${all:0:24}" "no trial of writing where locks are shared"

# What is recorded is the choice by rule, whichever way was faster.
ways 4 large 1000 --mca fcoll_tatp_record "$tap_dir/view.crs" >/dev/null
tap_check "recorded: nothing without aggregators" grep -q '^% independent: 0$' "$tap_dir/view.crs"
tap_plan
