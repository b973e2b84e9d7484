#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What fcoll/tatp cannot use is refused: one clear message, the program fails, files stay whole.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
array=("$cube" --size 12x10x9 --verify --file "$files/cube")
host=$(hostname)

# write_hops NAME LINE...: a Matrix Market file.
write_hops() {
    printf '%s\n' '%%MatrixMarket matrix array real general' "${@:2}" >"$tap_dir/$1"
}

# The array of an earlier run, with another content than what a damaged run could write.
old_file() {
    head -c 8640 /dev/zero | tr '\0' x >"$files/cube"
}

# refused NAME PART-OF-MESSAGE MCA-ARGUMENT...
refused() {
    old_file
    cp "$files/cube" "$tap_dir/old"
    tap_check_fails "$1: the program fails" run_here 4 --mca fcoll tatp "${@:3}" "${array[@]}"
    message=$tap_output
    tap_contains "$message" "$2" "$1: the message says so"
    tap_is "$(grep -c -F -- "$2" <<<"$message")" 1 "$1: once"
    tap_check "$1: the file is as it was" cmp "$tap_dir/old" "$files/cube"
}

# accepted NAME MCA-ARGUMENT...: that the tests above fail for their own reason.
accepted() {
    tap_check "$1" run_here 4 --mca fcoll tatp "${@:2}" "${array[@]}"
}

refused "unknown strategy" fastest --mca fcoll_tatp_strategy fastest
refused "unknown objective" speed --mca fcoll_tatp_objective speed
refused "unit size below 0" unit_size --mca fcoll_tatp_unit_size -1
refused "messages of 1023 bytes" message_size --mca fcoll_tatp_message_size 1023
refused "messages of more than 1 GiB" message_size --mca fcoll_tatp_message_size 1073741825
refused "unknown solver" simplex --mca fcoll_tatp_solver simplex
refused "unknown kind of domains" striped --mca fcoll_tatp_domains striped
refused "negative stripe size" fcoll_tatp_stripe_size --mca fcoll_tatp_stripe_size -1
refused "stripe too large" 4294967297 --mca fcoll_tatp_stripe_size 4294967297
refused "unknown layout" nearest --mca fcoll_tatp_layout nearest
refused "negative weight of storage" fcoll_tatp_storage_weight --mca fcoll_tatp_storage_weight -1
refused "weight of storage too large" "up to 1000, or 0" --mca fcoll_tatp_storage_weight 1001
refused "negative stripe count" fcoll_tatp_stripe_count --mca fcoll_tatp_stripe_count -2

refused "missing topology" "$tap_dir/none.mtx" --mca fcoll_tatp_topology "$tap_dir/none.mtx"
write_hops word.mtx '1 1' zero
refused "word for a number" "word.mtx, line 3" --mca fcoll_tatp_topology "$tap_dir/word.mtx"
write_hops short.mtx '2 2' 0 2 2
refused "truncated topology" "short.mtx" --mca fcoll_tatp_topology "$tap_dir/short.mtx"
write_hops wide.mtx '1 2' 0 2
refused "topology not square" "wide.mtx" --mca fcoll_tatp_topology "$tap_dir/wide.mtx"
: >"$tap_dir/empty.mtx"
refused "empty topology" "empty.mtx" --mca fcoll_tatp_topology "$tap_dir/empty.mtx"
write_hops others.mtx '% hosts elsewhere1 elsewhere2' '2 2' 0 2 2 0
refused "host not in the topology" "others.mtx" --mca fcoll_tatp_topology "$tap_dir/others.mtx"
tap_contains "$(grep -A 3 -F others.mtx <<<"$message")" "$host" "host not in the topology: it is named"

refused "unwritable record" "$tap_dir/none/view.crs" --mca fcoll_tatp_record "$tap_dir/none/view.crs"
mkfifo "$tap_dir/fifo"
ln -s none "$tap_dir/dangling"
echo "a letter" >"$tap_dir/letter"
for name in fifo dangling letter start; do
    [[ $name != start ]] || mkdir "$tap_dir/start"
    refused "record: $name" "$tap_dir/$name" --mca fcoll_tatp_record "$tap_dir/$name"
done
tap_is "$(cat "$tap_dir/letter")" "a letter" "a file that is no record is left"
tap_is "$(stat -c %F /dev/null)" "character special file" "a device: here before"
refused "record: a device" "/dev/null" --mca fcoll_tatp_record /dev/null
tap_is "$(stat -c %F /dev/null)" "character special file" "a device: and afterwards"
rmdir "$tap_dir/start"

write_hops good.mtx "% hosts elsewhere $host" '2 2' 0 2 2 0
accepted "a topology that has the host" --mca fcoll_tatp_topology "$tap_dir/good.mtx"
printf 'SwitchName=leaf Nodes=n[1-2],%s\n' "$host" >"$tap_dir/slurm.conf"
accepted "a topology of Slurm that has the host" --mca fcoll_tatp_topology "$tap_dir/slurm.conf"
printf '\nSwitchName=leaf Nodes=n[1-2,%s\n' "$host" >"$tap_dir/open.conf"
refused "malformed topology of Slurm" "open.conf, line 2" --mca fcoll_tatp_topology "$tap_dir/open.conf"
accepted "each objective: congestion" --mca fcoll_tatp_objective congestion
accepted "each strategy: otp" --mca fcoll_tatp_strategy otp
accepted "each strategy: tatp" --mca fcoll_tatp_strategy tatp
tap_plan
