#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line programs in $TOOLS_DIR: what both do alike, and what dla prints and refuses.
here=$(cd "$(dirname "$0")" && pwd)
. "${top_srcdir:-$here/../..}/tests/tools/lib.sh"

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

# --- both ---

for tool in dla tatp; do
    refuses 2 "$tool: no command is given" "$tool alone" $tool
    refuses 2 "$tool: 'fly' is not a command" "$tool: an unknown command" $tool fly
    tap_contains "$($tool --help)" "Usage: $tool" "$tool --help"
    tap_contains "$($tool --version)" "$tool (tatp-dla" "$tool --version"
done

tap_plan
