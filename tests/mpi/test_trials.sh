#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The way of repeated calls is found by trying: file accesses of one way are made so slow that the other is faster.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
stats=$tap_dir/stats.jsonl
export OMPI_MCA_io=ompio OMPI_MCA_fcoll=tatp OMPI_MCA_fcoll_tatp_stats=$stats

# trial NAME KIND MILLISECONDS [PARAMETER=VALUE]: a file for four ranks of the one start, most of whose time is delays.
# A script starts them: mpirun of some releases crashes if it is given several programs.
trial() {
    printf '%s) exec env %s "%s" %s %s "%s" ;;\n' "$trials" "${4+OMPI_MCA_fcoll_tatp_$4}" "$programs/trials" "$2" "$3" \
        "$files/$1" >>"$tap_dir/trials"
    trials=$((trials + 1))
}

trials=0
# shellcheck disable=SC2016 # for the script
echo 'case $((OMPI_COMM_WORLD_RANK / 4)) in' >"$tap_dir/trials"
trial large large 1000
trial small small 100
trial fault fault 1000
trial demanded large 20 num_aggregators=2
trial locked large 20 stripe_size=1048576
trial recorded large 1000 record="$tap_dir/view.crs"
echo 'esac' >>"$tap_dir/trials"
tap_check "a run for six files" run_here $((4 * trials)) bash "$tap_dir/trials"

# ways NAME: for each call its operation, and + where it had aggregators.
ways() {
    grep "/$1\"" "$stats" | sed 's/.*"op": "\(.\).*"aggregators": \([0-9]*\).*/\1\2/; s/[1-9][0-9]*/+/; s/0//' | tr -d '\n'
}

all=w+w+w+w+w+w+w+w+w+w+w+w+r+r+r+r+r+r+r+r+r+r+r+r+
tried=w+w+w+ww+wwwwwwwr+r+rr+rrrrrrrr
tap_is "$(ways large)" $tried "two trials that succeed, then each rank accesses its data"
tap_is "$(ways small)" $all "trials that take too long are given up"
tap_is "$(ways fault)" $tried "an error in a trial is that of all ranks"
tap_is "$(ways demanded)" $all "no trial where aggregators are demanded"
tap_is "$(ways locked | cut -c 1-24)" "${all:0:24}" "no trial of writing where locks are shared"
# What is recorded is the choice by rule, whichever way was faster.
tap_check "recorded: all calls" grep -q '^% accesses: 24$' "$tap_dir/view.crs"
tap_plan
