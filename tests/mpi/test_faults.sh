#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Errors on one rank: an error on all ranks, no hang, and a file that can be used afterwards.
# The faults: accesses that fail (inject.c), limits of a process, a full and a read-only file system, and a
# rank that dies. tests/faults has allocations that fail.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1
. "$top_srcdir/tests/mpi/conformance.sh" || exit 1

need_component fcoll tatp
# Open MPI 6 overwrites mmap and madvise with its own, also those of inject.c.
export OMPI_MCA_memory=^patcher

# every_way NAME...: the cases of these names, by each kind of call with aggregators.
every_way() {
    local name
    cases=()
    for name; do
        cases+=("$name/*all")
    done
}

# here RANKS
here() {
    conform conformance_faults "$1 ranks" run_here "$1" --mca fcoll tatp
}

all=(write_eio write_late_eio write_full write_quota write_read_only write_nothing write_short \
    write_interrupted read_eio read_late_eio read_short read_interrupted file_size_limit \
    read_only_handle)
groups=(no_request many_groups forgotten_group no_shared_memory)
every_way "${all[@]}" address_space
cases+=("[wr]*/independent" pages/\* "${groups[@]}")
numbers=(4)
! tap_full || numbers=(1 2 4 7)
for ranks in "${numbers[@]}"; do
    here "$ranks"
done
# Open MPI takes locks, as 5.0.7 does by itself.
cases=(pages/\* locked_pages/\*)
conform conformance_faults "4 ranks, locks" run_here 4 --mca fcoll tatp --mca fs_ufs_lock_algorithm 3
every_way write_late_eio
conform conformance_faults "4 ranks, recorded" run_here 4 --mca fcoll tatp \
    --mca fcoll_tatp_record "$tap_dir/view.crs"
every_way "${all[@]}"
start_cluster
# Not address_space: over TCP Open MPI 4.1 itself dies when it has no memory for a message that nobody
# waits for yet.
every_way "${all[@]}"
conform conformance_faults "4 ranks, cluster" run -np 4 --map-by node --mca fcoll tatp
# Nodes of several ranks, whose lowest speaks for all.
every_way write_late_eio read_late_eio
cases+=("${groups[@]}")
conform conformance_faults "6 ranks, fitted domains" run -np 6 --map-by slot --mca fcoll tatp \
    --mca fcoll_tatp_domains fitted --mca fcoll_tatp_stripe_size 64
stop_cluster

# Mounts of this test's own: as root, or as the root of a name space of users.
private=(unshare --mount --propagation private)
"${private[@]}" true 2>/dev/null || private=(unshare --user --map-root-user "${private[@]:1}")

# mounted SETUP RANKS ARGUMENT...: mpirun where the shell commands SETUP were run before.
mounted() {
    local setup=$1
    timeout --kill-after=5 "$HANG_LIMIT" "${private[@]}" bash -c "$setup"' && exec "$@"' - \
        "$MPIRUN" --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np "${@:2}"
}

# on_mount CASE RANKS SETUP
on_mount() {
    every_way "$1"
    if "${private[@]}" bash -c "$3" 2>/dev/null; then
        case_dir=$tap_dir/mount conform conformance_faults "$2 ranks" mounted "$3" "$2" --mca fcoll tatp
    else
        tap_skip "$2 ranks: $1" "this system permits no mounts"
    fi
}

mkdir "$tap_dir/mount" "$tap_dir/content"
head -c 1000 /dev/zero | tr '\0' x >"$tap_dir/content/old"
full="mount -t tmpfs -o size=4m tmpfs '$tap_dir/mount'"
read_only="mount --bind '$tap_dir/content' '$tap_dir/mount' && mount -o remount,bind,ro '$tap_dir/mount'"
numbers=(4)
! tap_full || numbers=(1 4)
for ranks in "${numbers[@]}"; do
    on_mount full "$ranks" "$full"
    on_mount full_holes "$ranks" "$full"
    on_mount read_only_mount "$ranks" "$read_only"
done

# shellcheck disable=SC2016 # for the shell inside
# killed CASE: mpirun's output on one line (PRRTE breaks its own), and in the file left what is in /dev/shm after a
# rank was killed. Open MPI's own segments are named so.
killed() {
    local list='ls -A /dev/shm | grep -Ev "^(vader|sm)_segment" >"$0/left"'
    timeout --kill-after=5 "$HANG_LIMIT" "${private[@]}" bash -c \
        'mount -t tmpfs tmpfs /dev/shm || exit; "$@"; status=$?; '"$list"'; exit $status' "$tap_dir" \
        "$MPIRUN" --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 4 --mca fcoll tatp \
        "$programs/conformance_faults" --dir "$files" "$1" 2>&1 | tr -s '\0\n' ' '
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
