#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What stripes a file has, as far as hints, parameters and file systems say. tests/simulate looks at who accesses which
# stripe.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

# array RANKS [ARGUMENT...]: one array, every byte checked.
array() { run_here "$1" --mca fcoll tatp "${@:2}" "$cube" --size 24x20x18 --verify --file "$files/cube" 2>&1; }

# Statistics, and what the report makes of them.
rm -f "$stats"
array 4 --mca fcoll_tatp_stats "$stats" --mca fcoll_tatp_stripe_size 4096 --mca fcoll_tatp_stripe_count 2 >"$tap_dir/out"
tap_contains "$(grep -o '"stripe_.*"format"' "$stats" | sort -u)" '"stripe_size": 4096, "stripe_count": 2, "format"' "statistics"
if [[ -n $PYTHON3 ]]; then
    sed -i 's/"nodes": 1/"nodes": 3/' "$stats"
    said=$("$TOOLS_DIR/tatp" report --output "$tap_dir/report.html" "$stats" 2>&1)
    tap_contains "$said" "lfs setstripe -c 3 -S 4096 FOLDER" "the report, if there are fewer stripes than nodes: the command"
    sed -i 's/"nodes": 3/"nodes": 2/' "$stats"
    said=$("$TOOLS_DIR/tatp" report --output "$tap_dir/second.html" "$stats" 2>&1)
    tap_is "$(grep -c "lfs setstripe" <<<"$said")" 0 "the report, if there are as many"
fi

# Steps that lie otherwise in the stripes: the second plan is good for all later ones, also for reading.
for targets in 3 0; do
    rm -f "$stats"
    tap_check "steps across stripes of $targets targets" run_here 4 --mca fcoll tatp --mca fcoll_tatp_stats "$stats" \
        --mca fcoll_tatp_stripe_size 1000 --mca fcoll_tatp_stripe_count $targets "$cube" --size 24x20x18 --steps 9 --verify --file "$files/steps"
    tap_is "$(grep -o '"schedule": [0-9]*' "$stats" | uniq -c | awk '{ print $1 }' | xargs)" "1 17" "two plans"
done

four=(--mca fcoll_tatp_stripe_count 4 --mca fcoll_tatp_stripe_size 1000 --mca fcoll_tatp_num_aggregators)
tap_contains "$(array 7 "${four[@]}" 7 --mca fcoll_base_verbose 20)" \
    "4 aggregators instead of 7" "another number of aggregators is told"
tap_is "$(array 7 "${four[@]}" 4 --mca fcoll_base_verbose 20 | grep -c "instead of")" 0 \
    "nothing is told of a number that is possible"

# A record says the same whatever is known of stripes, and then what is known.
array 4 --mca fcoll_tatp_record "$tap_dir/plain.crs" >"$tap_dir/out"
array 4 "${four[@]}" 4 --mca fcoll_tatp_record "$tap_dir/striped.crs" >"$tap_dir/out"
own=(-e "^% run" -e "^% began" -e "^% written")
tap_is "$(grep -v "${own[@]}" -e DIVISION "$tap_dir/striped.crs")" "$(grep -v "${own[@]}" "$tap_dir/plain.crs")" \
    "the record does not depend on stripes"
tap_is "$(grep -c "^DIVISION 0 4 1000 4 0$" "$tap_dir/striped.crs")" "$(grep -c "^ACCESS" "$tap_dir/striped.crs")" \
    "it says what is known of them"

# divisions COMMAND...: those that a record says.
divisions() {
    "$@" --mca fcoll_tatp_record "$tap_dir/divided.crs" "${program[@]}" >"$tap_dir/out" 2>&1 || cat "$tap_dir/out"
    grep ^DIVISION "$tap_dir/divided.crs" | sort -u
    rm -f "$tap_dir/divided.crs"
}

# A hint comes before its parameter, and that before the file system: a component instead of the one for Lustre.
program=("$programs/conformance_reported" --dir "$files" striped)
tap_is "$(divisions run_here 4 --mca fcoll tatp --mca fcoll_tatp_stripe_size 12345)" "DIVISION 0 0 4096 5 0" "hints"
mkdir "$tap_dir/components"
cp "$programs/.libs/mca_fs_striped.so" "$tap_dir/components"
program=("$cube" --size 24x20x18 --verify --file "$files/cube")
lustre=(--mca mca_base_component_path "$tap_dir/components:$TATP_COMPONENT_PATH" --mca fcoll tatp --mca fs_striped_size 700
    --mca fs_striped_count 4)
tap_is "$(divisions run_here 7 "${lustre[@]}")" "DIVISION 0 0 700 4 0" "what the file system says"
tap_is "$(divisions run_here 7 "${lustre[@]}" --mca fcoll_tatp_stripe_size 900)" "DIVISION 0 0 900 4 0" \
    "a parameter comes before the file system"

start_cluster
# An attribute of the file says so: instead of the clients of Lustre and CephFS. The latter locks no stripes.
# attribute FILE-SYSTEM [MCA-ARGUMENT...]: the divisions.
attribute() {
    divisions run -np 4 --map-by node -x LD_PRELOAD="$programs/.libs/stripe_calls.so" -x STRIPE_CALLS="$1" --mca fcoll tatp "${@:2}"
}
tap_is "$(attribute lustre)" "DIVISION 0 0 700 4 0" "Lustre: the stripes are known"
tap_is "$(attribute ceph)" "" "CephFS: domains are as without stripes"
tap_is "$(attribute ceph --mca fcoll_tatp_domains stripe)" "DIVISION 2 0 700 4 0" "CephFS: unless they are to be striped"
tap_plan
