#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Performance variables, printed by doc/examples/pvars.c: against the statistics of the same run, and without them.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python
printed=$tap_dir/printed
tap_check "the example is built as it says" "$MPICC" -shared -fPIC -Wall -o "$tap_dir/pvars.so" "$top_srcdir/doc/examples/pvars.c"
watched=(-x "LD_PRELOAD=$tap_dir/pvars.so" --mca io ompio --mca fcoll tatp)
# Not chosen by time.
fixed=(--mca fcoll_tatp_num_aggregators 4)

# compared NAME WANTED COMMAND...: runs it, and compares.
compared() {
    rm -f "$stats"
    tap_check "$1: a run" "${@:3}"
    printf '%s\n' "$tap_output" >"$printed"
    tap_is "$("$PYTHON3" "$top_srcdir/tests/mpi/check_pvars.py" "$stats" "$printed" 2>&1)" "$2" "$1: the same as the statistics"
}

# counts: the variables that no time is in.
counts() { grep '^fcoll_tatp_' "$printed" | grep -v '_st[1-5] '; }

start_cluster
compared "16 ranks" "lines 6 variables 14" run -np 16 --map-by node "${watched[@]}" "${fixed[@]}" --mca fcoll_tatp_stats "$stats" \
    "$cube" --size 48 --repeat 3 --verify --file "$files/cube"
with=$(counts)
tap_contains "$with" "fcoll_tatp_plans_made 16
fcoll_tatp_plans_reused 80" "a plan is made once on each rank"
tap_check "without statistics: a run" run -np 16 --map-by node "${watched[@]}" "${fixed[@]}" \
    "$cube" --size 48 --repeat 3 --verify --file "$files/cube"
printf '%s\n' "$tap_output" >"$printed"
tap_is "$(counts)" "$with" "without statistics: the same"
stop_cluster

mkdir "$tap_dir/work"
for kind in "non-blocking calls on several files:outstanding/waitall outstanding/testall crossed_starts" "threads:threads --threads" "communicators:communicator/*"; do
    read -ra arguments <<<"${kind#*:}"
    rm -f "$stats"
    tap_check "${kind%%:*}: a run" run_here 4 "${watched[@]}" --mca fcoll_tatp_stats "$stats" "$programs/conformance" \
        --limit "$HANG_LIMIT" --dir "$tap_dir/work" "${arguments[@]}"
    printf '%s\n' "$tap_output" >"$printed"
    tap_is "$("$PYTHON3" "$top_srcdir/tests/mpi/check_pvars.py" "$stats" "$printed" 2>&1 | grep -v '^plans_')" \
        "lines $(wc -l <"$stats") variables 14" "${kind%%:*}: the same as the statistics"
    tap_check "${kind%%:*}: there are calls" test -s "$stats"
done
tap_plan
