#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tatp doctor FOLDER: distributed file systems, and some that are incoherent on purpose, between nodes of a test cluster.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
[[ -w /dev/fuse && $EUID == 0 ]] || tap_skip_all "needs root and /dev/fuse"
cluster_options=(--nodes 2)
need_cluster
PATH=$TOOLS_DIR:$PATH
export agent=$top_srcdir/tests/cluster/agent delayed=$top_builddir/tests/cluster/delayed
export OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH

# examine: what the doctor says of the folder that node 0 sees, its exit status, and what it leaves there
examine() {
    "$agent" n0 "tatp doctor --limit $HANG_LIMIT $CLUSTER_STORAGE/here -- --hostfile $CLUSTER_STATE/hosts 2>&1"
    echo "status $?: $(ls -A "$CLUSTER_STORAGE/mnt/n0")"
}

# between_mounts OPTIONS FOLDER COMMAND...: as tests/cluster/storage, with mounts of delayed
between_mounts() {
    export CLUSTER_STORAGE=$2
    mkdir -p "$2"/{backing,here,mnt/n0,mnt/n1}
    for node in n0 n1; do "$delayed" -o "$1" "$2/backing" "$2/mnt/$node" || return; done
    "${@:3}"
    umount "$2"/mnt/*
}
export -f examine between_mounts

# in_cluster COMMAND...
in_cluster() { timeout --kill-after=5 "$HANG_LIMIT" "$CLUSTER" exec --name "$cluster_name" bash -c '"$@" 2>&1' - "$@" </dev/null; }

# says NAME STATUS TEXT: $output ends with this status, leaves nothing, and says this for tatp
says() {
    tap_is "$(sed -n "s/^for tatp *\($3\).*/\1/p; s/^status //p" <<<"$output" | xargs)" "$3 $2:" "$1: $3"
    [[ $output == *"status $2: " ]] || tap_diag "$output"
}

while read -r system status text; do
    mkdir "$tap_dir/$system"
    output=$(in_cluster "$top_srcdir/tests/cluster/storage" "$system" "$tap_dir/$system" bash -c examine)
    if [[ $? == 77 ]]; then
        tap_skip "$system" "$output"
    else
        says "$system" "$status" "$text"
    fi
done <<'END_OF_SYSTEMS'
ceph 0 coherent
gluster 5 not for files that
gluster-nocache 0 right by fsync
moosefs 0 right by fsync
sshfs 5 not for files that some nodes read
END_OF_SYSTEMS

if [[ ! -x $delayed ]]; then
    tap_skip "incoherent on purpose" "fuse3 was not found (apt-get install libfuse3-dev fuse3)"
    tap_plan
    exit
fi
while read -r options algorithm status text; do
    export OMPI_MCA_fs_ufs_lock_algorithm=$algorithm
    output=$(in_cluster bash -c 'between_mounts "$@"' - "$options" "$tap_dir/$options" examine)
    says "$options, locks $algorithm" "$status" "$text"
    rm -r "${tap_dir:?}/$options"
done <<'END_OF_OPTIONS'
rw 0 0 coherent
delay 0 0 right by fsync
delay,stale,locks 0 0 right by fsync
pages 0 5 not for files that several nodes write: bytes beside
lies,locks 0 4 needs --mca fs_ufs_lock_algorithm 3
lies,locks 3 0 right by locks
stale 3 0 right by locks
stale=ever 0 5 not for files
END_OF_OPTIONS
tap_plan
