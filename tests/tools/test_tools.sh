#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line programs dla and tatp in $TOOLS_DIR: what they print, what they refuse.
here=$(cd "$(dirname "$0")" && pwd)
. "${top_srcdir:-$here/../..}/tests/lib/tap.sh"

tools=$(cd "${TOOLS_DIR:-./tools}" && pwd) || exit 1
PATH=$tools:$PATH
tap_tempdir
cd "$tap_dir" || exit 1

# refuses STATUS MESSAGE NAME COMMAND...: the first line on stderr is MESSAGE, stdout stays empty.
refuses() {
    local status=$1 message=$2 name=$3 got
    shift 3
    "$@" >out 2>err
    got=$?
    tap_is "$got: $(head -n 1 err)$(cat out)" "$status: $message" "$name"
}

# The example of the SetMatch paper.
cat >view.crs <<END
FILEVIEW
% program tiles
% ranks 6
20 7
1 4 0 3 4 5 3 4 5 1 2 4 0 1 2 3 5 1 2 4 
1 4 1 1 4 1 2 1 3 1 2 1 4 4 1 1 2 1 3 2 
1 3 7 10 13 18 21 
END

# The example of the TATP paper.
cat >C.mtx <<END
%%MatrixMarket matrix coordinate integer general
6 3 8
1 1 3
1 2 1
2 1 1
2 2 3
3 1 4
4 3 4
5 2 4
6 3 4
END

cat >H.mtx <<END
%%MatrixMarket matrix coordinate integer symmetric
% hosts a b c
3 3 3
2 1 2
3 1 4
3 2 4
END

# --- dla show ---

tap_is "$(dla show view.crs)" "ranks 6
entries 20
weight 20
largest 4 between ranks 0 and 4
% program tiles
% ranks 6" "show tells what the matrix holds"

printf 'FILEVIEW\n0 3\n\n\n1 1 1 \n' >none.crs
tap_is "$(dla show none.crs)" "ranks 2
entries 0
weight 0
largest 0" "show of a matrix without entries"

printf 'FILEVIEW\n' >cut.crs
refuses 1 "dla: cut.crs:2: the file ends where the number of entries is expected" \
    "show names file, line and reason" dla show cut.crs
: >empty.crs
refuses 1 "dla: empty.crs: the file is empty" "show of an empty file" dla show empty.crs
refuses 1 "dla: missing.crs: No such file or directory" "show of a missing file" \
    dla show missing.crs
refuses 1 "dla: .: cannot be read: Is a directory" "show of a folder" dla show .
refuses 2 "dla show: no file is given" "show without a file" dla show
refuses 2 "dla show: 'b' is one argument too many" "show of two files" dla show a b
if [ -c /dev/full ]; then
    dla show view.crs >/dev/full 2>err
    tap_is "$?: $(cat err)" "1: dla: standard output: No space left on device" \
        "a full disk is an error"
fi

# --- dla map ---

tap_is "$(dla map --file view.crs --nodes x:3,y:3)" "# weight inside nodes: 14 of 20; by slot 4
# rank node
0 x
1 x
2 y
3 y
4 x
5 y" "map: the paper's example on two nodes"

tap_is "$(dla map -f view.crs -n x:3,y:3 -o rankfile)" "rank 0=x slot=0
rank 1=x slot=1
rank 2=y slot=0
rank 3=y slot=1
rank 4=x slot=2
rank 5=y slot=2" "map: as a rankfile"

tap_is "$(dla map -f view.crs -n x:3,y:3 --format=hostfile | tr '\n' ' ')" "x x y y x y " \
    "map: as a hostfile"

cat >hosts <<END
# our cluster
x slots=2  # half of it
y slots=3 max_slots=8

x
END
tap_is "$(dla map -f view.crs -H hosts -o hostfile | tr '\n' ' ')" "x x y y x y " \
    "map: nodes of a hostfile, one named twice"

tap_is "$(dla map --cart 2x2x4 --nodes a:4,b:4,c:4,d:4 -o hostfile | uniq -c | xargs)" \
    "4 a 4 b 4 c 4 d" "map: the lines of a grid stay together"
tap_is "$(dla map --cart 2x2x4 --nodes a:4,b:4,c:4,d:4 | head -n 1)" \
    "# weight inside nodes: 1200 of 1288; by slot 1200" "map: weights of a grid"
tap_is "$(dla map --cart 2x2x2 -n a:2,b:4,c:2 -t 90 -o hostfile | xargs)" "b b b b a a c c" \
    "map: threshold 90 keeps planes together"

tap_is "$(dla map --cart 2x4 -n a:4,b:4 --method=bynode -o hostfile | xargs)" "a b a b a b a b" \
    "map: by another method"
tap_is "$(dla map --cart 4x4 -n a:5,b:5,c:6 -m levelled -r off | sed 1,2d | awk '{ print $2 }' | sort | uniq -c | xargs)" \
    "5 a 5 b 6 c" "map: not refined"
refuses 2 "dla map: 'best' is not a method: auto, setmatch, levelled, agglomerative, bisection, byslot, bynode or mpipp" \
    "map: a method there is not" dla map --cart 2x4 -n a:8 --method=best
refuses 2 "dla map: --refine is on or off, not 'maybe'" "map: refine neither on nor off" \
    dla map --cart 2x4 -n a:8 --refine=maybe
refuses 1 "dla: 6 ranks are more than the nodes have slots" "map: too few slots" \
    dla map -f view.crs -n x:3,y:2
refuses 1 "dla: cut.crs:2: the file ends where the number of entries is expected" \
    "map: a truncated file" dla map -f cut.crs -n x:3
refuses 1 "dla: nohosts: No such file or directory" "map: a missing hostfile" \
    dla map -f view.crs -H nohosts
refuses 1 "dla: empty.crs: no hosts" "map: an empty hostfile" dla map -f view.crs -H empty.crs
printf 'x slots=3\ny slots=three\n' >bad
refuses 1 "dla: bad:2: 'slots=three' is not slots=N" "map: a bad hostfile" \
    dla map -f view.crs -H bad
refuses 1 "dla: the grid: Value too large for defined data type" "map: too large a grid" \
    dla map --cart 4294967296x4294967296 -n x:3
for cart in 2x 2x0 x 2y2 -2x2 "" 99999999999999999999; do
    refuses 2 "dla map: the grid is one AxB[xC...]" "map: the grid '$cart'" \
        dla map --cart="$cart" -n x:3
done
for nodes in x: x:y :3 "" x,,y x:-1; do
    refuses 2 "dla map: the nodes are NAME[:SLOTS],..." "map: the nodes '$nodes'" \
        dla map -f view.crs --nodes="$nodes"
done
for threshold in 101 -1 ten "" 1.5; do
    refuses 2 "dla map: the threshold is 0 to 100 per cent, not '$threshold'" \
        "map: the threshold '$threshold'" dla map -f view.crs -n x:6 --threshold="$threshold"
done
refuses 2 "dla map: 'xml' is not a format: table, rankfile or hostfile" "map: an unknown format" \
    dla map -f view.crs -n x:6 -o xml
refuses 2 "dla map: one of --file and --cart is needed" "map: no view" dla map -n x:6
refuses 2 "dla map: one of --file and --cart is needed" "map: two views" \
    dla map -f view.crs -c 2x3 -n x:6
refuses 2 "dla map: one of --nodes and --hostfile is needed" "map: no nodes" dla map -f view.crs
refuses 2 "dla map: one of --nodes and --hostfile is needed" "map: nodes twice" \
    dla map -f view.crs -n x:6 -H hosts
refuses 2 "dla map: unrecognized option '--nonsense'" "map: an unknown option" dla map --nonsense
refuses 2 "dla map: 'more' is one argument too many" "map: an argument" dla map -c 2 -n x:6 more

# --- tatp ---

tap_is "$(tatp plan --requests C.mtx --hops H.mtx --hosts a,a,b,b,c,c)" \
    "# hop-bytes: a row for each rank, a column for each domain
9 19 24
11 17 24
8 24 20
12 24 16
32 16 20
32 20 16
# strategy hop-bytes bytes-between-nodes most-bytes-of-a-link rank-of-each-domain
tatp 40 12 8 2 4 3
latp_volume 42 12 8 0 1 3
latp_count 42 12 8 0 1 3
otp 53 16 8 0 2 4" "plan: the paper's example"

grep -v hosts H.mtx >numbers.mtx
tap_is "$(tatp plan -r C.mtx -d numbers.mtx -n 0,0,1,1,2,2 -q | sed 1d | cut -d ' ' -f 1,2 | tr '\n' ' ')" \
    "tatp 40 latp_volume 42 latp_count 42 otp 53 " "plan: nodes by number"
tap_is "$(tatp plan -r C.mtx -d H.mtx -H a,a,b,b,c,c -q -m 1 | sed 1d | cut -d ' ' -f 1,2 | tr '\n' ' ')" \
    "tatp 41 latp_volume 41 latp_count 41 otp 53 " "plan: one domain on a node"
tap_is "$(tatp plan -r C.mtx -d H.mtx -H a,a,b,b,c,c -q -o congestion | sed -n 2p)" "tatp 41 12 4 0 4 3" \
    "plan: the least load of a link"
tap_is "$(tatp plan -r C.mtx -n 0,0,1,1,2,2 -q | sed 1d | cut -d ' ' -f 1,2 | tr '\n' ' ')" \
    "tatp 24 latp_volume 26 latp_count 26 otp 37 " "plan: nothing known of the network"

tatp plan -r C.mtx -d H.mtx -H a,a,b,b,c,c | sed -n '2,7p' | tr ' ' '\n' >w
{
    echo '%%MatrixMarket matrix array integer general'
    echo '6 3'
    for column in 0 1 2; do awk -v c=$column '(NR - 1) % 3 == c' w; done
} >W.mtx
for solver in $(tatp assign --help | sed '1,/^Solvers:/d' | awk '{ print $1 }'); do
    tap_is "$(tatp assign --solver "$solver" W.mtx | tail -n 1)" "# total 40" \
        "assign: least cost by $solver"
done
tap_is "$(tatp assign W.mtx | sed 1d | awk '{ s += $3 } END { print NR - 1, s - 40 }')" "3 40" \
    "assign: a line for each column, and the sum"

refuses 1 "tatp: H.mtx: host z is not in the file" "plan: an unknown host" \
    tatp plan -r C.mtx -d H.mtx -H a,a,b,b,z,z
refuses 1 "tatp: C.mtx: 6 rows, but 4 ranks have a node" "plan: too few nodes" \
    tatp plan -r C.mtx -n 0,0,1,1
sed 's/^6 3 4$/9 3 4/' C.mtx >range.mtx
refuses 1 "tatp: range.mtx:10: a row is 9, not in 1..6" "plan: a row out of range" \
    tatp plan -r range.mtx -n 0,0,1,1,2,2
sed 's/^6 3 4$/6 3 -4/' C.mtx >negative.mtx
refuses 1 "tatp: negative.mtx: negative bytes: -4" "plan: negative bytes" \
    tatp plan -r negative.mtx -n 0,0,1,1,2,2
tatp plan -r C.mtx -n 0,0,0,0,0,0 -q -m 1 >out 2>err
tap_is "$?: $(cat err)" "1: tatp: tatp: 6 ranks cannot serve 3 domains with so few on a node" \
    "plan: more domains than may be served"
refuses 2 "tatp plan: --requests is needed" "plan: no requests" tatp plan -n 0
refuses 2 "tatp plan: one of --nodes and --hosts is needed" "plan: no nodes" tatp plan -r C.mtx
refuses 2 "tatp plan: --nodes and --hosts are given once" "plan: nodes and hosts" \
    tatp plan -r C.mtx -n 0 -H a
for nodes in 0,,1 a,b -1 "" 99999999; do
    refuses 2 "tatp plan: the nodes are numbers, one for each rank" "plan: the nodes '$nodes'" \
        tatp plan -r C.mtx --nodes="$nodes"
done
refuses 2 "tatp plan: 'simplex' is not a solver" "plan: an unknown solver" \
    tatp plan -r C.mtx -n 0 -s simplex
refuses 2 "tatp plan: 'time' is not an objective" "plan: an unknown objective" \
    tatp plan -r C.mtx -n 0 -o time
refuses 2 "tatp plan: 'x' is not a number of domains" "plan: a bad limit" \
    tatp plan -r C.mtx -n 0 -m x
refuses 1 "tatp: missing.mtx: No such file or directory" "assign: a missing file" \
    tatp assign missing.mtx
printf '%%%%MatrixMarket matrix array integer general\n1 2\n3\n4\n' >wide.mtx
refuses 1 "tatp: wide.mtx: 2 columns for 1 rows" "assign: more columns than rows" \
    tatp assign wide.mtx
refuses 2 "tatp assign: no file is given" "assign: no file" tatp assign

# --- both ---

for tool in dla tatp; do
    refuses 2 "$tool: no command is given" "$tool alone" $tool
    refuses 2 "$tool: 'fly' is not a command" "$tool: an unknown command" $tool fly
    tap_contains "$($tool --help)" "Usage: $tool" "$tool --help"
    tap_contains "$($tool --version)" "$tool (tatp-dla" "$tool --version"
done

# --- tatp topology ---

fixtures=${top_srcdir:-$here/../..}/tests/fixtures/topology

tap_is "$(tatp topology "$fixtures/ibnetdiscover.edge.out")" "format ibnetdiscover
hosts 2
unnamed-adapters 2
switches 2
links 9
forwarding-tables 0
traces 0
levels 1
chosen 2
places 2
# hops pairs-of-hosts
2 2
# hops from each host (row) to each
node-01.cluster.local 0 2
x1000c0s1b0n0 2 0" "topology: ibnetdiscover"

histogram="2 192
4 768
6 3072"
for files in ibnetdiscover.3level.out slurm-topology.conf slurm-scontrol.out opensm-subnet.3level.lst \
    "opensm-subnet.3level.lst opensm-lfts.3level.dump" "ibnetdiscover.3level.out opensm.fdbs.3level"; do
    for file in $files; do cat "$fixtures/$file"; done >fabric
    tap_is "$(tatp topology fabric | sed '1,/^#/d')" "$histogram" "topology: $files"
done

tap_is "$(tatp topology --json --hosts 'n[0-1]:32,n16' "$fixtures/slurm-topology.conf")" \
    '{"format":"Slurm, tree of switches","hosts":64,"unnamed_adapters":0,"switches":21,"links":84,'\
'"forwarding_tables":0,"traces":0,"joined":false,"depth":3,"places":2,"missing":[],'\
'"distances":[{"hops":2,"pairs":2},{"hops":6,"pairs":4}],"chosen":["n0","n1","n16"],'\
'"hops":[[0,2,6],[2,0,6],[6,6,0]]}' "topology: JSON"

printf 'SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2\n' >two.conf
tap_contains "$(tatp topology two.conf)" "joined" "topology: trees without a common top"
printf 'n2\nn0 n0\n' >ranks
tap_is "$(tatp topology two.conf --hosts @ranks | tail -n 2)" "n2 0 4
n0 4 0" "topology: hosts from a file"
tatp topology two.conf --hosts n1,m1,m2 >out 2>err
tap_is "$? $(grep missing out) $(cat err)" "1 missing m1
missing m2 tatp: two.conf: 2 of 3 hosts are not in the file, m1 first" "topology: missing hosts"
tap_is "$(tatp topology H.mtx | tail -n 4)" "# hops from each host (row) to each
a 0 2 4
b 2 0 4
c 4 4 0" "topology: a file of hops"
tap_is "$(tatp plan --requests C.mtx --hops two.conf --hosts n0,n0,n1,n1,n2,n2 --quiet | tail -n 1)" \
    "otp 53 16 8 0 2 4" "plan: hops from any topology"

printf 'SwitchName=a Nodes=n[0-1\n' >open.conf
refuses 1 "tatp: open.conf:1: '[' without ']' in a list of hosts" "topology: malformed" tatp topology open.conf
refuses 1 "tatp: 'n0:x' is not a host, or a host with a number of slots" "topology: slots" \
    tatp topology two.conf --hosts n0:x
refuses 1 "tatp: none: No such file or directory" "topology: no such list" \
    tatp topology two.conf --hosts @none
refuses 2 "tatp topology: no file is given" "topology: no file" tatp topology
refuses 2 "tatp topology: 'b' is one argument too many" "topology: two files" tatp topology a b

tap_plan
