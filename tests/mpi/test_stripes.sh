#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Who accesses which stripe: each rank's accesses to the file are noted and compared with the rules.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
seed=${TEST_SEED:-1}

# check NAME RANKS CASES [MCA-ARGUMENT...] [-- PROGRAM-ARGUMENT...]: on this machine.
check() {
    local name="$1, $2 ranks" ranks=$2 cases arguments=()
    cases=$(random_cases "$3")
    shift 3
    while [[ $# -gt 0 && $1 != -- ]]; do
        arguments+=("$1")
        shift
    done
    tap_check "$name" run_here "$ranks" --mca fcoll tatp "${arguments[@]}" \
        "$programs/stripes" --seed "$seed" --cases "$cases" --dir "$files" "${@:2}"
}

for ranks in 1 2 4 7; do
    check "told by hints" $ranks 60
done
check "even domains" 4 60 --mca fcoll_tatp_domains even -- --domains even
check "stripe, one target or more" 5 60 --mca fcoll_tatp_domains stripe -- --domains stripe
check "OMPIO locks the file" 4 40 --mca fs_ufs_lock_algorithm 2 -- --locked=whole
check "OMPIO locks what is accessed" 4 40 --mca fs_ufs_lock_algorithm 3 -- --locked=bytes
check "windows of their own" 4 40 --mca fcoll_tatp_shared_memory false
check "told by hints" 16 20

# told COUNT AGGREGATORS: what the run and the program are told alike.
told() {
    mca=(--mca fcoll_tatp_stripe_count "$1" --mca fcoll_tatp_num_aggregators "$2"
        --mca fcoll_tatp_stripe_size 1000 --mca fcoll_tatp_cycle_buffer_size 2500)
    program=(-- --stripe 1000 --targets "$1" --aggregators "$2" --cycle 2500)
}

for numbers in 6,4 4,6 3,7 1,5 7,7; do
    told "${numbers%,*}" "${numbers#*,}"
    check "told by parameters: stripe count ${numbers%,*}, ${numbers#*,} aggregators" 7 20 "${mca[@]}" "${program[@]}"
done
check "a hint comes before its parameter" 4 30 --mca fcoll_tatp_stripe_size 12345

# The file system says so: a component in place of the one for Lustre.
mkdir "$tap_dir/components"
cp "$programs/.libs/mca_fs_striped.so" "$tap_dir/components"
export OMPI_MCA_mca_base_component_path=$tap_dir/components:$TATP_COMPONENT_PATH
lustre=(--mca fs_striped_size 700 --mca fs_striped_count 4)
others=(--mca fcoll_tatp_num_aggregators 3 --mca fcoll_tatp_cycle_buffer_size 2100)
program=(-- --targets 4 --aggregators 3 --cycle 2100)
check "told by the file system" 7 20 "${lustre[@]}" "${others[@]}" "${program[@]}" --stripe 700
check "a parameter comes before the file system" 7 20 "${lustre[@]}" "${others[@]}" \
    --mca fcoll_tatp_stripe_size 900 "${program[@]}" --stripe 900
export OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH

# array RANKS [ARGUMENT...]: one array, every byte checked.
array() {
    run_here "$1" --mca fcoll tatp "${@:2}" "$cube" --size 24x20x18 --verify --file "$files/cube" 2>&1
}

told 4 7
tap_contains "$(array 7 "${mca[@]}" --mca fcoll_base_verbose 20)" \
    "4 aggregators in place of 7" "another number of aggregators is told"
told 4 4
tap_is "$(array 7 "${mca[@]}" --mca fcoll_base_verbose 20 | grep -c "in place of")" 0 \
    "nothing is told of a number that is possible"

# A record says the same whatever is known of stripes, and then what is known.
array 4 --mca fcoll_tatp_record "$tap_dir/plain.crs" >"$tap_dir/out"
array 4 "${mca[@]}" --mca fcoll_tatp_record "$tap_dir/striped.crs" >"$tap_dir/out"
own=(-e "^% run" -e "^% began" -e "^% written")
tap_is "$(grep -v "${own[@]}" -e DIVISION "$tap_dir/striped.crs")" "$(grep -v "${own[@]}" "$tap_dir/plain.crs")" \
    "the record does not depend on stripes"
tap_is "$(grep -c "^DIVISION 0 4 1000 4 0$" "$tap_dir/striped.crs")" "$(grep -c "^ACCESS" "$tap_dir/striped.crs")" \
    "it says what is known of them"

start_cluster
cases=$(random_cases 30)
for ranks in 4 7 16; do
    for domains in auto stripe; do
        tap_check "$ranks ranks, four nodes, domains $domains" run -np $ranks --map-by node --mca fcoll tatp \
            --mca fcoll_tatp_domains $domains "$programs/stripes" --domains $domains --seed "$seed" --cases "$cases" --dir "$files"
    done
done

# An attribute of the file says so: in place of the clients of Lustre and CephFS. The latter locks no stripes.
# recorded FILE-SYSTEM [MCA-ARGUMENT...]: the divisions that the record says.
recorded() {
    run -np 4 --map-by node -x LD_PRELOAD="$programs/.libs/stripe_calls.so" -x STRIPE_CALLS="$1" --mca fcoll tatp "${@:2}" \
        --mca fcoll_tatp_record "$tap_dir/$1.crs" "$cube" --size 24x20x18 --file "$files/cube" >"$tap_dir/out" 2>&1 || cat "$tap_dir/out"
    grep ^DIVISION "$tap_dir/$1.crs" | sort -u
    rm -f "$tap_dir/$1.crs"
}
tap_is "$(recorded lustre)" "DIVISION 0 0 700 4 0" "Lustre: the stripes are known"
tap_is "$(recorded ceph)" "" "CephFS: domains are as without stripes"
tap_is "$(recorded ceph --mca fcoll_tatp_domains stripe)" "DIVISION 2 0 700 4 0" "CephFS: unless they are to be striped"
tap_plan
