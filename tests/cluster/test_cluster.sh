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

help_names_all() {
    local text word
    text=$("$cluster" --help) || wrong "exit status $?"
    for word in up run exec links down status check; do
        grep -q "cluster $word" <<<"$text" || wrong "--help does not name $word"
    done
}

# refused STATUS ARGUMENT...: one line on standard error, nothing on standard output
refused() {
    local status=$1 out
    shift
    out=$("$cluster" "$@" 2>"$scratch/error")
    [[ $? == "$status" ]] || wrong "cluster $*: not exit status $status: $(cat "$scratch/error")"
    [[ -z $out ]] || wrong "cluster $*: printed $out"
    [[ $(wc -l <"$scratch/error") == 1 ]] || wrong "cluster $*: not one line: $(cat "$scratch/error")"
}

bad_arguments() {
    local bad
    refused 2
    for bad in '--nodes 0' '--nodes -1' '--nodes x' '--nodes 4x' '--nodes 08' '--nodes 1001' '--nodes 99999999999999999999' \
        '--leaf 0' '--slots 0' '--slots 1.5' '--link-rate 800' '--link-rate fast' '--link-rate -1mbit' \
        '--link-rate 0mbit' '--uplink-rate 1tbit' '--owner x' '--owner 999999998' '--name ../x' '--name .' \
        '--name a/b' '--nodes' '--unknown' 'extra'; do
        # shellcheck disable=SC2086 # words on purpose
        refused 2 up --name "$name" $bad
    done
    refused 2 up --name ''
    for bad in run 'run --name' "exec --name $name" "run --name $name --transport" \
        "run --name $name --transport pigeon -np 1 true" 'links --nonsense' 'down extra' 'status extra' 'check extra' upp; do
        # shellcheck disable=SC2086 # words on purpose
        refused 2 $bad
    done
    nothing_left "$name"
}

not_up() {
    refused 1 run --name "$name" -np 1 true
    refused 1 exec --name "$name" true
    refused 1 links --name "$name"
    "$cluster" down --name "$name" || wrong "down of no cluster: exit status $?"
}

unusable_state_folder() {
    ln -s "$scratch" "$scratch/link"
    TMPDIR=$scratch/none refused 1 up --name "$name"
    mkdir "$scratch/odd"
    ln -s "$scratch" "$scratch/odd/tatp-cluster-$UID"
    TMPDIR=$scratch/odd refused 1 up --name "$name"
}

up_once() {
    fresh "$name"
    refused 1 up --name "$name"
    "$cluster" status | grep -q "^$name: up, 4 nodes of 4 slots" || wrong "status: $("$cluster" status)"
}

no_bytes() {
    [[ $("$cluster" links --name "$name" --uplinks-total) == 0 ]] || wrong "bytes without a sender: $("$cluster" links --name "$name")"
}

quiet_links() {
    sleep 1
    no_bytes
}

ranks_on_nodes() {
    local expected
    expected=$(printf '%s\n' n0 n0 n0 n0 n1 n1 n1 n1 n2 n2 n2 n2 n3 n3 n3 n3)
    [[ $(run_in "$name" -np 16 hostname | sort) == "$expected" ]] || wrong "not 4 ranks on each node"
}

# All nodes have the same processors: bound to its node's first, each rank would share it with the others. Nor does
# the launcher complain of the settings.
ranks_are_not_bound() {
    local said allowed=(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    said=$(run_in "$name" -np 2 --map-by node "${allowed[@]}" 2>&1 | sort -u)
    [[ $said == "$("${allowed[@]}")" ]] || wrong "$said"
}

same_files() {
    # shellcheck disable=SC2016 # for the node's shell
    (cd "$scratch" && run_in "$name" -np 4 --map-by node sh -c 'touch "seen-$(hostname)"') || wrong "run failed"
    [[ -e $scratch/seen-n0 && -e $scratch/seen-n3 ]] || wrong "files of the nodes are not here: $(ls "$scratch")"
    [[ $(echo word | "$cluster" exec --name "$name" cat) == word ]] || wrong "standard input does not reach the command"
}

programs_as_with_mpirun() {
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\necho "$2"\n' >"$scratch/local" && chmod 755 "$scratch/local"
    (cd "$scratch" && run_in "$name" -np 2 local 1 '2 3 *' >"$scratch/said") || wrong "by name alone: $?"
    [[ $(<"$scratch/said") == $'2 3 *\n2 3 *' ]] || wrong "$(cat "$scratch/said")"
    run_in "$name" -np 2 no-such-program >"$scratch/said" 2>&1 && wrong "no-such-program ran"
    grep -q "unable to find the specified executable" "$scratch/said" || wrong "$(cat "$scratch/said")"
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

shared_memory_is_not_counted() {
    count_send n0:2 20000000
    within 0 250000 n0:3 n0:4
}

# counts_of TRANSPORT: nothing passes by the links, though all nodes have the machine's memory.
counts_of() {
    local reason
    reason=$("$cluster" exec --name "$name" --transport "$1" true 2>&1) || skip "$reason"
    count_send n1:1,n2:1 20000000 "$1"
    within 20000000 21500000 leaf0-spine:3 leaf1-spine:4
    count_send n0:2 20000000 "$1"
    within 0 250000 n0:3
}

# An Open MPI that knows no components, beside the one that is there.
missing_transport() {
    mkdir -p "$scratch/bare"
    printf '#!/bin/sh\n' >"$scratch/bare/ompi_info" && chmod 755 "$scratch/bare/ompi_info"
    local -x PATH=$scratch/bare:$PATH
    refused 77 run --name "$name" --transport ucx -np 1 true
    refused 77 exec --name "$name" --transport=ofi true
}

reset_starts_from_zero() {
    "$cluster" links --name "$name" --reset
    no_bytes
    "$cluster" links --name "$name" | grep -q '^all uplinks' || wrong "the table has no sum"
}

side_by_side() {
    local other=$name-other before
    fresh "$other" --nodes 3 --leaf 1 --slots 2
    "$cluster" links --name "$other" --reset
    before=$("$cluster" links --name "$other" --csv)
    count_send n0:1,n2:1 1000000
    [[ $("$cluster" links --name "$other" --csv) == "$before" ]] || wrong "another cluster's bytes are counted"
    run_in "$other" -np 6 "$scratch/send" 1000000 >"$scratch/other" &
    run_in "$name" -np 16 "$scratch/send" 1000000 >/dev/null || wrong "run failed"
    wait $! || wrong "run in the other cluster failed"
    "$cluster" down --name "$other"
    nothing_left "$other"
}

# Open MPI's names for its files come from the process number, which two runs can share.
two_runs_in_one_cluster() {
    local first
    run_in "$name" -np 16 sleep 1 &
    first=$!
    run_in "$name" -np 16 hostname >/dev/null || wrong "the second run failed"
    wait "$first" || wrong "the first run failed"
}

# Only a lower bound: a busy machine makes it slower, nothing may make it faster.
rates_limit() {
    local slow=$name-slow seconds
    [[ -z $no_rates ]] || skip "$no_rates"
    fresh "$slow" --uplink-rate 80mbit --link-rate 1gbit
    seconds=$(run_in "$slow" --host n0:1,n2:1 -np 2 "$scratch/send" 10000000) || wrong "send failed"
    "$cluster" down --name "$slow"
    awk -v s="$seconds" 'BEGIN { exit !(s >= 0.8) }' || wrong "10 MB through 10 MB/s took $seconds s"
}

many_nodes() {
    local many=$name-many count
    fresh "$many" --nodes 64 --leaf 8 --slots 1
    count=$(run_in "$many" -np 64 hostname | sort -u | wc -l)
    "$cluster" down --name "$many"
    [[ $count == 64 ]] || wrong "$count host names"
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

down_ends_runs() {
    local network
    network=$(network_of "$name")
    "$cluster" exec --name "$name" sleep "97532.$$" &
    waits_for sleeping "97532.$$"
    "$cluster" down --name "$name" || wrong "down failed"
    nothing_left "$name" "$network"
    sleeping "97532.$$" && wrong "the command lives on"
    return 0
}

killed_holder_leaves_nothing() {
    local who pid network
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

# Both at once leave the folder, and nobody who could remove it.
stale_state_is_recognised() {
    local keeper first
    fresh "$name"
    keeper=$(setting "$name" keeper) first=$(setting "$name" first)
    kill -STOP "${keeper%%:*}"
    kill -KILL "${first%%:*}" "${keeper%%:*}"
    waits_for test ! -e "/proc/${first%%:*}"
    [[ -e $states/$name ]] || wrong "this test has lost its point: there is no stale state"
    refused 1 links --name "$name"
    fresh "$name"
    "$cluster" exec --name "$name" true || wrong "no use of the new cluster"
    "$cluster" down --name "$name"
    mkdir -p "$states/$name"
    "$cluster" status | grep -q "^$name: ended" || wrong "status does not tell of stale state"
    nothing_left "$name"
}

# At moments spread over the 0.2 s that it takes; afterwards it is up or there is nothing of it.
interrupted_up_leaves_nothing() {
    local signal delay up
    for signal in INT TERM KILL; do
        for delay in 0 0.02 0.05 0.08 0.1 0.12 0.15 0.2; do
            set -m
            "$cluster" up --name "$name" --nodes 8 >/dev/null 2>&1 &
            up=$!
            set +m
            sleep "$delay"
            if kill -s "$signal" "$up" 2>/dev/null; then
                wait "$up" 2>/dev/null && "$cluster" down --name "$name"
                # Killed after the last moment at which it could be stopped, it has not said so.
                [[ $signal != KILL ]] || sleep 0.5
                [[ $signal != KILL ]] || stale_or_gone || "$cluster" down --name "$name"
            else
                "$cluster" down --name "$name"
            fi
            waits_for stale_or_gone
            # What SIGKILL leaves of the folder, the next command of any kind removes.
            [[ $signal != KILL ]] || "$cluster" status >/dev/null
            nothing_left "$name"
        done
    done
}

# Its parent was killed before it could ask to be killed with it.
orphan_makes_nothing() {
    local options=(--net --mount --uts --pid --fork)
    ((EUID == 0)) || options+=(--user --map-root-user)
    unshare "${options[@]}" "$scratch/network" "$TMPDIR/orphan" 1 1 1 - - </dev/null && wrong "no error"
    [[ ! -e $TMPDIR/orphan ]] || wrong "left behind: $(ls "$TMPDIR/orphan")"
}

stale_or_gone() {
    [[ ! -e $states/$name/lock ]] || flock --nonblock "$states/$name/lock" true
}

owner_takes_it_along() {
    local owner network
    sleep 60 &
    owner=$!
    fresh "$name" --owner "$owner"
    network=$(network_of "$name")
    sleep 1
    "$cluster" exec --name "$name" true || wrong "went down while its owner lived"
    kill -KILL "$owner"
    nothing_left "$name" "$network"
}

# A caller that reads the output to its end must not wait for the cluster's end.
output_ends_with_up() {
    local line
    line=$(timeout "$HANG_LIMIT" "$cluster" up --name "$name" 2>&1 7>&1) || wrong "up held its output open"
    [[ $line == "cluster '$name' is up"* ]] || wrong "up said $line"
    "$cluster" down --name "$name"
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

as_a_plain_user() {
    local user=(setpriv --reuid 65534 --regid 65534 --clear-groups env "HOME=$TMPDIR" "PATH=$PATH")
    ((EUID == 0)) || skip "not root: the tests before this one ran as a plain user"
    "${user[@]}" "$cluster" check >/dev/null || skip "$("${user[@]}" "$cluster" check)"
    local states=$TMPDIR/tatp-cluster-65534 network out
    cd "$TMPDIR" || exit # a folder that this user may enter
    "${user[@]}" "$cluster" up --name "$name" --link-rate 1gbit >/dev/null || wrong "up failed"
    network=$(network_of "$name")
    # shellcheck disable=SC2016 # for the rank's shell
    out=$("${user[@]}" "$cluster" run --name "$name" -np 16 sh -c 'hostname; : >"$TMPDIR/by-user"' | sort | uniq -c | xargs)
    [[ $out == "4 n0 4 n1 4 n2 4 n3" ]] || wrong "ranks: $out"
    [[ $(stat -c %u "$TMPDIR/by-user") == 65534 ]] || wrong "the files are not the user's"
    "${user[@]}" "$cluster" run --name "$name" --host n0:1,n2:1 -np 2 "$scratch/send" 20000000 >/dev/null || wrong "send failed"
    "${user[@]}" "$cluster" links --name "$name" --csv >"$scratch/links.csv"
    within 20000000 21500000 leaf0-spine:3
    "${user[@]}" "$cluster" down --name "$name" || wrong "down failed"
    nothing_left "$name" "$network"
}

# --- all of them ---

no_links='' no_rates=''
possible=$("$cluster" check 2>&1) || no_links=$possible
[[ $possible == *"not limited"* ]] && no_rates=$possible
if command -v mpicc >/dev/null; then
    mpicc -O2 -o "$scratch/send" "$here/send.c" || exit 1
fi
# A row: title, what is needed, function and arguments.
all=(
    "--help names every command||help_names_all"
    "bad arguments get one line each||bad_arguments"
    "commands on a cluster that is not up||not_up"
    "an unusable state folder is refused||unusable_state_folder"
    "up, once for a name|links|up_once"
    "no bytes where nobody sends|links|quiet_links"
    "ranks stand on the nodes|links mpi|ranks_on_nodes"
    "ranks are not bound|links mpi|ranks_are_not_bound"
    "nodes share the machine's files|links mpi|same_files"
    "programs are found as by mpirun|links mpi|programs_as_with_mpirun"
    "exit status comes through|links|exit_status"
    "bytes between leaf switches are counted|links send|counts_across_leaves"
    "bytes inside a leaf stay off the uplinks|links send|counts_inside_a_leaf"
    "ranks of one node use no link|links send|shared_memory_is_not_counted"
    "bytes of UCX are counted|links send|counts_of ucx"
    "bytes of OFI are counted|links send|counts_of ofi"
    "a transport without its component|links|missing_transport"
    "--reset counts from zero|links|reset_starts_from_zero"
    "two clusters side by side|links send|side_by_side"
    "two runs in one cluster|links mpi|two_runs_in_one_cluster"
    "rates limit the links|links send|rates_limit"
    "64 nodes on 8 leaf switches|links mpi|many_nodes"
    "a killed run ends whole|links mpi|killed_run_ends"
    "down ends what runs in it|links|down_ends_runs"
    "a killed holder leaves nothing|links|killed_holder_leaves_nothing"
    "stale state is recognised|links|stale_state_is_recognised"
    "an orphan makes nothing|links|orphan_makes_nothing"
    "an interrupted up leaves nothing|links|interrupted_up_leaves_nothing"
    "an owner takes the cluster along|links|owner_takes_it_along"
    "up does not hold its output open|links|output_ends_with_up"
    "nodes without namespaces|mpi|without_namespaces"
    "as a plain user|send|as_a_plain_user"
)
for entry in "${all[@]}"; do
    IFS='|' read -r title needs call <<<"$entry"
    run_test "$title" "$needs" "$call"
done
tap_plan
