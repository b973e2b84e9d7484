#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line programs in $TOOLS_DIR: what both do alike.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

# --- both ---

for tool in dla tatp; do
    tap_refuses 2 "$tool: no command is given; '$tool help' lists them" "$tool alone" $tool
    tap_is "$(sed -n '/^First/,$p' err)" "$($tool --help | sed -n '/^First/,/^$/p')" "$tool alone: the first steps"
    commands=$($tool --help | sed -n '/^Commands:/,/^[^ C]/s/^  \([a-z]*\)  .*/\1/p')
    tap_contains "$($tool fly 2>&1)" "$tool: 'fly' is not a command: " "$tool: an unknown command"
    for command in $commands; do
        tap_contains " $($tool fly 2>&1 | head -n 1)," " $command," "$tool: an unknown command: there is $command"
        [[ $tool:$command != dla:pingpong ]] || continue
        tap_is "$($tool help "$command")" "$($tool "$command" --help)" "$tool help $command"
        tap_is "$($tool "$command" -h)" "$($tool "$command" --help)" "$tool $command -h"
    done
    for option in --help -h help; do
        tap_contains "$($tool $option)" "Usage: $tool" "$tool $option"
    done
    tap_check "$tool --help begins with the first steps" grep -q -x 'First steps:' <($tool --help | head -n 4)
    tap_contains "$($tool --version)" "$tool (tatp-dla" "$tool --version"
done

# --- endless input ---

# bounded NAME MESSAGE COMMAND...: refuses with that message within 400 MB.
bounded() {
    local name=$1 message=$2
    shift 2
    tap_refuses 1 "$message" "$name" bash -c 'ulimit -v 400000 && exec "$@"' bash "$@"
}

printf '%%%%MatrixMarket matrix array integer general\n1 1\n1\n' >one.mtx
bounded "an endless view" "dla: /dev/zero:1: a NUL byte" dla show /dev/zero
bounded "an endless view to be placed" "dla: /dev/zero:1: a NUL byte" dla map --file /dev/zero --nodes a
bounded "an endless view to be converted" "dla: /dev/zero:1: a NUL byte" dla convert --to mtx /dev/zero
bounded "an endless hostfile" "dla: /dev/zero:1: a NUL byte" dla map --cart 2 --hostfile /dev/zero
bounded "endless requests" "tatp: /dev/zero:1: a NUL byte" tatp plan --requests /dev/zero --hosts a
bounded "endless distances" "tatp: /dev/zero:1: a NUL character: this is no text" \
    tatp plan --requests one.mtx --distances /dev/zero
bounded "an endless topology" "tatp: /dev/zero:1: a NUL character: this is no text" tatp topology /dev/zero
bounded "endless costs" "tatp: /dev/zero:1: a NUL byte" tatp assign /dev/zero
bounded "endless hosts" "tatp: /dev/zero:1: a NUL byte" tatp plan --requests one.mtx --hosts @/dev/zero
bounded "an endless line of hosts" "tatp: /dev/stdin:1: a line of more than 16777216 characters" \
    tatp plan --requests one.mtx --hosts @/dev/stdin < <(yes | tr -d '\n')
bounded "endless hosts, one in each line" "tatp: more than 1048576 hosts" \
    tatp plan --requests one.mtx --hosts @/dev/stdin < <(seq -f 'n%.0f' 1e9)
bounded "an endless line of a hostfile" "dla: /dev/stdin:1: a line of more than 16777216 characters" \
    dla map --cart 2 --hostfile /dev/stdin < <(yes | tr -d '\n')
bounded "an endless hostfile of names" "dla: more than 1048576 hosts" \
    dla map --cart 2 --hostfile /dev/stdin < <(seq -f 'n%.0f' 1e9)
bounded "a grid of more ranks than slots" "dla: 4000000000 ranks, but 8 slots: write --nodes 'a:4000000000'" \
    dla map --cart 4000000000 --nodes a:8
truncate -s 6G sparse
bounded "a view of 6 GB that is none" "dla: sparse:1: a NUL byte" dla show sparse
rm sparse

# --- pipes ---

printf 'FILEVIEW\n2 3\n1 0\n1 1\n1 2 3\n' >two.crs
printf 'SwitchName=s Nodes=a,b\n' >net.conf
printf '%%%%MatrixMarket matrix array integer general\n%% hosts a\n1 1\n0\n' >hops.mtx
printf '%%%%MatrixMarket matrix array integer general\n%% bandwidth in MB/s\n%% hosts a b\n2 2\n9\n1\n1\n9\n' >bandwidth.mtx
printf 'a slots=1\nb slots=1\n' >hostfile
echo a >host
while read -r file command; do
    for name in - /dev/stdin; do
        # shellcheck disable=SC2086 # words
        tap_is "$(${command/FILE/$name} < <(cat "$file") 2>&1)" "$(${command/FILE/$file} 2>&1)" "$command: from a pipe, $name"
    done
done <<END
one.mtx tatp assign FILE
one.mtx tatp plan -H a -r FILE
one.mtx tatp plan -H a -r one.mtx -b FILE
one.mtx tatp plan -H a -r one.mtx -a FILE
hops.mtx tatp plan -H a -r one.mtx -d FILE
net.conf tatp plan -H a -r one.mtx -t FILE
host tatp plan -r one.mtx -H @FILE
net.conf tatp topology FILE
host tatp topology net.conf -H @FILE
two.crs dla show FILE
two.crs dla convert --to mtx FILE
two.crs dla map -n a,b -m byslot FILE
hostfile dla map two.crs -m byslot -H FILE
net.conf dla map two.crs -m byslot -n a,b -T FILE
bandwidth.mtx dla map two.crs -m byslot -n a,b -T FILE
$top_srcdir/tests/fixtures/machine/adapter-and-ethernet.xml dla map two.crs -m byslot -n a:2 -F rankfile -M FILE
END
message="'-', standard input, can be one of the files only"
tap_refuses 2 "tatp plan: $message" "requests and hosts from one pipe" tatp plan -r - -H @-
tap_refuses 2 "tatp topology: $message" "a topology and hosts from one pipe" tatp topology - -H @-
tap_refuses 2 "dla map: $message" "a view and a hostfile from one pipe" dla map - -H -
tap_refuses 1 "dla: -: cannot be read: Bad file descriptor" "no standard input" dla show - <&-
tap_refuses 1 "dla: .: cannot be read: Is a directory" "a folder as topology" dla map two.crs -n a,b -T .

# --- what a file must not do to a terminal ---

esc=$(printf '\033')
printf 'FILEVIEW\n%% %s[31mred\302\2332J\n0 2\n\n\n1 1\nACCESS 1 0 1 1 1 1 a%s[2J%%0Ab\n0 1 0 1\n' "$esc" "$esc" >hostile.crs
tap_is "$(dla show hostile.crs | tail -n 2)" "calls 1 of 1 bytes in 1 bins of 1 from 0 in a\x1b[2J\x0ab
% \x1b[31mred\xc2\x9b2J" "dla show: control characters are escaped"
tap_contains "$(dla show --json hostile.crs)" '"\u001b[31mred\u009b2J"' "dla show: in JSON as well"
tap_is "$(tatp plan --view hostile.crs --hosts a | tail -n +2 | wc -l)" 1 "tatp plan: one row for a name with a newline"
tap_contains "$(tatp plan --view hostile.crs --hosts a)" 'a\x1b[2J\x0ab' "tatp plan: control characters are escaped"
printf 'SwitchName=s Nodes=a%sc,b\n' "$esc" >hostile.conf
tap_contains "$(tatp topology hostile.conf)" 'a\x1bc' "tatp topology: control characters are escaped"
tap_contains "$(tatp topology --json hostile.conf)" '"a\u001bc"' "tatp topology: in JSON as well"
printf '%s[31m\n' "$esc" >hostile.conf
tap_refuses 1 "tatp: hostile.conf:1: '\\x1b[31m' begins no topology: MatrixMarket, SwitchName= or BlockName= of Slurm, \
ibnetdiscover or ibtracert" "tatp topology: a message without any" tatp topology hostile.conf
printf '%s[31m\n' "$esc" >hostile
tap_refuses 1 "tatp: hostile:1: '\\x1b[31m' is not the name of a host" "hosts: no control characters" \
    tatp plan --requests one.mtx --hosts @hostile
printf '\357\273\277a\n' >hostile
tap_refuses 1 "dla: hostile:1: '\\xef\\xbb\\xbfa' is not the name of a host: lines are NAME slots=N" "a hostfile with a byte order mark" dla map --cart 1 --hostfile hostile
printf 'a slots=%s[31m\n' "$esc" >hostile
tap_refuses 1 "dla: hostile:1: 'slots=\\x1b[31m' is not slots=N or max_slots=N" "a hostfile: no control characters" \
    dla map --cart 1 --hostfile hostile
tap_refuses 1 "dla: no\\x1bfile: No such file or directory" "a name with control characters" dla show "no${esc}file"

# --- output that cannot be written ---

if [ -c /dev/full ]; then
    for command in "dla map --cart 100x100 --nodes a:10000" "dla convert --to mtx one.mtx" "tatp topology hosts.conf" "tatp topology --json hosts.conf"; do
        echo 'SwitchName=s Nodes=n[0-99]' >hosts.conf
        $command >/dev/full 2>err
        tap_is "$?: $(cat err)" "1: ${command%% *}: standard output: No space left on device" "$command: a full disk"
        $command >&- 2>err
        tap_is "$?: $(cat err)" "1: ${command%% *}: standard output: Bad file descriptor" "$command: no output"
    done
fi

tap_plan
