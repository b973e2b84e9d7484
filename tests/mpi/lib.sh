# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by those who source it
#
# What the tests of the components share. Source it from bash, after tests/env.sh:
#     . "$top_srcdir/tests/mpi/lib.sh"
# FCOLL=individual (or another component) runs the tests that do not need tatp's own
# features against stock Open MPI.

. "$top_srcdir/tests/lib/tap.sh" || exit 1

export OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH
FCOLL=${FCOLL:-tatp}
cube=$BENCH_DIR/cube
programs=$top_builddir/tests/mpi
tap_tempdir

# The files lie where every run sees them: a run on the cluster has a /dev/shm of its own.
files=$tap_dir
cluster_name=
cluster_options=()
transport=ob1

stop_cluster() {
    [[ -z $cluster_name ]] || "$CLUSTER" down --name "$cluster_name"
    cluster_name=
}

# start_cluster: four nodes of four slots, two on a leaf switch, unless $cluster_options of `cluster up` ask for
# others. Without links that count where the system permits nothing more; without cluster at all on this machine
# alone.
start_cluster() {
    local output
    cluster_name=test-$$
    trap 'stop_cluster; rm -rf "$tap_dir"' EXIT
    if output=$("$CLUSTER" up --name "$cluster_name" --owner $$ "${cluster_options[@]}" 2>&1); then
        tap_diag "$output"
    else
        tap_diag "on this machine alone: $output"
        cluster_name=
        echo "localhost slots=16" >"$tap_dir/hosts"
    fi
}

# has_transport NAME: whether runs on the cluster can use it; if not, prints why.
has_transport() {
    if [[ -z $cluster_name ]]; then
        echo "needs nodes of the cluster"
        return 1
    fi
    "$CLUSTER" exec --name "$cluster_name" --transport "$1" true 2>&1
}

# run ARGUMENT...: mpirun on the cluster by $transport, or here.
run() {
    if [[ -n $cluster_name ]]; then
        timeout --kill-after=5 "${RUN_LIMIT:-$HANG_LIMIT}" "$CLUSTER" run --name "$cluster_name" \
            --transport "$transport" "$@"
    else
        timeout --kill-after=5 "${RUN_LIMIT:-$HANG_LIMIT}" "$MPIRUN" --hostfile "$tap_dir/hosts" --oversubscribe \
            --mca mpi_yield_when_idle 1 "$@"
    fi
}

# run_here RANKS ARGUMENT...: mpirun on this machine. Open MPI gets no other interface: those of a test cluster beside it come
# and go, and ranks that see different ones fail.
run_here() {
    timeout --kill-after=5 "${RUN_LIMIT:-$HANG_LIMIT}" "$MPIRUN" --oversubscribe --bind-to none \
        --mca mpi_yield_when_idle 1 --mca btl_tcp_if_include lo -np "$@"
}

# is_error STATUS: Open MPI's own error, as for a component that is not there. In 4.1.0 it may be a crash.
is_error() {
    [[ $1 -gt 0 && $1 -ne 124 && ($1 -lt 124 || $OMPI_VERSION == 4.1.0) ]]
}

# random_cases COUNT: how many random cases run where COUNT are usual, as in tests/unit/seeded.h.
random_cases() {
    echo $((($1 + ${RANDOM_CASES_DIVISOR:-1} - 1) / ${RANDOM_CASES_DIVISOR:-1}))
}

# has_component FRAMEWORK NAME: of Open MPI, or of its launcher; it may be inside Open MPI's libraries.
has_component() {
    [[ -e ${TATP_COMPONENT_PATH%%:*}/mca_$1_$2.so || -e ${TATP_COMPONENT_PATH%%:*}/prrte/prte_mca_$1_$2.so ]] ||
        "$OMPI_INFO" --parsable | grep -q "^mca:$1:$2:"
}

need_component() {
    has_component "$1" "$2" && return
    tap_absent "$1/$2"
    tap_skip_all "the component $1/$2 is not built"
}

# A cluster with links that count, which start_cluster makes.
need_cluster() {
    "$CLUSTER" check >"$tap_dir/check" 2>&1 || tap_skip_all "$(head -n 1 "$tap_dir/check")"
}

need_slurm() {
    local program
    for program in slurmctld slurmd salloc sbatch srun; do
        command -v $program >/dev/null ||
            tap_skip_all "$program is not installed (apt-get install slurmctld slurmd slurm-client)"
    done
}
