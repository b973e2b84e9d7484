#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Errors of the system: an error on all ranks, no hang, and a file that can be used afterwards.
# Accesses that fail (inject.c), mapped pages, a full file system, and a rank that dies. tests/simulate has errors of each
# kind in every call, tests/faults each system call and allocation of the component.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
# Open MPI 6 overwrites mmap and madvise with its own, also those of inject.c.
export OMPI_MCA_memory=^patcher

cases=([wr]\* delayed/handler pages/\* no_request)
conform conformance_faults "4 ranks" run_here 4 --mca fcoll tatp
# Open MPI takes locks, as 5.0.7 does by itself.
cases=(pages/\* locked_pages/\*)
conform conformance_faults "4 ranks, locks" run_here 4 --mca fcoll tatp --mca fs_ufs_lock_algorithm 3
start_cluster
# Nodes of several ranks, whose lowest speaks for all.
cases=(no_request delayed/write)
conform conformance_faults "6 ranks, cluster" run -np 6 --map-by slot --mca fcoll tatp
stop_cluster

export -f run_here
# mounted SETUP RANKS ARGUMENT...: mpirun where the shell commands SETUP were run before.
mounted() { "${private[@]}" bash -c "$1"' && run_here "$@"' - "${@:2}"; }

mkdir "$tap_dir/mount"
full="mount -t tmpfs -o size=4m tmpfs '$tap_dir/mount'"
cases=(full/all full_holes/all full/i_at_all full_holes/i_at_all)
if "${private[@]}" bash -c "$full" 2>/dev/null; then
    case_dir=$tap_dir/mount conform conformance_faults "4 ranks" mounted "$full" 4 --mca fcoll tatp
else
    tap_skip "4 ranks: a full file system" "this system permits no mounts"
fi

# shellcheck disable=SC2016 # for the shell inside
# killed CASE: mpirun's output on one line (PRRTE breaks its own), and in the file left what is in /dev/shm after a
# rank was killed. Open MPI's own segments are named so.
killed() {
    local list='ls -A /dev/shm | grep -Ev "^(vader|sm)_segment" >"$0/left"'
    "${private[@]}" bash -c 'mount -t tmpfs tmpfs /dev/shm || exit; run_here "$@"; status=$?; '"$list"'; exit $status' "$tap_dir" \
        4 --mca fcoll tatp "$programs/conformance_faults" --dir "$files" "$1" 2>&1 | tr -s '\0\n' ' '
}

for who in killed/writer killed/other killed/sharing; do
    if "${private[@]}" mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        tap_contains "$(killed "$who")" "exited on signal 9" "$who: mpirun ends and says so"
        tap_is "$(cat "$tap_dir/left")" "" "$who: nothing is left in /dev/shm"
    else
        tap_skip "$who" "this system permits no mounts"
    fi
done
tap_plan
