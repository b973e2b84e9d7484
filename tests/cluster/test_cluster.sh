#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of the test cluster. What it needs and does not find is a skip with the reason.
set -u
. "$top_srcdir/tests/lib/tap.sh" || exit 1

# Started in the background of a script, it and all that it starts would ignore SIGINT, and bash
# can trap no signal that was ignored when it began.
if [[ $(trap -p INT) == *"''"* ]] && env --default-signal=INT true 2>/dev/null; then
    exec env --default-signal=INT "$BASH" "${BASH_SOURCE[0]}"
fi

tap_tempdir
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
scratch=$tap_dir
name=test-$$
# A copy, so that another user can read it wherever the sources are.
cp -- "$here/cluster" "$here/network" "$here/session" "$here/launch" "$here/agent" "$here/rank" "$scratch/"
# PRRTE 3 may wait for ever for ranks that end before it knows that all have begun: here they stay for a moment.
# shellcheck disable=SC2016 # for the copy
sed -i 's/^exec "$@"$/env "$@"\nstatus=$?\nsleep 0.5\nexit $status/' "$scratch/rank"
chmod 0755 "$scratch"
cluster=$scratch/cluster
export TMPDIR=$scratch/tmp
mkdir -m 1777 "$TMPDIR"
states=$TMPDIR/tatp-cluster-$UID

clean_up() {
    local path
    for path in "$states"/*/; do
        "$cluster" down --name "$(basename "$path")"
    done
    rm -rf -- "$scratch"
} >/dev/null 2>&1
trap clean_up EXIT

# --- what a test says ---

# run_test TITLE NEEDS CALL: the call of a function that prints what is wrong and fails, or returns 0
run_test() {
    local need
    # Through a file: a pipe would wait for whatever a failed test left running.
    (
        for need in $2; do
            "need_$need"
        done
        $3 # with its arguments
    ) >"$scratch/output" 2>&1
    case $? in
    0) tap_ok "$1" ;;
    77) tap_skip "$1" "$(cat "$scratch/output")" ;;
    *) tap_not_ok "$1" "$(cat "$scratch/output")" ;;
    esac
}

wrong() {
    echo "$*"
    exit 1
}

skip() {
    echo "$*"
    exit 77
}

need_links() {
    [[ -z $no_links ]] || skip "$no_links"
}

need_mpi() {
    command -v mpirun >/dev/null || skip "mpirun is not installed"
}

need_send() {
    need_mpi
    [[ -x $scratch/send ]] || skip "mpicc is not installed"
}

# fresh NAME [UP-ARGUMENT...]
fresh() {
    "$cluster" up --name "$@" >/dev/null || wrong "up failed"
}

# run_in NAME MPIRUN_ARGUMENT...: a run in a cluster, which takes a second or two. One that hangs is a failure.
run_in() {
    timeout --kill-after=5 120 "$cluster" run --name "$@"
}

# --- what must not be left ---

setting() {
    sed -n "s/^$2=//p" "$states/$1/settings"
}

# network_of NAME: the cluster's network namespace, by the number that nothing else has while it lives.
network_of() {
    local first
    first=$(setting "$1" first)
    stat -L -c %i "/proc/${first%%:*}/ns/net"
}

processes_in() {
    local path
    for path in /proc/[0-9]*/ns/net; do
        [[ $(stat -L -c %i "$path" 2>/dev/null) == "$1" ]] && echo "$path"
    done
}

left_of() {
    local cluster_name=$1 network=${2-}
    [[ ! -e $states/$cluster_name ]] || echo "state: $(ls "$states/$cluster_name")"
    pgrep -af -- "$states/$cluster_name( |/|$)|--keep $cluster_name "
    grep -ls "$states/$cluster_name/" /proc/[0-9]*/mountinfo
    [[ -z $network ]] || processes_in "$network"
}

# comes_true COMMAND...: waits up to 5 minutes for it
comes_true() {
    local try
    for ((try = 0; try < 3000; try++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    return 1
}

waits_for() {
    comes_true "$@" || wrong "never true: $*"
}

is_gone() {
    [[ -z $(left_of "$@") ]]
}

# nothing_left NAME [NETWORK]
nothing_left() {
    comes_true is_gone "$@" || wrong "left behind: $(left_of "$@")"
}

# --- the tests ---

# refused STATUS ARGUMENT...: one line on standard error, nothing on standard output
refused() {
    local status=$1 out
    shift
    out=$("$cluster" "$@" 2>"$scratch/error")
    [[ $? == "$status" ]] || wrong "cluster $*: not exit status $status: $(cat "$scratch/error")"
    [[ -z $out ]] || wrong "cluster $*: printed $out"
    [[ $(wc -l <"$scratch/error") == 1 ]] || wrong "cluster $*: not one line: $(cat "$scratch/error")"
}

up_once() {
    fresh "$name"
    refused 1 up --name "$name"
    "$cluster" status | grep -q "^$name: up, 4 nodes of 4 slots" || wrong "status: $("$cluster" status)"
}

ranks_on_nodes() {
    local expected
    expected=$(printf '%s\n' n0 n0 n0 n0 n1 n1 n1 n1 n2 n2 n2 n2 n3 n3 n3 n3)
    [[ $(run_in "$name" -np 16 hostname | sort) == "$expected" ]] || wrong "not 4 ranks on each node"
}

exit_status() {
    "$cluster" exec --name "$name" sh -c 'exit 7'
    [[ $? == 7 ]] || wrong "exec loses the exit status"
    need_mpi
    run_in "$name" -np 2 true || wrong "run of true failed"
    run_in "$name" -np 2 false >/dev/null 2>&1 && wrong "run of false succeeded"
    run_in "$name" -np 17 true >/dev/null 2>&1 && wrong "17 ranks fit on 16 slots"
    return 0
}

# within LOW HIGH LINK:COLUMN... (3 up, 4 down): what passed by each
within() {
    local place found
    for place in "${@:3}"; do
        found=$(awk -F, -v link="${place%:*}" -v column="${place#*:}" '$1 == link { print $column }' "$scratch/links.csv")
        ((found >= $1 && found <= $2)) || wrong "$place: $found bytes, expected $1 to $2"
    done
}

# count_send HOSTS BYTES [TRANSPORT]: from the first of two hosts to the second
count_send() {
    "$cluster" links --name "$name" --reset
    run_in "$name" --transport "${3-ob1}" --host "$1" -np 2 --map-by node "$scratch/send" "$2" >/dev/null ||
        wrong "send failed"
    "$cluster" links --name "$name" --csv >"$scratch/links.csv"
}

# Each bound leaves 5 % for headers and acknowledgements, and 250 kB for launching.
counts_across_leaves() {
    local sent=20000000 most=21250000 total
    count_send n1:1,n2:1 "$sent"
    within "$sent" "$most" n1:3 n2:4 leaf0-spine:3 leaf1-spine:4
    within 1 1250000 n1:4 leaf0-spine:4 leaf1-spine:3
    within 0 250000 n0:3 n3:4
    total=$("$cluster" links --name "$name" --uplinks-total)
    ((total >= 2 * sent && total <= 2 * most + 2500000)) || wrong "total $total"
}

counts_inside_a_leaf() {
    count_send n2:1,n3:1 20000000
    within 20000000 21250000 n2:3 n3:4
    within 0 250000 leaf1-spine:3 leaf1-spine:4
}

# sleeping SECONDS: a number of seconds tells the processes of a test from all others
sleeping() {
    pgrep -f "^sleep $1\$"
}

not_sleeping() {
    ! sleeping "$1"
}

killed_run_ends() {
    local signal run
    for signal in INT TERM KILL; do
        # In a shell with job control, as at a terminal: otherwise bash has its jobs ignore SIGINT.
        set -m
        "$cluster" run --name "$name" -np 8 sleep "97531.$$" >/dev/null 2>&1 &
        run=$!
        set +m
        waits_for sleeping "97531.$$"
        kill -s "$signal" "$run"
        waits_for not_sleeping "97531.$$"
    done
    "$cluster" exec --name "$name" true || wrong "the cluster did not survive"
}

killed_holder_leaves_nothing() {
    local who pid network
    "$cluster" down --name "$name" || wrong "down failed"
    for who in keeper first unshare; do
        fresh "$name"
        network=$(network_of "$name")
        "$cluster" exec --name "$name" sleep "97533.$$" >/dev/null 2>&1 &
        waits_for sleeping "97533.$$"
        if [[ $who == unshare ]]; then
            pid=$(pgrep -f "^unshare .*/network $states/$name ")
        else
            pid=$(setting "$name" "$who")
        fi
        kill -KILL "${pid%%:*}"
        nothing_left "$name" "$network"
        waits_for not_sleeping "97533.$$"
    done
}

without_namespaces() {
    local -x CLUSTER_FORCE_NO_NAMESPACES=1
    if command -v prterun >/dev/null; then
        refused 1 up --name "$name"
        [[ ! -e $states/$name ]] || wrong "there is state"
        return
    fi
    "$cluster" up --name "$name" 2>"$scratch/error" >/dev/null || wrong "up failed"
    [[ $(wc -l <"$scratch/error") == 1 ]] || wrong "not one line: $(cat "$scratch/error")"
    refused 77 links --name "$name"
    # shellcheck disable=SC2016 # for the rank's shell
    [[ $(run_in "$name" -np 16 sh -c 'echo "$OMPI_COMM_WORLD_LOCAL_SIZE"' | sort | uniq -c | xargs) == "16 4" ]] ||
        wrong "not 4 ranks on each node"
    if [[ -x $scratch/send ]]; then
        run_in "$name" -np 16 "$scratch/send" 5000000 >/dev/null || wrong "send failed"
    fi
    "$cluster" down --name "$name" || wrong "down failed"
    nothing_left "$name"
}

# --- all of them ---

no_links=''
possible=$("$cluster" check 2>&1) || no_links=$possible
if command -v mpicc >/dev/null; then
    mpicc -O2 -o "$scratch/send" "$here/send.c" || exit 1
fi
# A row: title, what is needed, function and arguments.
all=(
    "up, once for a name|links|up_once"
    "ranks stand on the nodes|links mpi|ranks_on_nodes"
    "exit status comes through|links|exit_status"
    "bytes between leaf switches are counted|links send|counts_across_leaves"
    "bytes inside a leaf stay off the uplinks|links send|counts_inside_a_leaf"
    "a killed run ends whole|links mpi|killed_run_ends"
    "a killed holder leaves nothing|links|killed_holder_leaves_nothing"
    "nodes without namespaces|mpi|without_namespaces"
)
for entry in "${all[@]}"; do
    IFS='|' read -r title needs call <<<"$entry"
    run_test "$title" "$needs" "$call"
done
tap_plan
