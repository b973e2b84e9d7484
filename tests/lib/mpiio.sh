# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What the tests of libtatp-mpiio.so share: programs under MPICH, or whatever MPI it was built for. Source it from bash.

# shellcheck disable=SC2034 # used by those who source it
. "$top_srcdir/tests/lib/mpi.sh" || exit 1
programs=$top_builddir/tests/mpiio
library=$top_builddir/preload/other/libtatp-mpiio.so
# MPICH waits without a pause, and these machines have more ranks than processors.
pause=$programs/.libs/pause.so
environment=()

# need_other: an MPI for which the library is built.
need_other() {
    [[ -e $library ]] && return
    tap_absent other-mpi
    tap_skip_all "there is no other MPI than Open MPI (apt-get install mpich libmpich-dev)"
}

# other RANKS COMMAND...: mpiexec on this machine, with the library and the variables of $environment.
other() {
    timeout --kill-after=5 "${RUN_LIMIT:-$HANG_LIMIT}" \
        env LD_PRELOAD="${preloaded-$library}:$pause" "${environment[@]}" "$OTHER_MPIEXEC" -n "$@"
}

# other_on_cluster RANKS COMMAND...: by hydra on the cluster, or on $hosts of it, whose nodes share no memory: by TCP alone.
other_on_cluster() {
    [[ -n ${hosts-} ]] || hosts=$(sed 's/ slots=/:/' "$TMPDIR/tatp-cluster-$UID/$cluster_name/hosts")
    echo "$hosts" >"$tap_dir/hosts"
    timeout --kill-after=5 "${RUN_LIMIT:-$HANG_LIMIT}" "$CLUSTER" exec --name "$cluster_name" \
        env UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 "${environment[@]}" "$OTHER_MPIEXEC" -launcher rsh -launcher-exec "$top_srcdir/tests/cluster/agent" \
        -iface spine -f "$tap_dir/hosts" -genv LD_PRELOAD "${preloaded-$library}:$pause" -n "$@"
}

# openmpi RANKS COMMAND...: the same library, built for Open MPI, whose own components stay out.
openmpi() {
    local rank_variables=() variable
    for variable in LD_PRELOAD="${preloaded-$top_builddir/preload/openmpi/libtatp-mpiio.so}" "${environment[@]}"; do
        rank_variables+=(-x "$variable")
    done
    run_here "$1" --mca fcoll ^tatp "${rank_variables[@]}" "${@:2}"
}

# The cases of the program conformance whose accesses the library carries out itself: what is left to ROMIO has ROMIO's
# faults, such as bytes that it writes between pieces of data.
served_cases() {
    "$programs/conformance" --list | grep -vE \
        'ordered|^(intermixed|external32|count_|threads|progress_elsewhere)|^communicator/self'
}

# build COMPILER NAME: a program of tests/mpiio
build() { "$1" -O1 -pthread -o "$tap_dir/$2" "$top_srcdir/tests/mpiio/$2.c" || exit 1; }

# types COMPILER COMMAND...: datatypes by all constructors of all predefined ones, all of them carried out by the library.
types() {
    local cases
    build "$1" types
    environment=(TATP_STATS="$tap_dir/calls-$2")
    tap_check "datatypes, $2" "${@:2}" "$tap_dir/types" "$tap_dir/data" 1
    cases=$(sed -n 's/\([0-9]*\) cases,.*/\1/p' <<<"$tap_output")
    tap_is "$(grep -c '"op"' "$tap_dir/calls-$2")" "$((2 * cases))" "datatypes, $2: by the library"
    environment=()
}

# threads COMPILER COMMAND...: several of them in each rank
threads() {
    build "$1" threads
    tap_check "threads, $2" "${@:2}"
}

# nonblocking COMPILER COMMAND RANKS...: calls that run while the program does something else
nonblocking() {
    local ranks
    build "$1" nonblocking
    RUN_LIMIT=100
    for ranks in "${@:3}"; do
        tap_check "non-blocking calls, $2, $ranks ranks" "$2" "$ranks" "$tap_dir/nonblocking" "$tap_dir/data"
    done
    RUN_LIMIT=600
}
