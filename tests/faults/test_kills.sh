#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals at random moments for a random rank: the job ends, or goes on after SIGSTOP and SIGCONT;
# nothing is left behind but what the next job removes, and the record is a whole one. TEST_SEED
# chooses the moments.
. "$top_srcdir/tests/lib/faults.sh" || exit 1

kills=200
tap_full || kills=6
RANDOM=${TEST_SEED:-1}
stuck=0
versions=0
declare -A counted=() failed=()

# The job, and then what is in /dev/shm. Open MPI's own segments and semaphores are named so; sem_open makes a semaphore
# under a name of its own, sem.??????, before that.
victims() {
    job 4 "$@"
    status=$?
    find /dev/shm -mindepth 1 ! -name 'vader_segment*' ! -name 'sm_segment*' ! -name 'sem.OMPIO_*' ! -name 'sem.??????' \
        >"$tap_dir/left"
    return "$status"
}
export -f victims

# processes FILE: of the ranks that have begun.
processes() { sed -n 's/^process \([0-9]*\)$/\1/p' "$1"; }

# hurt SIGNAL PROCESS MILLISECONDS
hurt() {
    sleep "$(printf '0.%03d' "$3")"
    kill -s "$1" "$2" 2>/dev/null || return
    if [[ $1 == STOP ]]; then
        sleep 0.1
        kill -s CONT "$2" 2>/dev/null
    fi
}

# are_gone PROCESS...: none of them runs any more, though its parent may not have asked how it ended.
are_gone() { ! ps -o stat= -p "$(IFS=,; echo "$*")" | grep -qv '^Z'; }

# await JOB LAUNCHER PROCESS...: until the job ends. PMIx 4.2 can lock itself up in mpirun when a rank dies that has just
# connected: such a launcher is ended some time after its ranks have.
await() {
    local tenths=0
    while kill -0 "$1" 2>/dev/null && ((tenths < 300)); do
        sleep 0.1
        if are_gone "${@:3}"; then tenths=$((tenths + 1)); else tenths=0; fi
    done
    if ((tenths == 300 && $2 > 1)) && kill -KILL "$2" 2>/dev/null; then
        stuck=$((stuck + 1))
    fi
    wait "$1"
}

# fail NAME TEXT
fail() { failed[$1]+="$2"$'\n'; }

# next_job_removes SIGNAL: the new version that a process left which was killed before it replaced the old one.
next_job_removes() {
    versions=$((versions + 1))
    apart bash -c 'job 4 "$@"' - "${recording[@]}" "$soak" --dir "$files" --opens 2 --calls 4 --no-comparison \
        >"$tap_dir/output" 2>&1 || fail "$1" "the next job fails: $(<"$tap_dir/output")"
}

# inspect SIGNAL STATUS: what a job has left.
inspect() {
    (($2 != 124)) || fail "$1" "the job hangs: $(<"$tap_dir/output")"
    [[ $1 != STOP || $2 -eq 0 ]] || fail "$1" "the job fails with $2: $(<"$tap_dir/output")"
    [[ ! -s $tap_dir/left || ${#private[@]} -eq 0 ]] || fail "$1" "left in /dev/shm: $(<"$tap_dir/left")"
    [[ $1 == STOP || $(beside_record) != "$view.new" ]] || next_job_removes "$1"
    left=$(beside_record)
    [[ -z $left ]] || fail "$1" "left beside the record: $left"
    [[ ! -e $view ]] || "$TOOLS_DIR/dla" show "$view" >/dev/null || fail "$1" "the record is damaged"
}

# kill_one SIGNAL
kill_one() {
    local signal=$1 rank=$((RANDOM % 4)) delay=$((RANDOM % 500)) pids job launcher status
    counted[$signal]=$((${counted[$signal]-0} + 1))
    : >"$tap_dir/output"
    apart bash -c 'victims "$@"' - "${recording[@]}" "$soak" --dir "$files" --opens 100 --calls 400 --no-comparison \
        >"$tap_dir/output" 2>&1 &
    job=$! # process substitutions set $!, too
    until mapfile -t pids < <(processes "$tap_dir/output") && ((${#pids[@]} > rank)); do
        kill -0 $job 2>/dev/null || break
        sleep 0.01
    done
    if ((${#pids[@]} > rank)); then
        launcher=$(($(ps -o ppid= -p "${pids[0]}")))
        hurt "$signal" "${pids[rank]}" $delay
        await $job $launcher "${pids[@]}"
        status=$?
        inspect "$signal" $status
    else
        fail "$signal" "the job ends before rank $rank begins: $(<"$tap_dir/output")"
    fi
    rm -rf "${record:?}"/* "$files"/soak.*
}

signals=(KILL TERM STOP)
export tap_dir
for ((i = 0; i < kills; i++)); do kill_one "${signals[RANDOM % 3]}"; done
for signal in "${!counted[@]}"; do
    name="${counted[$signal]} x SIG$signal"
    if [[ -z ${failed[$signal]-} ]]; then tap_ok "$name"; else tap_not_ok "$name" "${failed[$signal]}"; fi
done
tap_diag "$stuck times mpirun did not end though all ranks had"
tap_diag "$versions times a new version of the record was left, and the next job began with it"
tap_plan
