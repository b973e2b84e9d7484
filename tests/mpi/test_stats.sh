#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fcoll_tatp_stats: each line against the definitions, how much is written, and faults while it is written.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1
. "$top_srcdir/tests/mpi/conformance.sh" || exit 1

need_component fcoll tatp
stats=$tap_dir/stats.jsonl
[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"

checked() {
    "$PYTHON3" "$top_srcdir/tests/mpi/check_stats.py" "$stats" 2>&1
}

# array RANKS NAME WANTED ARGUMENT...: arrays written and read twice; what is to be said of the lines.
array() {
    rm -f "$stats"
    tap_check "$2: a run" run -np "$1" --mca fcoll tatp --mca fcoll_tatp_stats "$stats" "${@:4}" \
        "$cube" --size 48 "${grid[@]}" --repeat 2 --verify --file "$files/cube"
    tap_is "$(checked)" "$3" "$2: lines, plans and time lines are right"
}

cat >"$tap_dir/topology.conf" <<END
SwitchName=leaf0 Nodes=n[0-1]
SwitchName=leaf1 Nodes=n[2-3]
SwitchName=spine Switches=leaf[0-1]
END
cat >"$tap_dir/hops.mtx" <<END
%%MatrixMarket matrix array integer symmetric
% hosts n0 n1 n2 n3
4 4
0
3
5
7
0
3
5
0
3
0
END

grid=()
start_cluster
array 16 "16 ranks" "lines 4 plans 1 timelines 4" --map-by node
array 16 "even domains" "lines 4 plans 1 timelines 4" --map-by node --mca fcoll_tatp_domains even
array 16 "by blocks" "lines 4 plans 1 timelines 4" --map-by node --mca fcoll_tatp_strategy latp_count
tap_check "by blocks: they are told" grep -q '"blocks": \[0,0,[0-9]*' "$stats"
array 5 "many windows" "lines 4 plans 1 timelines 4" --map-by node --mca fcoll_tatp_cycle_buffer_size 4096 --mca fcoll_tatp_num_aggregators 2
if [[ -n $cluster_name ]]; then
    grid=(--grid 2x2x4)
    array 16 "fitted domains" "lines 4 plans 1 timelines 4" --map-by slot --mca fcoll_tatp_domains fitted \
        --mca fcoll_tatp_unit_size 1024 --mca fcoll_tatp_num_aggregators 4
    tap_check "fitted domains: they are" grep -q '"domains": "fitted".*"even": {' "$stats"
    grid=()
    array 16 "a tree" "lines 4 plans 1 timelines 4" --map-by node --mca fcoll_tatp_topology "$tap_dir/topology.conf"
    array 8 "hops" "lines 4 plans 1 timelines 4" --map-by node --mca fcoll_tatp_topology "$tap_dir/hops.mtx"
else
    tap_skip "fitted domains, a tree, hops" "needs nodes of the cluster"
fi
rm -f "$stats"
tap_check "on standard error: a run" run -np 4 --mca fcoll tatp --mca fcoll_tatp_stats - "$cube" --size 40 --file "$files/cube"
tap_is "$(grep -c '^{"op": ' <<<"$tap_output") $(grep -c '"plan"\|"timeline"' <<<"$tap_output")" "2 0" \
    "on standard error: a short line a call"
tap_check "a folder that is not there: a run" run -np 4 --mca fcoll tatp --mca fcoll_tatp_stats "$tap_dir/none/stats" \
    "$cube" --size 40 --verify --file "$files/cube"
tap_is "$(grep -c 'none/stats' <<<"$tap_output")" 1 "a folder that is not there: told once"
stop_cluster

# Into a FIFO: without a reader, with one, and with one that goes away at once.
mkfifo "$tap_dir/fifo"
fifo() {
    run_here 2 --mca fcoll tatp --mca fcoll_tatp_stats "$tap_dir/fifo" "$cube" --size 16 --repeat 3 --verify --file "$files/cube"
}
tap_check "a FIFO without a reader: a run" fifo
tap_is "$(grep -c 'no process reads it' <<<"$tap_output")" 1 "a FIFO without a reader: told once"
cat "$tap_dir/fifo" >"$stats" &
reader=$!
exec 3>"$tap_dir/fifo"
tap_check "a FIFO with a reader: a run" fifo
exec 3>&-
wait $reader
tap_is "$(grep -c '^{"op": .*}$' "$stats")" 6 "a FIFO with a reader: all lines"
head -c 100 "$tap_dir/fifo" >/dev/null &
reader=$!
exec 3>"$tap_dir/fifo"
exec 3>&-
tap_check "a FIFO whose reader goes away: a run" fifo
wait $reader

rm -f "$stats"
name=$tap_dir/$'\xc3\xa9 \xff "\\\x01'
tap_check "a name that is not UTF-8: a run" run_here 2 --mca fcoll tatp --mca fcoll_tatp_stats "$stats" --mca fcoll_tatp_num_aggregators 2 \
    "$cube" --size 16 --file "$name"
tap_is "$(checked)" "lines 2 plans 1 timelines 2" "a name that is not UTF-8: lines can be read"
tap_check "a name that is not UTF-8: U+FFFD for each wrong byte" \
    grep -qF "\"file\": \"$tap_dir/"$'\xc3\xa9 \xef\xbf\xbd \\"\\\\\\u0001"' "$stats"

# What a plan was made by is part of it: a file that is opened with another choice gets its own.
for choice in strategy=otp objective=congestion solver=hungarian unit_size=4096 domains=even cycle_buffer_size=4096 message_size=4096; do
    rm -f "$stats"
    tap_check "$choice in turn with the default: a run" run_here 4 "$BENCH_DIR/contest" --size 32x32x32 --grid 1x2x2 --rounds 0 \
        --file "$files/file" --contestants "tatp+stats=$stats tatp+stats=$stats,$choice"
    tap_is "$(checked)" "lines 8 plans 4 timelines 8" "$choice in turn with the default: plans of their own"
done

# One file after the other, with calls of all kinds that fail.
cases=("write_eio/*" "read_eio/*")
for ranks in 1 4; do
    rm -f "$stats"
    conform conformance_faults "$ranks ranks, faults" run_here "$ranks" --mca fcoll tatp --mca fcoll_tatp_stats "$stats"
    tap_contains "$(checked)" "lines" "$ranks ranks, faults: the lines can be read"
    tap_is "$(checked | grep -v '^lines')" "" "$ranks ranks, faults: and are right"
done
tap_plan
