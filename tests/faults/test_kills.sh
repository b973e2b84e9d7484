#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals at random moments for a random rank: the job ends, or goes on after SIGSTOP and SIGCONT;
# nothing is left behind, and the record is a whole one. FAULT_SEED chooses the moments.
. "$top_srcdir/tests/faults/lib.sh"

kills=200
tap_part long || kills=6
RANDOM=${FAULT_SEED:-1}
declare -A counted=() failed=()

# The job, and then what is in /dev/shm; Open MPI's own segments and semaphores are named so.
victims() {
    job 4 "$@"
    status=$?
    find /dev/shm -mindepth 1 ! -name 'vader_segment*' ! -name 'sm_segment*' ! -name 'sem.OMPIO_*' >"$tap_dir/left"
    return "$status"
}
export -f victims

# processes FILE: of the ranks that have begun.
processes() {
    sed -n 's/^process \([0-9]*\)$/\1/p' "$1"
}

# hurt SIGNAL PROCESS MILLISECONDS
hurt() {
    sleep "$(printf '0.%03d' "$3")"
    kill -s "$1" "$2" 2>/dev/null || return
    if [[ $1 == STOP ]]; then
        sleep 0.1
        kill -s CONT "$2" 2>/dev/null
    fi
}

# fail NAME TEXT
fail() {
    failed[$1]+="$2"$'\n'
}

# inspect SIGNAL STATUS: what a job has left.
inspect() {
    (($2 != 124)) || fail "$1" "the job hangs: $(<"$tap_dir/output")"
    [[ $1 != STOP || $2 -eq 0 ]] || fail "$1" "the job fails with $2: $(<"$tap_dir/output")"
    [[ ! -s $tap_dir/left || ${#private[@]} -eq 0 ]] || fail "$1" "left in /dev/shm: $(<"$tap_dir/left")"
    left=$(find "$record" -mindepth 1 ! -name view.crs)
    [[ -z $left ]] || fail "$1" "left beside the record: $left"
    [[ ! -e $view ]] || "$TOOLS_DIR/dla" show "$view" >/dev/null || fail "$1" "the record is damaged"
}

# kill_one SIGNAL
kill_one() {
    local signal=$1 rank=$((RANDOM % 4)) delay=$((RANDOM % 500)) pids job status
    : >"$tap_dir/output"
    apart bash -c 'victims "$@"' - "${recording[@]}" "$soak" --dir "$files" --opens 100 --calls 400 --no-comparison \
        >"$tap_dir/output" 2>&1 &
    job=$! # process substitutions set $!, too
    until mapfile -t pids < <(processes "$tap_dir/output") && ((${#pids[@]} > rank)); do
        sleep 0.01
    done
    hurt "$signal" "${pids[rank]}" $delay
    wait $job
    status=$?
    counted[$signal]=$((${counted[$signal]-0} + 1))
    inspect "$signal" $status
    rm -rf "${record:?}"/* "$files"/soak.*
}

signals=(KILL TERM STOP)
export tap_dir
for ((i = 0; i < kills; i++)); do
    kill_one "${signals[RANDOM % 3]}"
done
for signal in "${!counted[@]}"; do
    name="${counted[$signal]} x SIG$signal"
    if [[ -z ${failed[$signal]-} ]]; then tap_ok "$name"; else tap_not_ok "$name" "${failed[$signal]}"; fi
done
tap_plan
