#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MCA parameters that differ between ranks: the value of rank 0 applies to all, and the difference is
# reported once.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1
. "$top_srcdir/tests/mpi/conformance.sh" || exit 1

need_component fcoll tatp
ranks=4
cases=(even/all even/i_at_all ragged/split_all same_view_again/at_all several_files/all)

# one_rank RANK NAME=VALUE... -- COMMAND...: parameters in the environment of one rank.
cat >"$tap_dir/one_rank" <<'END_OF_SCRIPT'
#!/bin/bash
rank=$1
shift
while [[ $1 != -- ]]; do
    [[ $rank != "$OMPI_COMM_WORLD_RANK" ]] || export "OMPI_MCA_$1"
    shift
done
shift
exec "$@"
END_OF_SCRIPT
chmod +x "$tap_dir/one_rank"

# differing RANK "NAME=VALUE ..." MCA-ARGUMENT...: runs the cases; output in $tap_dir/output.
differing() {
    local rank=$1 values
    read -ra values <<<"$2"
    conform conformance "rank $rank has $2" run_noted "$ranks" --mca fcoll tatp "${@:3}" \
        "$tap_dir/one_rank" "$rank" "${values[@]}" --
}

run_noted() {
    run_here "$@" 2>&1 | tee "$tap_dir/output"
}

# reports: the parameters that were reported, and for which ranks.
reports() {
    sed -n 's/^The MCA parameter \(.*\) is not the same .*/\1/p; s/^Its value \(.*\) differs from .*/\1/p' \
        "$tap_dir/output" | paste -sd ' ' -
}

# check_difference NAME VALUE MCA-ARGUMENT...: on the last rank, with the reports that are to be there.
check_difference() {
    differing 3 "fcoll_tatp_$1=$2" "${@:3}"
    tap_is "$(reports)" "fcoll_tatp_$1 on rank 3" "$1: reported once, with the rank"
}

two=(--mca fcoll_tatp_num_aggregators 2)
check_difference strategy latp_count "${two[@]}"
check_difference strategy nonsense "${two[@]}"
check_difference objective congestion "${two[@]}"
check_difference solver aps "${two[@]}"
check_difference domains stripe "${two[@]}" --mca fcoll_tatp_stripe_size 64 --mca fcoll_tatp_stripe_count 2
check_difference num_aggregators 3 "${two[@]}"
check_difference num_aggregators 2
check_difference cycle_buffer_size 4096 "${two[@]}"
check_difference message_size 1024 "${two[@]}"
check_difference unit_size 128 "${two[@]}" --mca fcoll_tatp_domains fitted
check_difference stripe_size 100 "${two[@]}"
check_difference stripe_count 3 "${two[@]}" --mca fcoll_tatp_stripe_size 64
check_difference shared_memory false "${two[@]}"
check_difference topology "$tap_dir/none" "${two[@]}"
check_difference targets "$tap_dir/none" "${two[@]}"
check_difference storage_weight 2 "${two[@]}"
check_difference layout fit "${two[@]}"
check_difference record_weight bytes --mca fcoll_tatp_record "$tap_dir/weight.crs"
check_difference record "$tap_dir/foreign.crs"
check_difference stats "$tap_dir/foreign.json" "${two[@]}"
tap_check_fails "the last rank records nothing" test -e "$tap_dir/foreign.crs"
tap_check_fails "the last rank writes no statistics" test -e "$tap_dir/foreign.json"
differing 3 "io_ompio_bytes_per_agg=8192 io_ompio_num_aggregators=3"
tap_is "$(reports)" "io_ompio_bytes_per_agg on rank 3 io_ompio_num_aggregators on rank 3" "parameters of OMPIO"
differing 3 fcoll_tatp_priority=60
tap_is "$(reports)" "" "the priority of a component that is used may differ"
differing 3 fcoll_tatp_priority=-1
tap_is "$(reports)" "" "and be below 0"

# Rank 0 alone: its values apply to all.
differing 0 "fcoll_tatp_record=$tap_dir/view.crs fcoll_tatp_stats=$tap_dir/stats.json fcoll_tatp_stripe_size=100"
tap_is "$(reports | tr ' ' '\n' | grep -c ^fcoll)" 3 "three parameters of rank 0: all reported"
tap_contains "$(reports)" "on some of the ranks 1 to 3" "three parameters of rank 0: the ranks that differ"
tap_check "rank 0 records" test -s "$tap_dir/view.crs"
tap_check "rank 0 writes statistics" grep -q '"ranks": 4' "$tap_dir/stats.json"
differing 0 "fcoll_tatp_stripe_size=100 fcoll_tatp_message_size=1024 fcoll_tatp_cycle_buffer_size=4096 \
    fcoll_tatp_shared_memory=false fcoll_tatp_num_aggregators=3 fcoll_tatp_strategy=otp"
tap_plan
