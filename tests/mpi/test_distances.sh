#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where fcoll/tatp takes the distances between nodes from: the job's environment (as Slurm would set it; Slurm
# itself is in tests/cluster/test_slurm.sh), a program in the place of ibnetdiscover, or nothing.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_cluster

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
addresses() { printf '%s\n' "${@:2}" >"$tap_dir/$1"; }

addresses all 'n0 top.a.n0' 'n1 top.b.n1' 'n2 top.a.n2' 'n3 top.b.n3'
addresses some 'n0 top.a.n0' 'n1 top.b.n1' 'n3 top.b.n3'
addresses copied 'n0 top.a.n0' 'n1 top.b.n1' 'n2 top.a.n0' 'n3 top.b.n3'
addresses mixed 'n0 top.a.n0' 'n1 top.b.n1' 'n2 n2' 'n3 top.b.n3'
addresses dotted 'n0 n0.test' 'n1 n1.test' 'n2 n2.test' 'n3 n3.test'
addresses none ''
two_leaves "$tap_dir/topology.conf" 0,2 1,3

# go JOB ADDRESSES [PATTERN] -- MCA-ARGUMENT...: the job's output and statistics are in files of its name.
go() {
    local job=$tap_dir/$1 addresses=$tap_dir/$2 pattern=switch.switch.node
    [[ $3 == -- ]] || { pattern=$3 && set -- "$1" "$2" "${@:4}"; }
    rm -f "$job.stats"
    run -np 16 --map-by node --mca fcoll tatp --mca fcoll_base_verbose 10 --mca fcoll_tatp_num_aggregators 4 \
        --mca fcoll_tatp_stats "$job.stats" "${@:4}" \
        "$tap_dir/with" "$addresses" "$pattern" "$cube" --size 64 --grid 4x2x2 --verify --file "$files/cube" >"$job.out" 2>&1
}

# quietly JOB ...: goes well, without a message
quietly() {
    tap_check "$1: goes well" go "$@"
    tap_is "$(told "$tap_dir/$1.out" | grep -c -- '----')" 0 "$1: no message"
}

# warned PART JOB ...: goes well, after one message with that part
warned() {
    tap_check "$2: goes well" go "${@:2}"
    tap_contains "$(told "$tap_dir/$2.out")" "$1" "$2: the message says so"
    tap_is "$(told "$tap_dir/$2.out" | grep -c -F -- "$1")" 1 "$2: once"
}

same() { tap_is "$(decision "$tap_dir/$1.stats")" "$(decision "$tap_dir/$2.stats")" "$1: decides as $2"; }

quietly flat none -- --mca fcoll_tatp_topology none
tap_contains "$(told "$tap_dir/flat.out")" "4 nodes, all equally far apart" "flat: it says so"
quietly file none -- --mca fcoll_tatp_topology "$tap_dir/topology.conf"
tap_check "file: other costs than flat" test "$(decision "$tap_dir/file.stats")" != "$(decision "$tap_dir/flat.stats")"

# --- the environment ---

quietly environment all --
tap_contains "$(told "$tap_dir/environment.out")" "hops between 4 nodes from the job's environment" "environment: it says so"
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

# --- saved output of ibnetdiscover ---

# n0 and n2 below one switch, n1 and n3 below another.
sed -e 's/"n1 HCA/"x1 HCA/; s/"n3 HCA/"x3 HCA/; s/"n5 HCA/"n1 HCA/; s/"n6 HCA/"n3 HCA/' \
    "$top_srcdir/tests/fixtures/topology/ibnetdiscover.3level.out" >"$tap_dir/links"

quietly network-file none -- --mca fcoll_tatp_topology "$tap_dir/links"
tap_check "network-file: other costs than flat" test "$(decision "$tap_dir/network-file.stats")" != "$(decision "$tap_dir/flat.stats")"

# --- two ranks of this machine ---

# hop_bytes BINDING [COMMAND...]: of one call in which one rank owns the only domain. The command runs the program.
hop_bytes() {
    rm -f "$stats"
    timeout --kill-after=5 "$HANG_LIMIT" "$MPIRUN" -np 2 --bind-to "$1" --mca fcoll tatp --mca fcoll_tatp_stats "$stats" \
        --mca fcoll_tatp_num_aggregators 1 "${@:2}" "$cube" --size 8x8x512 --grid 1x1x2 --write-only --file "$files/array" \
        >"$tap_dir/out" 2>&1 || cat "$tap_dir/out"
    statistic hop_bytes
}

if (($(nproc) < 2)); then
    tap_skip "ranks bound to cores" "needs two processors"
else
    tap_is "$(hop_bytes none)" 131072 "not bound: the other rank is one hop away"
    tap_is "$(hop_bytes core)" 131072 "bound to cores: the same"
    # shellcheck disable=SC2016 # for the shell of each rank
    own=(bash -c 'exec taskset --cpu-list "$(("${PMIX_RANK:-$OMPI_COMM_WORLD_RANK}" % $(nproc)))" "$@"' bash)
    # A machine of two NUMA nodes, with a core each.
    export HWLOC_THISSYSTEM=1 HWLOC_XMLFILE=$tap_dir/machine.xml
    sed '/"Bridge"/,/^        <.object>/d' "$top_srcdir/tests/fixtures/machine/ethernet-on-second-node.xml" >"$HWLOC_XMLFILE"
    tap_is "$(hop_bytes none "${own[@]}")" 131072 "bound by themselves, of which the launcher knows nothing: a hop"
    tap_is "$(statistic rank_of_domain)" 0 "without devices the lower rank of two that access as much"
    HWLOC_XMLFILE=$top_srcdir/tests/fixtures/machine/ethernet-on-second-node.xml
    for binding in core none; do
        tap_is "$(hop_bytes $binding "${own[@]}")" 131072 "the same machine with a network device, --bind-to $binding"
        tap_is "$(statistic rank_of_domain)" 1 "which is near the other rank: that one, for as many hop-bytes"
    done
fi
tap_plan
