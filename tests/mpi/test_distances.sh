#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where fcoll/tatp takes the distances between nodes from: the job's environment (as Slurm would set it; Slurm
# itself is in tests/cluster/test_slurm.sh), a program in the place of ibnetdiscover, or nothing.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
"$CLUSTER" check >"$tap_dir/check" 2>&1 || tap_skip_all "$(head -n 1 "$tap_dir/check")"
start_cluster
[[ -n $cluster_name ]] || tap_skip_all "no cluster here"

# The rank's environment: lines "HOST ADDRESS" of a file; a host without a line has none.
cat >"$tap_dir/with" <<'END_OF_WITH'
#!/bin/bash
address=$(sed -n "s/^$(hostname) //p" "$1")
[[ -z $address ]] || export SLURM_TOPOLOGY_ADDR=$address
[[ -z $2 ]] || export SLURM_TOPOLOGY_ADDR_PATTERN=$2
exec "${@:3}"
END_OF_WITH
chmod +x "$tap_dir/with"

# addresses FILE LINE...
addresses() {
    printf '%s\n' "${@:2}" >"$tap_dir/$1"
}

addresses all 'n0 top.a.n0' 'n1 top.b.n1' 'n2 top.a.n2' 'n3 top.b.n3'
addresses some 'n0 top.a.n0' 'n1 top.b.n1' 'n3 top.b.n3'
addresses copied 'n0 top.a.n0' 'n1 top.b.n1' 'n2 top.a.n0' 'n3 top.b.n3'
addresses mixed 'n0 top.a.n0' 'n1 top.b.n1' 'n2 n2' 'n3 top.b.n3'
addresses dotted 'n0 n0.test' 'n1 n1.test' 'n2 n2.test' 'n3 n3.test'
addresses none ''
printf '%s\n' 'SwitchName=a Nodes=n[0,2]' 'SwitchName=b Nodes=n[1,3]' 'SwitchName=top Switches=a,b' \
    >"$tap_dir/topology.conf"

# go JOB ADDRESSES [PATTERN] -- MCA-ARGUMENT...: the job's output and statistics are in files of its name.
go() {
    local job=$tap_dir/$1 addresses=$tap_dir/$2 pattern=switch.switch.node
    [[ $3 == -- ]] || { pattern=$3 && set -- "$1" "$2" "${@:4}"; }
    rm -f "$job.stats"
    run -np 16 --map-by node --mca fcoll tatp --mca fcoll_base_verbose 10 --mca fcoll_tatp_num_aggregators 4 \
        --mca fcoll_tatp_stats "$job.stats" "${@:4}" \
        "$tap_dir/with" "$addresses" "$pattern" "$cube" --size 64 --grid 4x2x2 --verify --file "$files/cube" \
        >"$job.out" 2>&1
}

# said JOB: without what Open MPI tells of its components.
said() {
    grep -v -e 'mca: base' -e 'fcoll:find' -e 'select:' "$tap_dir/$1.out"
}

decision() {
    sed -n 's/.*"op": "\([a-z]*\)".*\("hop_bytes": .*"crossing_bytes": [0-9]*\).*/\1 \2/p' "$tap_dir/$1.stats"
}

# quietly JOB ...: goes well, without a message
quietly() {
    tap_check "$1: goes well" go "$@"
    tap_is "$(said "$1" | grep -c -- '----')" 0 "$1: no message"
}

# warned PART JOB ...: goes well, after one message with that part
warned() {
    tap_check "$2: goes well" go "${@:2}"
    tap_contains "$(said "$2")" "$1" "$2: the message says so"
    tap_is "$(said "$2" | grep -c -F -- "$1")" 1 "$2: once"
}

same() {
    tap_is "$(decision "$1")" "$(decision "$2")" "$1: decides as $2"
}

quietly flat none -- --mca fcoll_tatp_topology none
tap_contains "$(said flat)" "4 nodes, all equally far apart" "flat: it says so"
quietly file none -- --mca fcoll_tatp_topology "$tap_dir/topology.conf"
tap_check "file: other costs than flat" test "$(decision file)" != "$(decision flat)"

# --- the environment ---

quietly environment all --
tap_contains "$(said environment)" "hops between 4 nodes from the job's environment" "environment: it says so"
same environment file
quietly "by-name" all -- --mca fcoll_tatp_topology auto
same by-name file
quietly pattern-unknown all '' --
same pattern-unknown file
quietly declined all -- --mca fcoll_tatp_topology none
same declined flat
quietly absent none --
same absent flat
quietly dotted dotted node --
same dotted flat
warned "host n2 has no SLURM_TOPOLOGY_ADDR" some some --
same some flat
warned "have one SLURM_TOPOLOGY_ADDR: top.a.n0" copied copied --
same copied flat
warned "names switches for host n0, none for n2" mixed mixed --
same mixed flat

# --- ibnetdiscover ---

# program NAME: standard input is what it does; each start leaves a line in NAME.starts.
program() {
    { echo '#!/bin/sh' && echo "echo start >>'$tap_dir/$1.starts'" && cat; } >"$tap_dir/$1"
    chmod +x "$tap_dir/$1"
}

starts() {
    # shellcheck disable=SC2002 # there may be none
    cat "$tap_dir/$1.starts" 2>/dev/null | wc -l
}

# n0 and n2 below one switch, n1 and n3 below another.
sed -e 's/"n1 HCA/"x1 HCA/; s/"n3 HCA/"x3 HCA/; s/"n5 HCA/"n1 HCA/; s/"n6 HCA/"n3 HCA/' \
    "$top_srcdir/tests/fixtures/topology/ibnetdiscover.3level.out" >"$tap_dir/links"
program discover <<<"cat '$tap_dir/links'"
program fails <<<"echo 'iberror: no port' >&2; echo more >&2; exit 3"
program hangs <<<'exec sleep 60'
program killed <<<'kill -9 $$'
program garbles <<<"head -n 20 '$tap_dir/links'; echo 'Switch what'"
program empty </dev/null
program elsewhere <<<"sed 's/\"n2 HCA/\"y2 HCA/' '$tap_dir/links'"

quietly network none -- --mca fcoll_tatp_ibnetdiscover "$tap_dir/discover"
tap_contains "$(said network)" "hops between 4 nodes from $tap_dir/discover" "network: it says so"
tap_is "$(starts discover)" 1 "network: run once"
quietly network-file none -- --mca fcoll_tatp_topology "$tap_dir/links"
same network network-file
tap_check "network: other costs than flat" test "$(decision network)" != "$(decision flat)"
warned "host n2 has no SLURM_TOPOLOGY_ADDR" some-network some -- --mca fcoll_tatp_ibnetdiscover "$tap_dir/discover"
same some-network network
rm "$tap_dir/discover.starts"
quietly environment-first all -- --mca fcoll_tatp_ibnetdiscover "$tap_dir/discover"
same environment-first file
quietly not-allowed none -- --mca fcoll_tatp_ibnetdiscover "$tap_dir/discover" --mca fcoll_tatp_topology none
same not-allowed flat
tap_is "$(starts discover)" 0 "not run where it is not needed"

# useless PART NAME [MCA-ARGUMENT...]: one warning, and as without a topology
useless() {
    warned "$1" "$2" none -- --mca fcoll_tatp_ibnetdiscover "$tap_dir/$2" "${@:3}"
    same "$2" flat
}

useless "it ended with exit status 3: iberror: no port" fails
useless "it did not end within 1 seconds" hangs --mca fcoll_tatp_ibnetdiscover_timeout 1
useless "it was ended by signal 9" killed
useless "line 21 of what it prints" garbles
useless "because of an error" empty
useless "n2" elsewhere
useless "No such file" nowhere
tap_plan
