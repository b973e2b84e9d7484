#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Faults in the calls of one rank: each is without effect, or an error of the same class on all ranks,
# after which the file can be used. TEST_SEED chooses the samples. tests/mpiio/test_conformance.sh has some with another MPI.
. "$top_srcdir/tests/lib/faults.sh" || exit 1

# Restarts after faults that end the job, at most.
most_restarts=20
total=0 wrong=0

# note_parts LABEL: adds up the lines of a run, on standard input.
note_parts() {
    local line
    while read -r line; do
        case $line in
        "part "*)
            read -r _ part count _ good _ bad _ <<<"${line//[:,]/ }"
            [[ -n ${injected[$part]-} ]] || order+=("$part")
            injected[$part]=$((${injected[$part]-0} + count))
            outcome[$part]="${outcome[$part]-}${outcome[$part]+; }$count faults, $good without effect, $bad errors"
            ;;
        "wrong: "*)
            part=${line#wrong: }
            found[${part%% *}]+="${line#wrong: }"$'\n'
            ;;
        esac
    done
}

# inject LABEL COMMAND...: runs the program of faults until it comes to its end.
inject() {
    local label=$1 output after=() order=() part restart
    local -A injected=() outcome=() found=()
    for ((restart = 0; restart <= most_restarts; restart++)); do
        output=$("${@:2}" --dir "$files" --limit "$FAULT_LIMIT" "${sample[@]}" "${after[@]}" 2>&1 | tr -d '\0')
        note_parts <<<"$output"
        [[ $output != *"faults are done"* ]] || break
        after=(--after "$(sed 's/ *$//' "$files/current")")
        part=${after[1]%% *}
        [[ -n ${injected[$part]-} ]] || order+=("$part")
        injected[$part]=$((${injected[$part]-0} + 1))
        found[$part]+="${after[1]}: the job ended: $(tail -n 30 <<<"$output")"$'\n'
        [[ -n $part ]] || break
    done
    for part in "${order[@]}"; do
        if [[ -z ${found[$part]-} ]]; then
            tap_ok "$label: $part: ${outcome[$part]}"
        else
            tap_not_ok "$label: $part: ${outcome[$part]-}" "${found[$part]}"
            wrong=$((wrong + $(grep -c . <<<"${found[$part]}")))
        fi
        total=$((total + ${injected[$part]-0}))
    done
}

# sample_of COUNT: so many faults of the next run in `make check`, all in `make check-long`.
sample_of() {
    sample=()
    if ! tap_full; then
        sample=(--sample "$1" --seed "${TEST_SEED:-1}")
    fi
}

# once WHEN RANK FAULT: the output of a job that has the fault while it begins, or ends.
once() {
    SHIM_RANK=$2 SHIM_FAULT=$3 apart bash -c 'job 2 -x SHIM_RANK -x SHIM_FAULT "$@"' - "${recording[@]}" \
        "$faults" --dir "$files" --limit "$FAULT_LIMIT" --once "$1" 2>&1
}

# at_once WHEN MOST MOST_LONG: one job for each fault while a job begins, or ends; so many in `make check`
# and in `make check-long`.
at_once() {
    local rank faults_of call kind calls nth output status most=$2 count=0 failures=
    local -a all=()
    ! tap_full || most=$3
    for rank in 0 1; do
        faults_of=$(once "$1" $rank "memory fail 0" | sed -n 's/^hits 0, //p')
        while read -r call kind calls; do
            for ((nth = 1; nth <= calls; nth++)); do all+=("$rank $call $kind $nth"); done
        done <<<"${faults_of//, /$'\n'}"
    done
    [[ ${#all[@]} -eq 0 ]] || mapfile -t all < <(printf '%s\n' "${all[@]}" |
        shuf -n "$most" --random-source=<(yes "${TEST_SEED:-1}"))
    for each in "${all[@]}"; do
        output=$(once "$1" "${each%% *}" "${each#* }")
        status=$?
        [[ $output != *"hits 0"* ]] || continue
        count=$((count + 1))
        [[ $status -eq 0 ]] || failures+="$each: status $status: $(tail -n 20 <<<"$output")"$'\n'
    done
    tap_lacks "a job $1s: $count faults" "$failures"
    check_record "a job $1s"
    total=$((total + count))
}

sample_of 60
inject "one node" apart bash -c 'job 4 "$@"' - "$faults" "${segments[@]}"
sample_of 10
inject "one rank" apart bash -c 'job 1 "$@"' - "$faults" "${segments[@]}"
# As Open MPI 5.0.7 does by itself.
locked=(apart bash -c 'job 4 --mca fs_ufs_lock_algorithm 3 "$@"' - "$faults")
sample=()
inject "with locks" "${locked[@]}" write_pages
sample_of 60
inject "with locks" "${locked[@]}" write_all read_all
sample_of 20
inject "messages only" apart bash -c 'job 4 --mca fcoll_tatp_shared_memory 0 "$@"' - "$faults"
sample_of 40
inject "recorded" apart bash -c 'job 4 "$@"' - "${recording[@]}" "$faults" "${segments[@]}" --beside "$record"
check_record "recorded"
# The limit on plans is that of a group of ranks, of which there are many.
if [[ -n $PYTHON3 ]]; then
    tap_is "$("$PYTHON3" "$top_srcdir/tests/mpi/check_stats.py" "$tap_dir/stats.json" 2>&1 | grep -v '^lines\|^too many')" "" \
        "recorded: the lines of the statistics are right"
fi
rm -f "$view"
at_once begin 3 150
at_once end 3 50
tap_contains "$(once begin 1 "send last 1")" "The job ends" "messages that are refused end the job"
if [[ $OMPI_VERSION == 5.* ]]; then
    tap_skip "with spawned ranks" "in Open MPI 5.0.7 MPI_Intercomm_merge with spawned ranks does not return"
else
    sample_of 10
    inject "with spawned ranks" apart bash -c 'job 2 "$@"' - "$faults" --spawn 2 open close write_all iwrite_all
fi
start_cluster
sample_of 30
# Nodes of several ranks, whose lowest speaks for all.
inject "cluster, fitted domains" run -np 6 --map-by slot --mca fcoll tatp --mca fcoll_tatp_domains fitted \
    --mca fcoll_tatp_stripe_size 64 "$faults" open write_all read_all iwrite_all
stop_cluster
tap_diag "$total faults, $wrong wrong"
tap_plan
