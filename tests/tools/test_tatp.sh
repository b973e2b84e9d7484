#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line program tatp: what it prints, what it refuses. check_tatp.py holds the models.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

fixtures=$top_srcdir/tests/fixtures/topology
python=${PYTHON3:-/usr/bin/python3}

# agrees NAME COMMAND...: check_tatp.py finds nothing wrong with what the command prints.
agrees() {
    local name=$1 model=$2 said
    shift 2
    said=$("$@" 2>err | "$python" "$top_srcdir/tests/tools/check_tatp.py" "$model" 2>&1)
    tap_is "$said$(cat err)" "right" "$name"
}

# The example of the TATP paper: requests, hops between nodes and between ranks.
integers="%%MatrixMarket matrix coordinate integer"
printf '%s\n' "$integers general" "6 3 8" "1 1 3" "1 2 1" "2 1 1" "2 2 3" "3 1 4" "4 3 4" "5 2 4" "6 3 4" >C.mtx
printf '%s\n' "$integers symmetric" "% hosts a b c" "3 3 3" "2 1 2" "3 1 4" "3 2 4" >H.mtx
printf '%s\n' "%%MatrixMarket matrix array real general" "6 6" "0 1 2 2 4 4" "1 0 2 2 4 4" "2 2 0 1 4 4" "2 2 1 0 4 4" \
    "4 4 4 4 0 1" "4 4 4 4 1e0 0.0" >D.mtx

# paper ARGUMENT...: a plan of it, without the table of hop-bytes.
paper() { tatp plan -r C.mtx -d H.mtx -H a:2,b:2,c:2 -q "$@"; }

# The times differ from run to run.
without_seconds() { sed 's/"seconds":[^,}]*/"seconds":0/g'; }

# --- plan ---

tap_is "$(tatp plan --requests C.mtx --distances H.mtx --hosts a:2,b:2,c:2)" "Hop-bytes of each rank and domain:
rank   0   1   2
   0   9  19  24
   1  11  17  24
   2   8  24  20
   3  12  24  16
   4  32  16  20
   5  32  20  16

strategy     hop-bytes  between nodes  most of a link  rank of each domain
tatp                40             12               8  2 4 3
latp_volume         42             12               8  0 1 3
latp_count          42             12               8  0 1 3
otp                 53             16               8  0 2 4" "plan: the paper's example"

tap_is "$(tatp plan -r C.mtx -d D.mtx --strategy=tatp --json | without_seconds)" \
    '{"ranks":6,"domains":3,"nodes":3,"distances":"Matrix Market hops, rows in the order of the nodes",'\
'"is_tree":false,"parent":[3,3,3,3],"cables":[1,1,1,0],"strategies":[{"name":"tatp","assignment":[2,4,3],"hop_bytes":40.0,'\
'"max_link_bytes":8.0,"crossing_bytes":12,"up":[8.0,0.0,4.0,0.0],"down":[0.0,8.0,4.0,0.0],"seconds":0}],"workload":[[9.0,19.0,24.0],'\
'[11.0,17.0,24.0],[8.0,24.0,20.0],[12.0,24.0,16.0],[32.0,16.0,20.0],[32.0,20.0,16.0]]}' "plan: JSON, hops between ranks"

tap_described tatp.1 plan "$(paper --json --aggregators 0,1,3)"
tap_described tatp.1 plan "$(tatp plan --json -v "$fixtures/../recorded/4.1.crs" -H 'n[0-1]:4')"
tap_described tatp.1 assign "$(tatp assign --json C.mtx)"
tap_described tatp.1 topology "$(tatp topology --json H.mtx)"

# totals COMMAND...: name and hop-bytes of each strategy.
totals() { "$@" --quiet | sed 1d | awk '{ printf "%s %s ", $1, $2 }'; }
grep -v hosts H.mtx >numbers.mtx
all="tatp 40 latp_volume 42 latp_count 42 otp 53 "
tap_is "$(totals tatp plan -r C.mtx -d numbers.mtx -H a,a,b,b,c,c)" "$all" "plan: rows in the order of the hosts"
tap_is "$(totals tatp plan -r C.mtx -d D.mtx -H 'n[1-3]:2')" "$all" "plan: hops between ranks, and hosts"
printf 'a\na\nb\nb\nc\nc\n' >hosts
tap_is "$(totals tatp plan -r C.mtx -d H.mtx -H @hosts)" "$all" "plan: a host for each rank from a file"
tap_is "$(totals tatp plan -r C.mtx -d D.mtx -m 1)" "tatp 41 latp_volume 41 latp_count 41 otp 53 " "plan: one domain on a node"
printf '%s\n' "$integers general" "6 3 4" "1 1 2" "4 1 3" "2 2 1" "6 3 7" >B.mtx
tap_is "$(paper -S latp_count --blocks B.mtx | awk 'END { print $5, $6, $7 }')" "3 1 5" "plan: blocks"
tap_is "$(paper -S latp_volume -b B.mtx | sed 1d)" "$(paper -S latp_volume | sed 1d)" "plan: blocks that do not count"
tap_is "$(totals tatp plan -r C.mtx -H a:2,b:2,c:2)" "tatp 24 latp_volume 26 latp_count 26 otp 37 " \
    "plan: nothing known of the network"
printf 'SwitchName=t Switches=s[1-2]\nSwitchName=s1 Nodes=a,b\nSwitchName=s2 Nodes=c\n' >slurm.conf
tap_is "$(totals tatp plan -r C.mtx --topology slurm.conf --hosts a:2,b:2,c:2 | cut -d ' ' -f 1-2)" "tatp 40" "plan: a topology"

"$python" "$top_srcdir/tests/tools/check_tatp.py" make 7
for number in 0 1 2 3 4 5 6; do
    agrees "plan: random requests $number" "plan$number" tatp plan -r "C$number.mtx" -d "D$number.mtx" --json
    agrees "plan: random requests $number, hosts" "plan$number" \
        tatp plan -r "C$number.mtx" -d "N$number.mtx" -H @"hosts$number" --json
done
agrees "plan: hops that no nodes can tell" "odd" tatp plan -r Codd.mtx -d Dodd.mtx --json

# Two domains of one node want its only rank with bytes.
seq 3 65 | awk -v head="$integers general" 'BEGIN { print head "\n65536 65 65\n1 1 1000\n1 2 1000" } { print $1 * 900, $1, 10 }' >large.mtx
# The other domain goes to another rank of the node: 1000 bytes by 1 hop.
tap_is "$(tatp plan -r large.mtx -H 'n[0-63]:1024' -S tatp | awk 'NR == 2 { print $1, $2 } NR > 2')" "tatp 1000" \
    "plan: the least of a large problem"

nulls='"assignment":null,"hop_bytes":null,"max_link_bytes":null,"crossing_bytes":null,"seconds":0'
tap_is "$(tatp plan -r C.mtx -H a:3,b:3 -m 1 --json 2>err | without_seconds)" \
    '{"ranks":6,"domains":3,"nodes":2,"distances":"nothing but which ranks share a node",'\
'"is_tree":false,"parent":[2,2,2],"cables":[1,1,0],"strategies":[{"name":"tatp",'"$nulls"'},{"name":"latp_volume",'"$nulls"'},{"name":"latp_count",'"$nulls"'},{"name":"otp",'"$nulls"'}]}' "plan: JSON, more domains than may be served"
printf '%%%%MatrixMarket matrix array integer general\n1 2\n3\n4\n' >wide.mtx
sed 's/^4 4 4 4 1e0/4 4 4 4 1.5/' D.mtx >half.mtx
tap_refuses_each "plan, assign: what is refused" tatp <<'END'
1|plan -r C.mtx -d D.mtx -b H.mtx|H.mtx: C.mtx
1|plan -r C.mtx -H a:2,b:2|C.mtx: a:3
1|plan -r C.mtx -d H.mtx|H.mtx: --hosts
1|plan -r C.mtx -d slurm.conf -H a:2,b:2,c:2|slurm.conf: --topology
1|plan -r C.mtx -d half.mtx|half.mtx:8: 1.5
3|plan -r C.mtx -H a:3,b:3 -m 1|C.mtx: --per-node=2
3|plan -r wide.mtx -H a|wide.mtx: 2 1
2|plan -H a|--requests --view
2|plan -r C.mtx|--hosts --distances
2|plan -r C.mtx -t slurm.conf|--topology --hosts
2|plan -r C.mtx -t slurm.conf -d D.mtx|--distances --topology
2|plan -r C.mtx -H a -S best|'best' latp_count
2|plan -r C.mtx -H a -S latp-count|'latp-count' 'latp_count'
2|reprot|'reprot' 'report'
2|plan --hots=a|'--hots' '--hosts'
2|plan -r C.mtx -H a -m x|'x'
2|plan more|'more'
2|assign -s simplex W.mtx|'simplex' hungarian
2|assign -s hungary W.mtx|'hungary' 'hungarian'
END

# --- hosts, which every command takes alike ---

: >empty
printf 'a\n%0300d\n' 0 >long
echo 'a"b' >quoted
tap_refuses_each "hosts that are refused" tatp <<'END'
1|simulate --cart 2 --hosts +n0:2|'+n0:2'
1|plan -r C.mtx -H @quoted|quoted:1: 'a"b'
1|plan -r C.mtx -H n[0-|'n[0-':
1|plan -r C.mtx --hosts @none|none:
1|topology slurm.conf --hosts @empty|empty:
1|plan -r C.mtx -H n[1-1000]:1000000|67108864
1|plan -r C.mtx -H @long|long:2: 255
END

# --- plan: links ---

tap_is "$(tatp plan -j -r C.mtx --topology slurm.conf --hosts a:2,b:2,c:2 --strategy otp --aggregators 2,4,3 --quiet |
    sed 's/.*"is_tree"/"is_tree"/; s/"seconds":[^}]*}/}/')" \
    '"is_tree":true,"parent":[4,4,3,5,5,5],"cables":[1,1,1,1,1,0],"strategies":[{"name":"otp",'\
'"assignment":[0,2,4],"hop_bytes":53.0,"max_link_bytes":8.0,"crossing_bytes":16,"up":[4.0,8.0,4.0,4.0,4.0,0.0],'\
'"down":[4.0,8.0,4.0,4.0,4.0,0.0],}],"given":{"name":"given","assignment":[2,4,3],"hop_bytes":40.0,'\
'"max_link_bytes":8.0,"crossing_bytes":12,"up":[8.0,0.0,4.0,4.0,4.0,0.0],"down":[0.0,8.0,4.0,4.0,4.0,0.0]}}' \
    "plan: a tree, a strategy, and a given assignment"
for number in 0 1 2 3 4 5 6; do
    given=$(seq -s , 0 $(($(sed -n '2s/.* //p' "C$number.mtx") - 1)))
    agrees "plan: links of random requests $number" "links$number" \
        tatp plan -j -r "C$number.mtx" -d "N$number.mtx" -H @"hosts$number" --aggregators "$given"
done

# The hop-bytes alone.
workload_of() {
    tatp plan -j -r C.mtx -d H.mtx -H a:2,b:2,c:2 --strategy otp --workload "$1" |
        sed 's/.*"workload":\(.*\)}/\1/; s/\.0//g'
}
tap_is "$(workload_of rank)" "[[9,19,24],[11,17,24],[8,24,20],[12,24,16],[32,16,20],[32,20,16]]" "plan: hop-bytes of each rank"
tap_is "$(workload_of node)" "[[9,17,24],[8,24,16],[32,16,16]]" "plan: hop-bytes of the best rank of each node"
tap_is "$(tatp plan -j -r wide.mtx -H a -g 0,0 | sed 's/.*"given":/"given":/; s/"hop_bytes.*//')" \
    '"given":{"name":"given","assignment":[0,0],' "plan: a given assignment where no strategy has one"
printf '%s\n' FILEVIEW "% independent: 77" "1 5" 1 1 "1 2 2 2 2" "ACCESS 2 0 262144 4 4 4 out" "0 1 0 524288" "1 1 1 524288" \
    "2 1 2 524288" "3 1 3 524288" "DIVISION 1 2 0 0 0" >view.crs
view_of() { tatp plan --view view.crs -H "$1"; }
tap_is "$(view_of a:2,b:2)" "calls    bytes  aggregators  domains  unit  hop-bytes  between nodes  most of a link  file
    2  2097152            2  even        0    1048576              0               0  out
without aggregators: 77 bytes, which stay on their nodes" "plan: the calls of a view"
tap_is "$(view_of a,b,a,b | awk 'NR == 2 { print $3, $7 }')" "2 1048576" "plan: on other nodes"
sed -i '/^DIVISION/d' view.crs
printf '%s\n' FILEVIEW "0 9" "" "" "1 1 1 1 1 1 1 1 1" "ACCESS 1 0 131072 8 8 8 out" {0,1,2,3,4,5,6,7}" 1 X 131072" |
    sed 's/^\(.\) 1 X/\1 1 \1/' >eight.crs
tap_is "$(tatp plan -v eight.crs -H a,b,a,b,a,b,a,b | awk 'NR == 2 { print $3, $4, $5, $7 }')" "2 fitted 65536 0" \
    "plan: fitted domains where these pay"
tap_is "$(tatp plan -v view.crs -H a:2,b:2 -j | sed 's/.*"patterns"/"patterns"/')" \
    '"patterns":[{"name":"out","assignment":[0,2],"hop_bytes":1048576.0,"max_link_bytes":0.0,"crossing_bytes":0,"calls":2,"bytes":2097152,"domains":"even","unit":0,"up":[0.0,0.0,0.0],"down":[0.0,0.0,0.0]}],"independent_bytes":77}' \
    "plan: the calls of a view, JSON"
tap_refuses_each "plan: what is refused of views and links" tatp <<'END'
2|plan -v view.crs -H a:4 -S otp|--strategy --view
1|plan -v view.crs -H a:3|view.crs: 4 3 a:4
2|plan -v view.crs -H a:4 -g 0,1|--aggregators --view
2|plan -r C.mtx -H a:6 --workload host|'host' 'node'
1|plan -j -r C.mtx -H a:6 -g 0,6,1|--aggregators: 3 6
1|plan -j -r C.mtx -H a:6 -g 0,1|--aggregators: 3
1|plan -j -r C.mtx -H a:6 -g x|--aggregators:
END

# --- assign ---

printf '%s\n' "%%MatrixMarket matrix array integer general" "6 3" 9 11 8 12 32 32 19 17 24 24 16 20 24 24 20 16 20 16 >W.mtx
for solver in $(tatp assign --help | sed '1,/^Solvers:/d' | awk '{ print $1 }'); do
    tap_is "$(tatp assign --solver "$solver" W.mtx | tail -n 1 | xargs)" "total 40" "assign: least cost by $solver"
    for number in 0 1 2 3 4 5 6; do
        agrees "assign: random costs $number by $solver" "assign$number" tatp assign --json --solver="$solver" "A$number.mtx"
    done
done
tap_is "$(tatp assign W.mtx)" "column  row  cost
     0    2     8
     1    4    16
     2    3    16
 total         40" "assign: a table"
tap_is "$(tatp assign W.mtx --json | without_seconds)" '{"solver":"jv","assignment":[2,4,3],"cost":40,"seconds":0}' "assign: JSON"
tap_is "$(tatp assign wide.mtx)" "column  row  cost
     0    0     3
     1    -     -
 total          3" "assign: more columns than rows"
tap_is "$(tatp assign wide.mtx --json | without_seconds)" \
    '{"solver":"jv","assignment":[0,null],"cost":3,"seconds":0}' "assign: more columns than rows, JSON"
printf '%%%%MatrixMarket matrix array real general\n2 2\ninf\n0.25\n1e-1\n-2.5E0\n' >real.mtx
tap_is "$(tatp assign real.mtx | tail -n 1 | xargs)" "total 0.35" "assign: real costs, and a pair that is not allowed"
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 3\n2 1 0\n1 2 7\n2 2 1\n' >sparse.mtx
tap_is "$(tatp assign sparse.mtx --json | without_seconds)" \
    '{"solver":"jv","assignment":[1,0],"cost":7,"seconds":0}' "assign: a list of pairs"

printf '%%%%MatrixMarket matrix coordinate integer general\n3 2 2\n1 1 3\n1 2 4\n' >infeasible.mtx
tap_is "$(tatp assign --json infeasible.mtx 2>err | without_seconds)" \
    '{"solver":"jv","assignment":null,"cost":null,"seconds":0}' "assign: infeasible, JSON"
printf '%%%%MatrixMarket matrix array real general\n1 1\n1e307\n' >large.mtx
tap_refuses_each "assign, topology: what is refused" tatp <<'END'
3|assign infeasible.mtx|infeasible.mtx:
1|assign missing.mtx|missing.mtx:
1|assign large.mtx|large.mtx:
2|assign|assign:
2|assign a b|'b'
2|topology a b|'b'
END

# --- topology ---

tap_is "$(tatp topology "$fixtures/ibnetdiscover.edge.out" | grep . | tr -s ' ' | paste -sd ';')" "format ibnetdiscover;hosts 2;\
adapters without a host's name 2;switches 2;links 9;depth 1;hosts chosen 2;hops pairs of hosts; 2 2;from node-01.cluster.local \
x1000c0s1b0n0;node-01.cluster.local 0 2;x1000c0s1b0n0 2 0" "topology: ibnetdiscover"

for file in ibnetdiscover.3level.out slurm-topology.conf slurm-scontrol.out; do
    tap_is "$(tatp topology "$fixtures/$file" | sed '1,/^hops  pairs/d' | xargs)" "2 192 4 768 6 3072" "topology: $file"
done

tap_is "$(tatp topology --json --hosts 'n[0-1]:32,n16' "$fixtures/slurm-topology.conf")" \
    '{"format":"Slurm, tree of switches","hosts":64,"unnamed_adapters":0,"switches":21,"links":84,'\
'"traces":0,"joined":false,"depth":3,"places":2,"missing":[],'\
'"distances":[{"hops":2,"pairs":2},{"hops":6,"pairs":4}],"chosen":["n0","n1","n16"],'\
'"hops":[[0,2,6],[2,0,6],[6,6,0]]}' "topology: JSON"

printf 'SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2\n' >two.conf
tap_contains "$(tatp topology two.conf)" "joined" "topology: trees without a common top"
printf 'n2\nn0 n0\n' >ranks
tap_is "$(tatp topology two.conf --hosts @ranks | tail -n 2)" "n2     0   4
n0     4   0" "topology: hosts from a file"
tatp topology two.conf --hosts n1,m1,m2 >out 2>err
tap_is "$? $(grep missing out | xargs) $(grep -c '^tatp: two.conf: 2 of 3 .* m1 ' err)" "1 missing m1 missing m2 1" "topology: missing hosts"
tap_is "$(tatp topology two.conf --hosts n1,m1 --json 2>err | sed 's/.*"missing"/"missing"/')" \
    '"missing":["m1"],"distances":[],"chosen":["n1"],"hops":[[0]]}' "topology: missing hosts, JSON"
tap_is "$(tatp topology H.mtx | tail -n 4)" "from  a  b  c
a     0  2  4
b     2  0  4
c     4  4  0" "topology: a file of hops"
printf 'SwitchName=a Nodes=n\351"[0-1]\n' >latin.conf
tap_contains "$(tatp topology --json latin.conf)" '"chosen":["n�\"0","n�\"1"]' "topology: names that are no UTF-8"

# --- topology: without a file ---

# job TASKS ARGUMENT...: as in a job of Slurm on n[0-1],n16
job() {
    env SLURM_JOB_NODELIST='n[0-1],n16' SLURM_TASKS_PER_NODE="$1" SLURM_TOPOLOGY_ADDR=top.s0.n0 tatp topology "${@:2}"
}
mkdir with without
printf '#!/bin/sh\n[ "$*" = "show topology" ] && cat "%s"\n' "$fixtures/slurm-scontrol.out" >with/scontrol
printf '#!/bin/sh\necho nothing\n' >without/scontrol
chmod +x ./*/scontrol
tap_is "$(PATH=$PWD/with:$PATH job '4(x3)' | awk 'NF && NR < 12' | tr -s ' ' | paste -sd ';')" "format Slurm, tree of switches;hosts 64;\
switches 21;links 84;depth 3;tasks on each node 4(x3);switches above this node top.s0.n0;hosts chosen 3;hops pairs of hosts; 2 2" \
    "topology: of the job"
tap_is "$(PATH=$PWD/with:$PATH job 1 --json)" "$(tatp topology --json --hosts 'n[0-1],n16' "$fixtures/slurm-scontrol.out")" \
    "topology: of the job, JSON"
tap_is "$(PATH=$PWD/with:$PATH job 1 --hosts n2,n3 | tail -n 2)" "n2     0   2
n3     2   0" "topology: other hosts of the network of the job"
tap_is "$(PATH=$PWD/without:$PATH job 1 2>err | sed -n 's/^hosts  *\([0-9]\)/\1/p; /^from/,$p' | xargs)" \
    "3 from n0 n1 n16 n0 0 2 2 n1 2 0 2 n16 2 2 0" "topology: of a job on a network that is not known"
PATH=$PWD/without:$PATH job 1 >out 2>err
tap_is "$? $(grep -c "^tatp: scontrol show topology, line 1: 'nothing'" err)" "0 1" "topology: of a job, scontrol prints something else"
mkdir failing hanging
printf '#!/bin/sh\necho "Unable to contact slurm controller" >&2\nexit 1\n' >failing/scontrol
printf '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 1000; done\n' >hanging/scontrol
chmod +x ./*/scontrol
for how in failing hanging; do
    PATH=$PWD/$how:$PATH job 1 >out 2>err
    tap_is "$? $(grep -c "^Unable to contact" err) $(grep -c "^tatp: scontrol show topology.*'tatp topology FILE'" err)" \
        "0 $([[ $how == hanging ]]; echo $?) 1" "topology: of a job, scontrol is $how"
done
PATH=$PWD/with:$PATH SLURM_JOB_NODELIST='n[0-' tap_refuses 1 "'n[0-':" tatp topology
# As on that machine.
unset SLURM_JOB_NODELIST SLURM_NODELIST
export HWLOC_XMLFILE=$fixtures/../machine/adapters-on-both-packages.xml
tatp topology >out
tap_is "$(sed '/^machine/d; /^$/q' out | xargs)" "packages 2 NUMA nodes 4 cores 16 network device ib0 network device mlx5_0 \
network device ib1 network device mlx5_1" "topology: of a machine"
tap_is "$(sed -n 's/^machine  *//p' out)" "$(uname -n)" "topology: its name"
tap_contains "$(cat out)" "SLURM_JOB_NODELIST" "topology: where more is to be found"
tap_refuses 1 "" tatp topology --json
sed '/type="Core"/s/ complete_cpuset="[^"]*"//' "$HWLOC_XMLFILE" >crash.xml
HWLOC_XMLFILE=crash.xml tatp topology >out 2>err
tap_check "topology: of a machine at which hwloc 2.9 crashes" grep -q "^cores\|^tatp: .*HWLOC_XMLFILE.* crash.xml" out err

awk 'BEGIN { for (i = 0; i < 5; i++) printf "Switch 3 \"S-%d\" # \"s\"\n[1] \"S-%d\"[2] #\n[2] \"S-%d\"[1] #\n[3] \"H-%d\"[1] #\nCa 1 \"H-%d\" # \"n%d HCA-1\"\n[1] \"S-%d\"[3] #\n",
    i, (i + 1) % 5, (i + 4) % 5, i, i, i, i }' >ring.out
tap_check "topology: a ring" grep -q "^depth .* not a tree" <(tatp topology ring.out)
tatp topology two.conf --hosts m1 >out 2>&1
tap_is "$(grep -c '^tatp: two.conf: 1 of 1 .* m1 ' out) $(grep -c 'not a tree' out)" "1 0" "topology: without any of the hosts, nothing is said of a tree"

# --- run: what launchers are told ---

printf '%s\n' FILEVIEW "% program tiles" "20 7" "1 4 0 3 4 5 3 4 5 1 2 4 0 1 2 3 5 1 2 4 " \
    "1 4 1 1 4 1 2 1 3 1 2 1 4 4 1 1 2 1 3 2 " "1 3 7 10 13 18 21 " >view.crs
export XDG_CACHE_HOME=$PWD
# told VARIABLE...: what `tatp run` tells a launcher by these, of lists their nodes; and how many lines it prints
told() {
    # shellcheck disable=SC2016 # for the inner shell
    tatp run "${options[@]}" sh -c 'for name; do
        eval "value=\${$name-}"
        case $value in /proc/*) uniq -c "$value" ;; *) echo "$value" ;; esac
    done' sh "$@" 2>err | xargs
    grep -c placed err
}
options=(--place view.crs --nodes "x:3,y:3")
tap_is "$(told HYDRA_HOST_FILE I_MPI_HYDRA_HOST_FILE SLURM_HOSTFILE | xargs)" "2 x 2 y 1 x 1 y 2 x 2 y 1 x 1 y 1" "run: a list for hydra"
tap_contains "$(cat err)" "tatp: placed by view.crs: weight 16 between nodes -> 6; MPICH takes the 2 nodes for 4 (" "run: the line"
tap_is "$(told OMPI_MCA_rmaps_dla_file PRTE_MCA_rmaps_dla_verbose TATP_PLACED | sed 's/ 6:.*//' | xargs)" "auto:$PWD/view.crs -1 1" "run: the record for mpirun"
options=(--place view.crs)
export SLURM_JOB_ID=1 SLURM_JOB_NODELIST=x,y SLURM_TASKS_PER_NODE='4(x2)'
tap_is "$(told SLURM_HOSTFILE HYDRA_HOST_FILE | xargs)" "1" "run: nothing in an allocation of Slurm without the library"
tap_contains "$(cat err)" "only programs of Open MPI are served, and only mpirun places ranks" "run: ... which a line says"
"${CC:-cc}" -shared -o library.so -x c /dev/null
options+=(--library "$PWD/library.so")
tap_is "$(told SLURM_HOSTFILE HYDRA_HOST_FILE | xargs)" "2 y 1 x 2 y 7 x 4 y 4 x 4 y 1" "run: lists for srun, with lines for more tasks, and hydra"
while IFS='|' read -r slots text; do
    SLURM_TASKS_PER_NODE=$slots
    tap_is "$(told SLURM_HOSTFILE HYDRA_HOST_FILE OMPI_MCA_rmaps_dla_file TATP_PLACED | xargs)" 1 "run: nothing with $slots"
    tap_contains "$(cat err)" "tatp: not placed$text" "run: why not with $slots"
done <<'END'
3,2|: view.crs is of 6 ranks, and the nodes have 5 slots
6,6| by view.crs: no weight between nodes
END
options=(--auto)
tap_is "$(told SLURM_HOSTFILE TATP_PLACED TATP_RECORD OMPI_MCA_fcoll_tatp_record | sed 's/:[0-9a-f]\{16\}/:KEY/g' | xargs)" "auto:KEY auto:KEY 1" "run: a command without a record"
tap_refuses_each "run: what is refused" "tatp run" <<'END'
2|--auto --place view.crs true|--record --place --auto
2|--record new.crs --place view.crs true|--record --place --auto
2|--place view.crs --nodes x --hostfile y true|--nodes --hostfile
2|--auto --nodes '' true|host
2|--auto|launcher
1|--place none.crs true|none.crs:
1|--place two.conf true|two.conf:
1|--auto --hostfile none true|none:
END
tap_plan
