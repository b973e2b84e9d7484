#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line programs in $TOOLS_DIR: what both do alike.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

# --- both ---

for tool in dla tatp; do
    $tool >out 2>err
    tap_is "$? $(cat out)$(sed -n '/^First/,$p' err)" "2 $($tool --help | sed -n '/^First/,/^$/p')" "$tool alone: the first steps"
    commands=$($tool --help | sed -n '/^Commands:/,/^[^ C]/s/^  \([a-z]*\)  .*/\1/p')
    tap_refuses 2 "'fly' $(echo "$commands" | xargs)" $tool fly
    for command in $commands; do
        [[ $tool:$command != dla:pingpong ]] || continue
        tap_is "$($tool help "$command")" "$($tool "$command" --help)" "$tool help $command"
        tap_is "$($tool "$command" -h)" "$($tool "$command" --help)" "$tool $command -h"
    done
    for option in --help -h help; do tap_contains "$($tool $option)" "Usage: $tool" "$tool $option"; done
    tap_check "$tool --help begins with the first steps" grep -q -x 'First steps:' <($tool --help | head -n 4)
    tap_contains "$($tool --version)" "$tool (tatp-dla" "$tool --version"
done

# --- endless input ---

printf '%%%%MatrixMarket matrix array integer general\n1 1\n1\n' >one.mtx
truncate -s 6G sparse
limit=$(ulimit -S -v)
ulimit -S -v 400000
tap_refuses_each "endless views and hosts" dla <<'END'
1|show /dev/zero|/dev/zero:1:
1|map --file /dev/zero --nodes a|/dev/zero:1:
1|convert --to mtx /dev/zero|/dev/zero:1:
1|map --cart 2 --hostfile /dev/zero|/dev/zero:1:
1|map --cart 2 --hostfile - < <(tr -d '\n' < <(yes))|-:1: 16777216
1|map --cart 2 --hostfile - < <(seq -f 'n%.0f' 1e9)|1048576
1|map --cart 4000000000 --nodes a:8|4000000000 8 NAME:4000000000
1|show sparse|sparse:1:
END
tap_refuses_each "endless matrices, topologies and hosts" tatp <<'END'
1|plan --requests /dev/zero --hosts a|/dev/zero:1:
1|plan --requests one.mtx --distances /dev/zero|/dev/zero:1:
1|topology /dev/zero|/dev/zero:1:
1|assign /dev/zero|/dev/zero:1:
1|plan --requests one.mtx --hosts @/dev/zero|/dev/zero:1:
1|plan --requests one.mtx --hosts @- < <(tr -d '\n' < <(yes))|-:1: 16777216
1|plan --requests one.mtx --hosts @- < <(seq -f 'n%.0f' 1e9)|1048576
END
ulimit -S -v "$limit"
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
tap_refuses_each "two files from one pipe, and what is no file" <<'END'
2|tatp plan -r - -H @-|'-'
2|tatp topology - -H @-|'-'
2|dla map - -H -|'-'
1|dla show - <&-|-:
1|dla map two.crs -n a,b -T .|.:
END

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
printf '%s[31m\n' "$esc" >hostile
printf '\357\273\277a\n' >marked
printf 'a slots=%s[31m\n' "$esc" >slots
tap_refuses_each "messages have no control characters" <<END
1|tatp topology hostile|hostile:1: '\\x1b[31m'
1|tatp plan --requests one.mtx --hosts @hostile|hostile:1: '\\x1b[31m'
1|dla map --cart 1 --hostfile marked|marked:1: '\\xef\\xbb\\xbfa'
1|dla map --cart 1 --hostfile slots|slots:1: 'slots=\\x1b[31m'
1|dla show "no${esc}file"|no\\x1bfile:
END

# --- output that cannot be written ---

echo 'SwitchName=s Nodes=n[0-99]' >hosts.conf
for command in "dla map --cart 100x100 --nodes a:10000" "dla convert --to mtx one.mtx" "tatp topology hosts.conf" "tatp topology --json hosts.conf"; do
    for output in 1\>/dev/full 1\>\&-; do
        eval "$command $output 2>err"
        tap_is "$?: $(cut -d : -f 1,2 err)" "1: ${command%% *}: standard output" "$command $output: it cannot be written"
    done
done

tap_plan
