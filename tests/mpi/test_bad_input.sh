#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What fcoll/tatp cannot use is refused: one clear message, all calls fail, files stay whole.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1
. "$top_srcdir/tests/mpi/conformance.sh" || exit 1

need_component fcoll tatp

# refuse NAME=VALUE [QUOTED]: the message names the parameter, and quotes its value or something else.
refuse() {
    echo "refuse|$1" >>"$files/table"
    told+="fcoll_tatp_${1%%=*} ${2-${1#*=}}"$'\n'
}

# accept NAME=VALUE: that those above are refused for their own reason.
accept() {
    echo "accept|$1" >>"$files/table"
}

# hops NAME LINE...: a Matrix Market file.
hops() {
    printf '%s\n' '%%MatrixMarket matrix array real general' "${@:2}" >"$files/$1"
}

for setting in strategy=fastest objective=speed solver=simplex domains=striped layout=nearest unit_size=-1 \
    message_size=1023 message_size=1073741825 stripe_size=-1 stripe_size=4294967297 stripe_count=-2 \
    storage_weight=-1 storage_weight=1001; do
    refuse $setting
done

refuse topology="$files/none.mtx"
hops word.mtx '1 1' zero
refuse topology="$files/word.mtx" "$files/word.mtx, line 3"
hops short.mtx '2 2' 0 2 2
refuse topology="$files/short.mtx" "$files/short.mtx, line 2"
hops wide.mtx '1 2' 0 2
refuse topology="$files/wide.mtx"
: >"$files/empty.mtx"
refuse topology="$files/empty.mtx"
hops others.mtx '% hosts elsewhere1 elsewhere2' '2 2' 0 2 2 0
refuse topology="$files/others.mtx"
printf '\nSwitchName=leaf Nodes=n[1-2,%s\n' "$(hostname)" >"$files/open.conf"
refuse topology="$files/open.conf" "$files/open.conf, line 2"

mkfifo "$files/fifo"
ln -s none "$files/dangling"
echo "a letter" >"$files/letter"
mkdir "$files/folder"
for record in "$files"/{none/view.crs,fifo,dangling,letter,folder} /dev/null; do
    refuse record="$record"
done

hops good.mtx "% hosts elsewhere $(hostname)" '2 2' 0 2 2 0
accept topology="$files/good.mtx"
printf 'SwitchName=leaf Nodes=n[1-2],%s\n' "$(hostname)" >"$files/slurm.conf"
for setting in topology="$files/slurm.conf" objective=congestion strategy=otp strategy=tatp; do
    accept "$setting"
done

# More ranks than records: a process says once that it cannot write one.
cases=(table)
tap_is "$(stat -c %F /dev/null)" "character special file" "a device: here before"
conform conformance_hints "refused and accepted" run_here 7 --mca fcoll tatp
tap_is "$(stat -c %F /dev/null)" "character special file" "a device: and afterwards"
tap_is "$(cat "$files/letter")" "a letter" "a file that is no record is left"
tap_is "$(sed -n 's/.*MCA parameter \(fcoll_tatp_[a-z_]*\).*/\1/; T; N; N; s/\n\n */ /p' "$tap_dir/output" | sort)" \
    "$(sort <<<"${told%?}")" "each is told once"
tap_contains "$(cat "$tap_dir/output")" "Valid values: a number of hops up to 1000, or 0." "with the valid values"
tap_contains "$(grep -A 3 others.mtx "$tap_dir/output")" "$(hostname)" "a host that is not in the topology is named"
tap_plan
