#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MCA parameters that differ between ranks: the value of rank 0 applies to all, and the difference is
# reported once.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

# differ NAME=VALUE [COMMON]: on the last rank, where all ranks have the common settings. Values of one parameter are not
# four rows apart: the ranks have another order in each row, and a process reports a parameter once.
differ() {
    echo "accept|${2-num_aggregators=2}|$1" >>"$files/table"
    case $1 in
    priority=*) ;;
    bytes_per_agg=*) reported+="io_ompio_${1%%=*} on rank 3"$'\n' ;;
    *) reported+="fcoll_tatp_${1%%=*} on rank 3"$'\n' ;;
    esac
}

# reports: the parameters that were reported, and for which ranks.
reports() {
    sed -n 's/^The MCA parameter \(.*\) is not the same .*/\1/p; s/^Its value \(.*\) differs from .*/\1/p' \
        "$tap_dir/output" | paste -d ' ' - - | sort
}

for setting in strategy=latp_count num_aggregators=3 \
    cycle_buffer_size=4096 stripe_size=100 shared_memory=false topology="$tap_dir/none" stats="$tap_dir/foreign.json"; do
    differ "$setting"
done
differ domains=stripe num_aggregators=2,stripe_size=64,stripe_count=2
differ stripe_count=3 num_aggregators=2,stripe_size=64
for setting in record="$tap_dir/foreign.crs" num_aggregators=2 bytes_per_agg=8192 priority=60 priority=-1; do
    differ "$setting" ""
done
cases=(table)
conform conformance_hints "the last rank has another value" run_here 4 --mca fcoll tatp
tap_is "$(reports)" "$(sort <<<"${reported%?}")" "each parameter is reported once, with the rank; not the priority"
tap_check_fails "the last rank records nothing" test -e "$tap_dir/foreign.crs"
tap_check_fails "the last rank writes no statistics" test -e "$tap_dir/foreign.json"

# Rank 0 alone, by its environment: its values apply to all.
others="OMPI_MCA_fcoll_tatp_record=$tap_dir/view.crs OMPI_MCA_fcoll_tatp_stats=$tap_dir/stats.json
OMPI_MCA_fcoll_tatp_stripe_size=100 OMPI_MCA_fcoll_tatp_cycle_buffer_size=4096
OMPI_MCA_fcoll_tatp_shared_memory=false OMPI_MCA_fcoll_tatp_strategy=otp OMPI_MCA_io_ompio_num_aggregators=3"
cases=(even/all even/i_at_all ragged/split_all same_view_again/at_all several_files/all)
conform conformance "rank 0 has other values" run_here 4 --mca fcoll tatp \
    bash -c "((OMPI_COMM_WORLD_RANK)) || export ${others//$'\n'/ }; exec \"\$@\"" bash
tap_is "$(reports)" "$(tr ' ' '\n' <<<"$others" | sed 's/OMPI_MCA_\(.*\)=.*/\1 on some of the ranks 1 to 3/' | sort)" \
    "each is reported once, with the ranks"
tap_check "rank 0 records" test -s "$tap_dir/view.crs"
tap_check "rank 0 writes statistics" grep -q '"ranks": 4' "$tap_dir/stats.json"
tap_plan
