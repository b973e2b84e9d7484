#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Distributed file systems on a test cluster: each comes up, a node reads what another wrote, and nothing is left.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_cluster
[[ -w /dev/fuse && $EUID == 0 ]] || tap_skip_all "needs root and /dev/fuse"
export storage=$top_srcdir/tests/cluster/storage agent=$top_srcdir/tests/cluster/agent launch=$top_srcdir/tests/cluster/launch

# in_cluster FUNCTION SYSTEM FOLDER
in_cluster() { timeout --kill-after=5 "$HANG_LIMIT" "$CLUSTER" exec --name "$cluster_name" bash -c '"$@" 2>&1' - "$@" </dev/null; }

# What is left of the script: processes, mounts, what is on them.
left() {
    ps -o args= -C ceph-mon,ceph-mds,ceph-osd,ceph-fuse,glusterfsd,glusterfs,mfsmaster,mfschunkserver,mfsmount,sshfs,sftp-server,sleep,storage
    grep -F "$1" /proc/mounts
    find "$1"/{here,mnt,servers} -type f
}

write_and_read() {
    "$agent" n0 "echo text >$CLUSTER_STORAGE/here/file"
    "$launch" -np 4 --map-by node cat "$CLUSTER_STORAGE/here/file" "$CLUSTER_STORAGE/mnt/n2/file" | uniq -c
    return 3
}

ends_by_itself() {
    "$storage" "$1" "$2" bash -c write_and_read
    echo "status $?"
    left "$2"
}

ends_by_signal() {
    env --default-signal=INT "$storage" "$1" "$2" bash -c 'echo up && exec sleep 1000' >"$2/up" &
    until [[ -s $2/up ]]; do kill -0 $! || break; sleep 0.1; done
    rm "$2/up"
    kill -s "$3" $!
    wait $!
    echo "status $?"
    left "$2"
}

# lacks SYSTEM FOLDER PROGRAM
lacks() {
    mount --bind /dev/null "$(PATH=$PATH:/usr/sbin command -v "$3")"
    "$storage" "$1" "$2" true
    echo "status $?"
}
export -f left write_and_read ends_by_itself ends_by_signal lacks

while read -r system program; do
    folder=$tap_dir/$system
    mkdir "$folder"
    output=$(in_cluster "$storage" "$system" "$folder" true)
    if [[ $? == 77 ]]; then
        tap_skip "$system" "$output"
        continue
    fi
    tap_is "$output" "" "$system: comes up"
    tap_is "$(in_cluster ends_by_itself "$system" "$folder")" "      8 text"$'\n'"status 3" "$system: nodes read what another wrote, nothing is left"
    tap_is "$(in_cluster ends_by_signal "$system" "$folder" TERM)" "status 143" "$system: ends by SIGTERM"
    tap_is "$(in_cluster ends_by_signal "$system" "$folder" INT)" "status 130" "$system: ends by SIGINT"
    tap_is "$(in_cluster lacks "$system" "$folder" "$program")" "storage: $program is not installed"$'\n'"status 77" "$system: says that $program is missing"
done <<'END_OF_SYSTEMS'
ceph ceph-mds
gluster glusterfsd
gluster-nocache glusterfsd
moosefs mfsmaster
sshfs sshfs
END_OF_SYSTEMS
tap_plan
