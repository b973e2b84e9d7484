# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by those who source it
#
# What the tests of the components share. Source it from bash, after tests/env.sh:
#     . "$top_srcdir/tests/lib/mpi.sh"
# FCOLL=individual (or another component) runs the tests that do not need tatp's own
# features against stock Open MPI.

. "$top_srcdir/tests/lib/tap.sh" || exit 1

export OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH
FCOLL=${FCOLL:-tatp}
cube=$BENCH_DIR/cube
contest=$BENCH_DIR/contest
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
        timeout --kill-after=5 "${RUN_LIMIT:-$HANG_LIMIT}" "$CLUSTER" run --name "$cluster_name" --transport "$transport" "$@"
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

# cached ARGUMENT...: as run, of four ranks: the files are on four nodes whose caches are not coherent.
cached() { run -np 4 --map-by node -x LD_PRELOAD="$programs/.libs/cache_calls.so" -x CACHE_CALLS="$files" "$@"; }

# array SIZE GRID ARGUMENT...: a run of mpirun by these, which writes and reads an array, and checks every byte. Its statistics
# are in $stats.
array() {
    rm -f "$stats"
    run --mca fcoll tatp --mca fcoll_tatp_stats "$stats" "${@:3}" "$cube" --size "$1" --grid "$2" --verify --file "$files/cube"
}

# Mounts of a test's own: as root, or as the root of a name space of users.
private=(unshare --mount --propagation private)
"${private[@]}" true 2>/dev/null || private=(unshare --user --map-root-user "${private[@]:1}")

# write_by FOLDER ARGUMENT...: four ranks write a file with the components of the folder, and Open MPI's. Sets said and status.
write_by() {
    # shellcheck disable=SC2034 # used by those who source this
    said=$(OMPI_MCA_mca_base_component_path=$1:$OMPI_PKGLIBDIR run_here 4 --mca io ompio "${@:2}" \
        "$cube" --size=16 --verify --file="$tap_dir/file" 2>&1 | tr -d '\0'; exit "${PIPESTATUS[0]}")
    status=$?
}

# is_error STATUS: Open MPI's own error, as for a component that is not there. In 4.1.0 it may be a crash.
is_error() { [[ $1 -gt 0 && $1 -ne 124 && ($1 -lt 124 || $OMPI_VERSION == 4.1.0) ]]; }

# random_cases COUNT: how many random cases run where COUNT are usual, as in tests/unit/seeded.h; by hand, $RANDOM_CASES_TIMES as
# many.
random_cases() {
    echo $((($1 * ${RANDOM_CASES_TIMES:-1} + ${RANDOM_CASES_DIVISOR:-1} - 1) / ${RANDOM_CASES_DIVISOR:-1}))
}

# random_views CASES FIRST NAME COMMAND...: so many random views, from the first one on, in one go of the command;
# $FORMS of calls: 1, blocking ones; 2, split ones, too; 3, non-blocking ones, too.
random_views() {
    tap_check "$3" "${@:4}" "$programs/views" --seed "${TEST_SEED:-1}" --first "$2" --cases "$(random_cases "$1")" --forms "${FORMS:-1}" --dir "$files"
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

# need_cluster: one with links that count is started.
need_cluster() {
    "$CLUSTER" check >"$tap_dir/check" 2>&1 || tap_skip_all "$(head -n 1 "$tap_dir/check")"
    start_cluster
    [[ -n $cluster_name ]] || tap_skip_all "there is no cluster here"
}

# two_leaves FILE: a topology of its four nodes. two_leaves FILE NODES NODES: with these on the leaf switches
two_leaves() {
    printf '%s\n' "SwitchName=leaf0 Nodes=n[${2-0-1}]" "SwitchName=leaf1 Nodes=n[${3-2-3}]" \
        "SwitchName=top Switches=leaf[0-1]" >"$1"
}

# by_transport NAME LABEL COMMAND...: the command, whose runs on the cluster use that transport; without it LABEL is skipped.
by_transport() {
    local transport=$1 reason
    if reason=$(has_transport "$1"); then "${@:3}"; else tap_skip "$2" "$reason"; fi
}

# uplinks: bytes over them since it was last asked
uplinks() { "$CLUSTER" links --name "$cluster_name" --uplinks-total --reset; }

# statistic KEY [FILE]: its value in the first line of statistics, of $stats or that file
stats=$tap_dir/stats.jsonl
statistic() { sed -n "s/.*\"$1\": \[\{0,1\}\([0-9]*\).*/\1/p; q" "${2:-$stats}"; }

# has_python MODULE...: whether there is a Python that has them
has_python() { [[ -n $PYTHON3 ]] && "$PYTHON3" -c "import sys${*/#/, }" 2>/dev/null; }

# rows FILE CONDITION: how many lines of a CSV file (-: of the input) fulfil it, an expression of python over r.
rows() {
    "$PYTHON3" -c 'import csv, sys
file = sys.stdin if sys.argv[1] == "-" else open(sys.argv[1])
print(sum(1 for r in csv.DictReader(file) if eval("(" + sys.argv[2] + ")")))' "$@"
}

# bench PROGRAM ARGUMENT...: one of bench/ in Python
bench() { timeout --kill-after=5 "$HANG_LIMIT" "$PYTHON3" "$top_srcdir/bench/$1" "${@:2}"; }

need_python() { [[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"; }

# missing_slurm: why there is none, or nothing
missing_slurm() {
    local program
    for program in slurmctld slurmd salloc sbatch srun; do
        command -v $program >/dev/null || echo "$program is not installed (apt-get install slurmctld slurmd slurm-client)"
    done | head -n 1
}

need_slurm() {
    local reason
    reason=$(missing_slurm)
    [[ -z $reason ]] || tap_skip_all "$reason"
}

# under_slurm FOLDER COMMAND...: in the cluster, with a Slurm of its own that knows FOLDER/topology.conf. Status 77: it does
# not run here, for a reason that is in $tap_dir/errors.
under_slurm() {
    timeout --kill-after=5 "$HANG_LIMIT" "$CLUSTER" exec --name "$cluster_name" \
        "$top_srcdir/tests/cluster/slurm" "$@" </dev/null 2>"$tap_dir/errors"
}

# need_slurm_run STATUS [ERRORS]: that of under_slurm, which is to be 0, and what it said if that is to be nothing
need_slurm_run() {
    [[ $1 != 77 ]] || tap_skip_all "Slurm does not run here: $(head -n 1 "$tap_dir/errors")"
    tap_is "$1${2-}" 0 "slurmctld and four slurmd run"
}

# decision FILE: what the plan of each call of statistics costs.
decision() { sed -n 's/.*"op": "\([a-z]*\)".*\("hop_bytes": .*"crossing_bytes": [0-9]*\).*/\1 \2/p' "$1"; }

# told FILE: without what Open MPI tells of its components.
told() { grep -v -e 'mca: base' -e 'fcoll:find' -e 'select:' "$1"; }

# ---- the conformance programs ----

# conform PROGRAM LABEL COMMAND...: runs "${cases[@]}", options and patterns, in one go of
# COMMAND, and tells a result for each. A case that a dead program did not come to is not ok. What was written is in
# $tap_dir/output.
conform() {
    local program=$programs/$1 name line shown=
    if [[ ! -x $program ]]; then
        tap_not_ok "$2: $program is not built"
        return
    fi
    "${@:3}" "$program" --limit "$HANG_LIMIT" --dir "${case_dir:-$files}" "${cases[@]}" 2>&1 | tr -d '\0' >"$tap_dir/output"
    while read -r name line; do
        case $line in
        ok*) tap_ok "$2: $name" ;;
        skip*) tap_skip "$2: $name" "${line#*# }" ;;
        not*) tap_not_ok "$2: $name" "${line#*# }" ;;
        *)
            tap_not_ok "$2: $name" "no result"
            [[ -n $shown ]] || tap_diag "${*:3} $program ${cases[*]}
$(tail -n 20 "$tap_dir/output")"
            shown=yes
            ;;
        esac
    done < <("$program" --list "${cases[@]}" | awk '
        FILENAME != "-" && match($0, /^(ok|skip|not ok) /) { split(substr($0, RLENGTH + 1), word, " "); result[word[1]] = $0 }
        FILENAME == "-" { print $1, result[$1] }' "$tap_dir/output" -)
}

# ---- a component that was built with other headers than those of the Open MPI that runs ----

need_skew() {
    skew_include=$("$MPICC" --showme:incdirs | tr ' ' '\n' | while read -r folder; do
        [[ ! -e $folder/openmpi/ompi_config.h && ! -e $folder/openmpi/ompi ]] || echo "$folder"
    done | head -n 1)
    [[ -n $skew_include ]] || tap_skip_all "Open MPI's headers are not in one folder"
}

# skew HEADER EXPRESSION: a copy of the headers in which sed has changed one, and in $tap_dir/components what was built
# with it.
skew() {
    rm -rf "$tap_dir/skew" && mkdir -p "$tap_dir/skew/${1%/*}" "$tap_dir/components" &&
        cp "$skew_include/${1%/*}"/*.h "$tap_dir/skew/${1%/*}" &&
        sed "$2" "$skew_include/$1" >"$tap_dir/skew/$1" && ! cmp -s "$skew_include/$1" "$tap_dir/skew/$1" &&
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$top_builddir" "$tap_dir/skew/mca_fcoll_tatp.la" &&
        cp "$tap_dir/skew/.libs/mca_fcoll_tatp.so" "$tap_dir/components"
}
