#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line program dla in $TOOLS_DIR: what it prints, what it refuses.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

PYTHON3=${PYTHON3:-python3}

# json EXPRESSION: of `d`, the JSON on standard input.
json() { "$PYTHON3" -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# The example of the SetMatch paper.
printf '%s\n' FILEVIEW "% program tiles" "% ranks 6" "20 7" "1 4 0 3 4 5 3 4 5 1 2 4 0 1 2 3 5 1 2 4 " \
    "1 4 1 1 4 1 2 1 3 1 2 1 4 4 1 1 2 1 3 2 " "1 3 7 10 13 18 21 " >view.crs

# --- show ---

tap_is "$(dla show view.crs | xargs)" "ranks 6 entries 20 weight 20 largest 4 between ranks 0 and 4 % program tiles % ranks 6" "show tells what the matrix holds"
tap_is "$(dla show --json view.crs | json '[d[k] for k in ("ranks", "entries", "weight", "largest", "largest_between", "profile", "provenance")]')" \
    "[6, 20, 20, 4, [0, 4], [], ['program tiles', 'ranks 6']]" "show: JSON"
{
    echo FILEVIEW
    printf '%% file "a\\b\tc" of \xc3\xa9\n'
    sed 1,3d view.crs
} >odd.crs
tap_described dla.1 show "$(dla show --json "$top_srcdir/tests/fixtures/recorded/4.1.crs")"
tap_described dla.1 json "$(dla map -F json -n 'n[0-1]:4' "$top_srcdir/tests/fixtures/recorded/4.1.crs")"
tap_is "$(dla show -j odd.crs | json 'ascii(d["provenance"])')" "['file \"a\\\\b\\tc\" of \\xe9']" \
    "show: JSON of a comment with quotes, backslash, tab and UTF-8"

printf 'FILEVIEW\n0 3\n\n\n1 1 1 \n' >none.crs
tap_is "$(dla show none.crs | xargs)" "ranks 2 entries 0 weight 0 largest 0" "show of a matrix without entries"

printf 'FILEVIEW\n' >cut.crs
: >empty.crs
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 9223372036854775807\n2 1 1\n' >over.mtx
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 -3\n' >negative.mtx
tap_refuses_each "show, convert, setup, forget: what is refused" dla <<'END'
1|show cut.crs|cut.crs:2:
1|show empty.crs|empty.crs:
1|show missing.crs|missing.crs:
1|show .|.:
1|show over.mtx|over.mtx:
2|show|show:
2|show a b|'b'
1|convert negative.mtx --to fileview|negative.mtx:3: -3
2|convert view.crs --to xml|'xml' mtx fileview
2|convert view.crs|--to
2|convert --to mtx|convert:
2|setup x|'x'
2|forget 01 ""|--all
END

# placed WANTED NAME ARGUMENT...: the node of each rank by dla map, after what it says on standard error
placed() { tap_is "$(dla map "${@:3}" -F slurm 2>&1 | xargs)" "$1" "map: $2"; }

# mapped EXPRESSION WANTED NAME ARGUMENT...: of `d`, the JSON of dla map
mapped() { tap_is "$(dla map "${@:4}" -F json | json "$1")" "$2" "map: $3"; }

# --- map: formats ---

tap_is "$(dla map --file view.crs --nodes x:3,y:3)" "# weight inside nodes: 14 of 20; by slot 4
# rank node
0 x
1 x
2 y
3 y
4 x
5 y" "map: the paper's example on two nodes"
tap_is "$(dla map -f view.crs -n x:3,y:3 -F rankfile | paste -sd ';')" "rank 0=x slot=0;rank 1=x slot=1;rank 2=y slot=0;\
rank 3=y slot=1;rank 4=x slot=2;rank 5=y slot=2" "map: as a rankfile"
# Cores 0 to 3 are in one NUMA node, 4 to 7 in another.
machine=$top_srcdir/tests/fixtures/machine/adapters-on-both-packages.xml
dla map -c 2x4 -O Fortran -n x:8 -m byslot -F rankfile -M "$machine" >near 2>said
tap_is "$(sed 's/.*slot=//' near | sort -n | xargs)" "0 1 2 3 4 5 6 7" "map: a rankfile with the machine: on the same cores"
tap_is "$(awk -F '[ =]' '{ node[$2] = int($5 / 4) } END { for (r = 0; r < 4; r++) print node[r] == node[r + 4] }' near | xargs)" \
    "1 1 1 1" "map: a rankfile with the machine: neighbours share a NUMA node"
tap_contains "$(cat said)" "dla: mean hops between neighbours of a node: 0.871 as the launcher binds, 0.626 arranged" "map: what that is worth"
# Other releases of hwloc may load it.
sed '/type="Core"/s/ complete_cpuset="[^"]*"//' "$machine" >crash.xml
dla map -f view.crs -n x:6 -F rankfile -M crash.xml >out 2>err
tap_check "map: a machine at which hwloc 2.9 crashes" grep -q "^rank 5\|^dla: crash.xml: " out err
for format in "hostfile x:2 y:2 x:1 y:1" "rankmap 0,0,1,1,0,1" "slurm x x y y x y" "seq x x y y x y" "cray # x 0,1,4 # y 2,3,5"; do
    tap_is "$(dla map -f view.crs -n x:3,y:3 --format="${format%% *}" 2>said | xargs)" "${format#* }" "map: as $format"
    lines=$([[ $format != hostfile* ]] || echo "takes these 4 lines for as many nodes, not 2: ")
    tap_is "$(sed -n 's/^dla: MPICH \(.*\)see .*/\1/p' said)" "$lines" "map: ... for how many nodes MPICH takes it"
done
tap_is "$(dla map -f view.crs -n w:0,x:4,y:3 --method byslot -F cray | xargs)" "# x 0,1,2,3 # y 4,5" \
    "map: an order of ranks, the last node with fewer"
mapped '[d[k] for k in ("method", "ranks", "node_of_rank", "weight_inside", "weight_total")]' \
    "['auto', 6, ['x', 'x', 'y', 'y', 'x', 'y'], 14, 20]" "JSON" -f view.crs -n x:3,y:3
mapped '0 <= d["seconds"] < 60, abs(d["cost"] - (14 / 3500 + 6 / 2100)) < 1e-12, "crossing_bytes" in d' \
    "(True, True, False)" "JSON: seconds, cost, and no bytes where there is no profile" -f view.crs -n x:3,y:3
dla convert view.crs --to mtx >view.mtx
mapped 'd["node_of_rank"], d["weight_inside"], d["weight_total"]' "(['x', 'x', 'y', 'y', 'x', 'y'], 14, 20)" \
    "a Matrix Market file, as convert writes it" -f view.mtx -n x:3,y:3
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 7\n' >once.mtx
mapped 'd["weight_inside"], d["weight_total"], round(d["cost"] * 3500, 9)' "(7, 7, 7.0)" \
    "the whole weight of values that are stored once" -f once.mtx -n x:2
tap_is "$(dla show once.mtx | sed -n 3p)" "weight 7" "show: the whole weight of values that are stored once"
tap_is "$(dla map view.crs -n x:3,y:3)" "$(dla map --file view.crs --nodes x:3,y:3)" "map: the view without an option"

# --- setup ---

export HOME=$PWD/home
mkdir home
if [[ -z $OMPI_VERSION ]]; then
    tap_refuses 1 "map" dla setup
elif [[ $OMPI_VERSION == 4.* ]]; then
    setting=$(dla setup | sed -n "s/^export OMPI_MCA_mca_base_component_path='\(.*\):.*'/\1/p")
    if [[ $setting == */.openmpi/components ]]; then
        tap_contains "$(HOME=${setting%/.openmpi/components} dla setup)" "without a setting" "setup: in the home folder Open MPI 4 needs none"
        tap_is "$(dla setup --write && cat home/.openmpi/mca-params.conf)" "$PWD/home/.openmpi/mca-params.conf: set mca_base_component_path
# where mpirun finds --map-by dla
mca_base_component_path = $setting:$OMPI_PKGLIBDIR" "setup: elsewhere the setting is stored"
    elif [[ -z $setting ]]; then
        tap_contains "$(dla setup)" "without a setting" "setup: Open MPI's own folder needs none"
    fi
elif [[ ! -e ${TATP_COMPONENT_PATH%%:*}/prrte ]]; then
    tap_refuses 1 "$OMPI_VERSION: --format" dla setup
else
    unset PMIX_MCA_mca_base_component_path
    said=$(PMIX_MCA_mca_base_component_path="prte@$PWD/site" dla setup)
    tap_contains "$(dla setup)" "export PMIX_MCA_mca_base_component_path='/" "setup: one line for the shell"
    tap_contains "$said" "='prte@$PWD/site;prte@" "setup: a site's path stays"
    tap_is "$(eval "$said" && dla setup)" "$said" "setup: once in the path is enough"
    tap_check "setup: stores the setting" dla setup --write
    tap_check "setup: stores it once" dla setup --write
    tap_is "$(grep -c '^mca_base_component_path = ' home/.pmix/mca-params.conf)" 1 "setup: one line in the parameter file"
    sed -i 's/= .*/= other/' home/.pmix/mca-params.conf
    tap_refuses 1 "mca-params.conf other" dla setup --write
    tap_is "$(sed -n 's/.*= //p' home/.pmix/mca-params.conf)" other "setup: another value stays"
fi

# --- map: nodes ---

tap_is "$(dla map --cart 4x2 --nodes 'n[1-2]:3,m:2' -F slurm | sort | uniq -c | xargs)" "2 m 3 n1 3 n2" \
    "map: nodes as Slurm lists them"
cat >hosts <<END
# our cluster
x slots=2  # half of it
y slots=3 max_slots=8

x
END
placed "x x y y x y" "nodes of a hostfile, one named twice" -f view.crs -H hosts
printf 'user@a slots = 2 port=22\nb max-slots=3\n c count=2\r\nd\n^d\n^e\n' >hosts
tap_is "$(dla map --cart 7 -H hosts -F slurm -m byslot | xargs)" "a a b b b c c" \
    "map: a hostfile with users, max-slots alone, blanks around '=', nodes taken out"
printf 'a.x.org slots=2 // the first, by its long name\n/* two\nlines */ b slots=1 /* the second */\nb//again\n10.0.0.1\n' >hosts
printf '%s\n' x.a x.a y.a x.a y.a y.a >lines
for allocation in "SLURM_JOB_NODELIST=n[0-2],x SLURM_TASKS_PER_NODE=3,1(x2),1:3 n0 1 n1 1 n2 1 x" "PBS_NODEFILE=lines:3 x.a 3 y.a" \
    "LSB_DJOB_HOSTFILE=lines:3 x.a 3 y.a" "SLURM_JOB_NODELIST=x[2-3] SLURM_TASKS_PER_NODE=3(x2) PBS_NODEFILE=lines:3 x2 3 x3"; do
    # shellcheck disable=SC2086 # several variables
    tap_is "$(env ${allocation%:*} "$TOOLS_DIR/dla" map --cart 6 -F slurm -m byslot | uniq -c | xargs)" "${allocation##*:}" "map: the nodes of ${allocation%:*}"
done
export SLURM_JOB_NODELIST='n[0-1]' SLURM_TASKS_PER_NODE=3
tap_refuses 2 "--nodes --hostfile" dla map --cart 6
export SLURM_TASKS_PER_NODE='3(x2)' SLURM_HET_SIZE=2
tap_refuses 2 "--nodes --hostfile" dla map --cart 6
unset SLURM_JOB_NODELIST SLURM_TASKS_PER_NODE SLURM_HET_SIZE
tap_is "$(dla map --cart 5 -H hosts -F slurm -m byslot | xargs)" "a a b b 10.0.0.1" "map: a hostfile with Open MPI's comments and domains"
printf 'x\ny slots=0\n' >few
tap_refuses_each "map: hosts that are refused" "dla map -f view.crs" <<'END'
1|-H - < <(printf 'x slots=3\ny slots=three\n')|-:2: 'slots=three'
1|-H - < <(printf 'x slots=3\nx slots=3\n')|-:2: x
1|-H - < <(printf 'x slots=3\nx.org\n')|-:2: x:
1|-H - < <(printf '+n0 slots=3\n')|-:1: '+n0'
1|-H - < <(printf 'x /* the\nfirst */ slots=3\n')|-:2: 'slots=3'
1|-H - < <(printf 'x /* the\nfirst')|-:
1|-H - < <(printf 'x slots=3 max_slots=2\n')|-:1: x max_slots=2
1|-H nohosts|nohosts:
1|-H empty.crs|empty.crs:
2|-n x:|'x:'
2|-n x:y|'x:y'
2|-n +n0|'+n0'
2|-n 'a"b'|'a"b'
2|-n a@b|'a@b'
2|-n .a|'.a'
1|-n x:3,y:2|6 5 3
1|-n 'n[0-1,4],m'|6 4 2
1|-H few|6 1 slots=3
END

# --- map: what is placed, and how ---

tap_is "$(dla map --cart 2x2x4 --nodes a:4,b:4,c:4,d:4 -F slurm | uniq -c | xargs)" \
    "4 a 4 b 4 c 4 d" "map: the lines of a grid stay together"
tap_is "$(dla map --cart 2x2x4 --nodes a:4,b:4,c:4,d:4 | head -n 1)" \
    "# weight inside nodes: 1200 of 1288; by slot 1200" "map: weights of a grid"
placed "dla: placed by 3x4 (by node): weight 803 between nodes -> 9 a b c d a b c d a b c d" \
    "in Fortran order the first dimension stays together" --cart 3x4 --order fortran -n a:3,b:3,c:3,d:3
placed "dla: not placed by 4x3: weight 9 between nodes stays, a placement saves less than 2 % a a a b b b c c c d d d" \
    "in C order the last does" --cart 4x3 --order C -n a:3,b:3,c:3,d:3
tap_is "$(dla map --cart 2x2x2x2x2x2x2x2x2x2 -n 'n[0-63]:16' | head -n 1 | cut -d ' ' -f 5)" 66560 "map: a grid of ten dimensions"
placed "a b a b a b a b" "by another method" --cart 2x4 -n a:4,b:4 --method=bynode
# Which values there are: tests/unit/test_dla_spec.c.
tap_refuses_each "map: what is refused" "dla map" <<'END'
2|-c 2x4 -n a:8 --method=best|method=best setmatch
2|-c 2x4 -n a:8 --method=setmach|method=setmach setmatch?
2|-c 2x -n x:3|"2x" 4x2x2
2|--cart= -n x:3|""
2|-n x:6|--cart
2|-f view.crs -c 2x3 -n x:6|--cart
2|-c 2 -n x:6 more|--cart
2|-f view.crs|--nodes --hostfile
2|-f view.crs -n x:6 -H hosts|--nodes --hostfile
2|-f view.crs -n x:6 -O C|--order --cart
2|-f view.crs -f view.crs -n x:6|file
2|view.crs more.crs -n x:6|'more.crs'
2|--zero|'--zero'
2|-f view.crs -n x:6 -F xml|'xml' rankfile
2|view.crs -n x:6 -F jsno|'jsno' 'json'
2|-f view.crs -n x:6 -F seq -M "$machine"|--machine --format
1|-c 18 -n x:17,y:1 -m byslot -F rankfile -M "$machine"|x 17 16 --machine
1|-f view.crs -n x:6 -F rankfile -M view.crs|view.crs:
1|-f view.crs -n x:2,y:4 -m byslot -F cray|y 4 2
1|-f view.crs -n x:5,y:6 -F cray|y 6 0
1|-f over.mtx -n x:1,y:1|over.mtx:
1|-f view.crs -n a:6 -o profile|view.crs objective=profile
1|-c 2x3 -n a:6 -o profile|2x3 objective=profile
END

# --- map: a profile ---

# In the view ranks 0 and 1 are bound, and 2 and 3; but 0 and 2 access the same parts of the file.
printf '%s\n' FILEVIEW "% program pairs" "4 5" "1 0 3 2 " "1 1 1 1 " "1 2 3 4 5 " "ACCESS 2 0 1048576 4 4 8 out file" \
    "0 2 0 1048576 1 1048576" "1 2 2 1048576 3 1048576" "2 2 0 1048576 1 1048576" "3 2 2 1048576 3 1048576" >profile.crs
tap_is "$(dla show profile.crs | sed -n 5p)" "calls 2 of 4194304 bytes in 4 bins of 1048576 from 0 in out file" \
    "show: the calls of a profile"
tap_is "$(dla show -j profile.crs | json 'd["profile"]')" \
    "[{'file': 'out file', 'calls': 2, 'first': 0, 'bin_bytes': 1048576, 'bins': 4, 'entries': 8, 'bytes': 8388608}]" \
    "show: the calls of a profile, JSON"
placed "dla: placed by profile.crs (by node): 4.19 MB between nodes -> 0 a b a b" "by the profile, where there is one" -f profile.crs -n a:2,b:2
placed "a a b b" "by neighbours" -f profile.crs -n a:2,b:2 -o neighbours
tap_is "$(dla map -f profile.crs -n a:2,b:2 -o neighbours | sed -n 2p)" \
    "# bytes that leave their node: 4194304 of 8388608; by slot 4194304" "map: bytes that leave their node"
mapped 'd["crossing_bytes"], d["total_bytes"]' "(0, 8388608)" "bytes that leave their node, JSON" -f profile.crs -n a:2,b:2
sed 's/^% program.*/% independent: 500/; /^ACCESS/,$d' profile.crs >alone.crs
tap_is "$(dla map -f alone.crs -n a:2,b:2 | sed 2,3b\;d)" "# bytes that leave their node: 0 of 500; by slot 0
# not placed by alone.crs: no bytes between nodes" "map: calls without aggregators are mapped by slot"
mapped 'd["kept"], d["node_of_rank"], d["crossing_bytes"], d["total_bytes"]' "('slot', ['a', 'a', 'b', 'b'], 0, 500)" \
    "without aggregators, JSON" -f alone.crs -n a:2,b:2
sed '/^ACCESS/,$s/^2 2 0 \(.*\) 1 /2 2 2 \1 3 /; /^ACCESS/,$s/^1 2 2 \(.*\) 3 /1 2 0 \1 1 /' profile.crs >order.crs
mapped 'd["kept"], d["node_of_rank"]' "('slot', ['a', 'a', 'b', 'b'])" "a placement that gains nothing is not taken" \
    -f order.crs -n a:2,b:2
tap_is "$(dla map -f order.crs -n a:2,b:2 -m setmatch -F json | json '"kept" in d')" False "map: a method that is demanded is"
tap_is "$(dla map -f profile.crs -n a:2,b:2 -F json | json 'd["kept"]')" node "map: by node where that is as good"
kept="not placed by order.crs: no bytes between nodes"
tap_contains "$(dla map -f order.crs -n a:2,b:2)" "# $kept" "map: a placement that is not taken"
tap_is "$(dla map -f order.crs -n a:2,b:2 -F slurm 2>said | xargs)" "a a b b" "map: ... in the format of a launcher"
tap_is "$(cat said)" "dla: $kept" "map: ... which standard error says"

# --- groups of nodes ---

printf '%s\n' FILEVIEW "2 5" "1 0" "1 1" "1 2 3 3 3" "ACCESS 1 0 1048576 4 4 6 f" "0 1 0 1048576" "1 2 0 3 1 1048576" \
    "2 1 2 1048576" "3 2 0 2 3 1048576" >groups.crs
printf 'SwitchName=l0 Nodes=a,b\nSwitchName=l1 Nodes=c,d\nSwitchName=top Switches=l0,l1\n' >groups.conf
groups="groups.crs -n a:1,b:1,c:1,d:1 -T groups.conf"
# shellcheck disable=SC2086 # words
{
    mapped 'd["crossing_bytes"], d["crossing_by_level"]' "(5, [5, 2])" "bytes that leave their node and their switch, JSON" \
    -f $groups -m byslot
    tap_is "$(dla map -f $groups -m byslot | sed -n 2,3p)" "# bytes that leave their node: 5 of 4194309; by slot 5
# bytes that leave their group of nodes, level 1: 2; by slot 2" "map: bytes that leave their switch"
}
# --- map: a network ---

# Pairs of ranks share nodes, pairs of pairs leaves, and these pods; leaves and pods are not in the order of names.
printf '%s\n' "%%MatrixMarket matrix coordinate integer symmetric" "16 16 15" {9\ 1,10\ 2,11\ 3,12\ 4,13\ 5,14\ 6,15\ 7,16\ 8}" 1000" \
    {5\ 1,6\ 2,7\ 3,8\ 4}" 100" {3\ 1,4\ 2}" 10" "2 1 1" >levels.mtx
dla convert levels.mtx --to fileview >levels.crs
printf 'SwitchName=%s\n' leaf0\ Nodes=n[0,4] leaf1\ Nodes=n[1,5] leaf2\ Nodes=n[2,6] leaf3\ Nodes=n[3,7] pod0\ Switches=leaf[0,3] \
    pod1\ Switches=leaf[1,2] core\ Switches=pod[0-1] >tree.conf
# together FORMAT: which ranks share a node, a leaf, a pod: 1 for each that holds.
together() {
    "$PYTHON3" -c '
import sys
node = [int(line[1:]) for line in sys.stdin]
leaf = [n % 4 for n in node]
pod = [l in (1, 2) for l in leaf]
print(all(node[r] == node[r + 8] for r in range(8)), all(leaf[r] == leaf[r + 4] for r in range(4)),
      all(pod[r] == pod[r + 2] for r in range(2)), max(map(node.count, node)))'
}
tap_is "$(dla map -f levels.crs -n 'n[0-7]:2' -T tree.conf -F slurm | together)" "True True True 2" \
    "map: nodes, switches, and what is above them"
tap_is "$(dla map -f levels.crs -n 'n[0-7]:2' -F slurm | together | cut -d ' ' -f 1,3)" "True False" \
    "map: without a topology only nodes count"
printf '%s\n' "%%MatrixMarket matrix coordinate integer symmetric" "% bandwidth in MB/s" "% hosts n0 n1 n2 n3" "% hosts n4 n5 n6 n7" \
    "8 8 36" >bandwidth.mtx
awk 'BEGIN { for (i = 0; i < 8; i++) for (j = 0; j <= i; j++) {
    a = i % 4; b = j % 4; pod = (a == 1 || a == 2) == (b == 1 || b == 2)
    print i + 1, j + 1, i == j ? 9000 + i : a == b ? 1000 - 3 * i - j : pod ? 500 + 2 * i + j : 200 + i } }' >>bandwidth.mtx
tap_is "$(dla map -f levels.crs -n 'n[0-7]:2' -T bandwidth.mtx -F slurm | together)" "True True True 2" \
    "map: the same from measured bandwidths"
cost=$(dla map -f levels.crs -n 'n[0-7]:2' -T bandwidth.mtx -F json | json 'd["cost"]')
tap_is "$("$PYTHON3" -c "print(abs($cost - (8000 / 9003.5 + 400 / 982 + 20 / 511 + 1 / 205)) < .005 * $cost)")" True \
    "map: the cost by measured bandwidths"
printf '%%%%MatrixMarket matrix coordinate integer general\n%% bandwidth\n1 1 0\n' >nothing.mtx
tap_refuses_each "map: networks that are refused" "dla map -f levels.crs" <<'END'
1|-n m0:16 -T tree.conf|tree.conf: m0
1|-n m0:16 -T bandwidth.mtx|bandwidth.mtx: m0
1|-n n0:16 -T nothing.mtx|nothing.mtx:
1|-n n0:16 -T none.conf|none.conf:
END

# --- convert ---

tap_is "$(dla convert view.crs --to mtx | head -n 6 | paste -sd ';')" "%%MatrixMarket matrix coordinate integer general;\
% program tiles;% ranks 6;6 6 20;1 2 1;1 5 4" "convert: Matrix Market"
dla convert view.mtx --to fileview >back.crs
tap_check "convert: there and back" cmp view.crs back.crs
dla convert profile.crs --to fileview >back.crs
tap_check "convert: a profile stays" cmp profile.crs back.crs

tap_plan
