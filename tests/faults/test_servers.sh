#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Faults of servers and mounts while ranks on four nodes write and read a file of a distributed file system: each call ends with
# one error on all ranks, or with the right bytes. After a fault that goes by, all is right again.
. "$top_srcdir/tests/lib/faults.sh" || exit 1

need_cluster
[[ -w /dev/fuse && $EUID == 0 ]] || tap_skip_all "needs root and /dev/fuse"
export agent=$top_srcdir/tests/cluster/agent launch=$top_srcdir/tests/cluster/launch servers=$top_builddir/tests/faults/servers

process_of() { cat "$CLUSTER_STORAGE/log/$1.pid"; }

# The processes that serve the file, or one of two that do.
servers_of() {
    cd "$CLUSTER_STORAGE/servers" || return
    case $1 in
    ceph) for node in n0 n1 n2 n3; do process_of "osd-$node"; done ;;
    gluster*) process_of "$(echo n?/job/file | cut -d / -f 1)" ;;
    moosefs) process_of "$(find n?/data -name 'chunk*' | head -n 1 | cut -d / -f 1)" ;;
    sshfs) pgrep sftp-server ;;
    esac
}

# The faults, FAULT SYSTEM. Those that go by have gone when they return.
killed() { servers_of "$1" | xargs kill -KILL; }
unmounted() { process_of mount-n1 | xargs kill -KILL; }

# Of files' names and places; ceph's takes up what it wrote down.
restarted() {
    process_of mds | xargs kill -KILL
    ceph-mds -f -i a &
}

stopped() {
    servers_of "$1" | xargs kill -STOP
    sleep 10
    servers_of "$1" | xargs kill -CONT
}

ceph_ratios() { for ratio in nearfull backfillfull full; do ceph osd "set-$ratio-ratio" "$1"; done; }

# The file has 8 MB, and none when a round begins.
full() {
    local place=$CLUSTER_STORAGE/servers
    if [[ $1 == ceph ]]; then
        ceph_ratios 0.0001
        sleep 5
        ceph_ratios 0.95
    else
        until mount -o remount,size=4m "$place"; do sleep 0.01; done
        sleep 5
        mount -o remount,size=2g "$place"
    fi
}

# await_rounds COUNT WHICH: until so many more of these are done, or the job has ended. One that hangs is ended.
await_rounds() {
    local before tenths
    before=$(grep -c "^round$2" "$CLUSTER_STORAGE/said")
    for ((tenths = 0; tenths < 1200; tenths++)); do
        kill -0 "$job" 2>/dev/null && (($(grep -c "^round$2" "$CLUSTER_STORAGE/said") < before + $1)) || return
        sleep 0.1
    done
    kill -KILL "$job"
}

# under_fault SYSTEM FAULT write|read: in the cluster; what the job says is in FOLDER/said.
under_fault() {
    local job
    mkdir "$CLUSTER_STORAGE/mnt/n0/job"
    # Open MPI's own lockedfile may hang in MPI_File_open on GlusterFS.
    "$launch" -np 8 --map-by node --mca fcoll tatp --mca sharedfp ^lockedfile "$servers" "$CLUSTER_STORAGE/here/job/file" "$CLUSTER_STORAGE/stop" "$3" \
        >"$CLUSTER_STORAGE/said" 2>&1 &
    job=$!
    await_rounds 3 ": right"
    "$2" "$1"
    case $2 in killed | unmounted) await_rounds 4 ;; *) await_rounds 4 ": right" ;; esac
    touch "$CLUSTER_STORAGE/stop"
    wait "$job" || echo "status $?" >>"$CLUSTER_STORAGE/said"
}
export -f process_of servers_of killed unmounted restarted stopped ceph_ratios full await_rounds under_fault

# faults_in FILE FAULT: what is wrong in what a job said
faults_in() {
    grep -e '^wrong' -e '^status' "$1"
    [[ $(grep -c '^round: right' "$1") -ge 3 ]] || echo "not right before the fault"
    case $2 in killed | unmounted) ;; *) grep '^round' "$1" | tail -n 1 | grep -v right ;; esac
}

# Not here: CephFS waits for ever for an OSD that has gone without a replica; MooseFS takes a full disk for a broken one, and
# fsync over its quota waits for ever; plain reads of sshfs may take the end of its server for zeros.
while read -r system fault calls; do
    folder=$tap_dir/$system.$fault.$calls
    mkdir "$folder"
    timeout --kill-after=5 "$HANG_LIMIT" "$CLUSTER" exec --name "$cluster_name" "$top_srcdir/tests/cluster/storage" "$system" "$folder" \
        bash -c 'under_fault "$@"' - "$system" "$fault" "$calls" </dev/null >"$tap_dir/output" 2>&1
    if [[ $? == 77 ]]; then
        tap_skip "$system, $fault: $calls" "$(tail -n 1 "$tap_dir/output")"
        continue
    fi
    tap_lacks "$system, $fault: $calls" "$(faults_in "$folder/said" "$fault")"
    tap_diag "$(grep '^round' "$folder/said" | uniq -c)"
done <<'END_OF_FAULTS'
ceph restarted write
ceph stopped read
ceph full write
ceph unmounted write
gluster killed write
gluster stopped write
gluster full write
gluster unmounted read
gluster-nocache killed read
moosefs killed write
moosefs stopped read
moosefs unmounted write
sshfs stopped write
sshfs full write
sshfs unmounted read
END_OF_FAULTS
tap_plan
