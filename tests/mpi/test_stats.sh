#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fcoll_tatp_stats: each line against the definitions, and how much is written.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python

# way FILE [NAME=VALUE]...: a contestant of the next contest with these settings, and the file of its statistics.
way() {
    local IFS=,
    ways+=("tatp+stats=$tap_dir/$*")
}

# contest NAME COMMAND...: all ways in turn write and read an array, of $shape, twice. What it says is in $said.
contest() {
    tap_check "$1: a run" "${@:2}" --mca fcoll tatp "$contest" --rounds 0 "${shape[@]}" --contestants "${ways[*]}"
    said=$tap_output
    ways=()
}

# checked FILE: what is wrong with its lines, and how many there are.
checked() { "$PYTHON3" "$top_srcdir/tests/mpi/check_stats.py" "$tap_dir/$1" 2>&1; }

# right FILE NAME [COUNTS]
right() { tap_is "$(checked "$1")" "${3-lines 4 plans 2 timelines 4}" "$2: lines, plans and time lines are right"; }

two_leaves "$tap_dir/topology.conf"
printf '%s\n' '%%MatrixMarket matrix array integer symmetric' '% hosts n0 n1 n2 n3' '4 4' 0 3 5 7 0 3 5 0 3 0 >"$tap_dir/hops.mtx"

ways=()
start_cluster
hops=(--mca fcoll_tatp_topology "$tap_dir/hops.mtx")
[[ -n $cluster_name ]] || hops=()

# Each plan is made when the turn comes to it, and is in one line; the next call reuses it.
shape=(--size 48x48x48 --file "$files/array")
way plain domains=auto
way even domains=even
way blocks strategy=latp_count
ways+=("tatp+stats=-,num_aggregators=3")
way none/stats num_aggregators=3
contest "16 ranks" run -np 16 --map-by node
for name in plain even blocks; do right $name "16 ranks, $name"; done
tap_check "the job: host, command and MPI" \
    grep -q '"job": {"user": "[^"]*", "id": "[^"]*", "host": "[^"]*", "command": "[^"]*contest .*", "mpi": "Open MPI v[^,]*"}' \
    "$tap_dir/plain"
tap_check "by blocks: they are told" grep -q '"blocks": \[0,0,[0-9]*' "$tap_dir/blocks"
tap_is "$(grep -c '^{"op": ' <<<"$said") $(grep -c '"plan"\|"timeline"' <<<"$said")" "4 0" "on standard error: a short line a call"
tap_is "$(grep -cx "  $tap_dir/none/stats" <<<"$said")" 1 "a folder that is not there: told once"

way hops num_aggregators=4
way windows cycle_buffer_size=4096 num_aggregators=2
echo "a letter" >"$tap_dir/letter"
way letter num_aggregators=3
contest "5 ranks" run -np 5 --map-by node "${hops[@]}"
right hops "hops"
right windows "many windows"
tap_contains "$said" "$tap_dir/letter" "a file of something else: told"
tap_is "$(cat "$tap_dir/letter")" "a letter" "a file of something else: left as it is"

if [[ -n $cluster_name ]]; then
    shape+=(--grid 2x2x4)
    way tree
    way fitted domains=fitted stripe_size=1024 num_aggregators=4
    contest "a tree" run -np 16 --map-by slot --mca fcoll_tatp_topology "$tap_dir/topology.conf"
    right tree "a tree"
    right fitted "fitted domains"
    tap_check "fitted domains: they are" grep -q '"domains": "fitted".*"even": {' "$tap_dir/fitted"
else
    tap_skip "a tree, fitted domains" "needs nodes of the cluster"
fi
stop_cluster

# A line for each file and direction has the sums of lines for each call, of the same plans.
sums() {
    "$PYTHON3" - "$tap_dir/$1" <<'EOF'
import json, sys
sums = {}
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in map(json.loads, lines):
        for key in ("calls", "bytes", "messages", "hop_bytes", "hop_bytes_otp", "crossing_bytes", "cycles"):
            sums[line["op"], key] = sums.get((line["op"], key), 0) + line[key]
print(sorted(sums.items()))
EOF
}
dump() {
    tap_check "$1: a run" run_here 4 -x SLURM_JOB_ID=7/8 --mca fcoll tatp --mca fcoll_tatp_stats "$tap_dir/$1" \
        --mca fcoll_tatp_domains fitted "${@:2}" "$BENCH_DIR/dump" --size 20000 --steps 3 --file "$tap_dir/dumped"
}
dump calls
dump %u-%j-%x-%%-%z --mca fcoll_tatp_stats_level files
mv "$tap_dir/$(id -un)-7_8-dump-%-%z" "$tap_dir/totals"
tap_check "there are several calls" test "$(wc -l <"$tap_dir/calls")" -gt 2
right totals "totals" "lines 2 plans 0 timelines 0"
tap_is "$(sums totals)" "$(sums calls)" "totals are the sums of the calls"
tap_is "$(grep -o '"\(opens\|closes\)": [0-9]*' "$tap_dir/totals" | tail -n 2 | xargs)" "opens: 2 closes: 2" \
    "totals: how many files were opened, and closed"

# Into a FIFO, which is refused without waiting for a reader; and a file whose name is not UTF-8.
name=$tap_dir/$'\xc3\xa9 \xff "\\\x01'
mkfifo "$tap_dir/fifo"
shape=(--size 64x48x48 --grid 1x2x3 --file "$name")
way fifo
way named num_aggregators=2
contest "a FIFO" run_here 6
tap_is "$(grep -cx "  $tap_dir/fifo" <<<"$said")" 1 "a FIFO: told once"
right named "a name that is not UTF-8"
tap_check "a name that is not UTF-8: U+FFFD for each wrong byte" \
    grep -qF "\"file\": \"$tap_dir/"$'\xc3\xa9 \xef\xbf\xbd \\"\\\\\\u0001"' "$tap_dir/named"

# In a folder that all may write to: what others have put in the file's place is left, a link of the user's own is followed.
if ((EUID == 0)); then
    mkdir -m 1777 "$tap_dir/public" && : >"$tap_dir/public/file" && ln -s ../made "$tap_dir/public/link" && ln -s ../own "$tap_dir/public/own"
    chown -h 65534 "$tap_dir"/public/{file,link}
    shape=(--size 48x48x48 --file "$files/array")
    for name in file link own; do
        way public/$name num_aggregators=2
        contest "a public folder, $name" run_here 4
        tap_is "$(grep -cx "  $tap_dir/public/$name" <<<"$said")" "$([[ $name == own ]]; echo $?)" "a public folder, $name: another user's is told once"
    done
    tap_is "$(cat "$tap_dir"/{public/file,made} 2>/dev/null)" "" "a public folder: nothing is written for others"
    right own "a public folder, own link" "lines 4 plans 1 timelines 4"
else
    tap_skip "a public folder" "needs root"
fi

# What a plan was made by is part of it: a file that is opened with another choice gets its own.
choices=(strategy=otp strategy=latp_count stripe_size=4096 domains=even cycle_buffer_size=4096)
shape=(--size 32x32x32 --grid 1x2x2 --file "$files/array")
for choice in "${choices[@]}"; do
    way "$choice"
    way "$choice" "$choice"
done
contest "choices in turn with the default" run_here 4
for choice in "${choices[@]}"; do right "$choice" "$choice in turn with the default" "lines 8 plans 4 timelines 8"; done
tap_plan
