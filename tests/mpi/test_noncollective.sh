#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls that are not collective: counted in statistics, variables and the line about a record, and told of once a job where they
# move most.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python
tap_check "the programs are built" "$MPICC" -O1 -o "$tap_dir/noncollective" "$top_srcdir/tests/mpi/noncollective.c"
tap_check "that prints variables, too" "$MPICC" -shared -fPIC -o "$tap_dir/pvars.so" "$top_srcdir/doc/examples/pvars.c"
asked=(--mca fcoll tatp --mca fcoll_tatp_stats "$stats")

# made RANKS CALLS ARGUMENT...: a job. What it says is in $said.
made() {
    rm -f "$stats" "$tap_dir"/data*
    tap_check "$2, $1 ranks: a run" run_here "$1" -x "LD_PRELOAD=$tap_dir/pvars.so" --mca io ompio "${@:3}" \
        "$tap_dir/noncollective" "$tap_dir/data" "$2"
    said=$tap_output
}

# counted CALLS WANTED SAYS [RANKS]: MiB "written read" by calls that are not collective, by the statistics, whose variables are
# the same, and how many lines tell the user.
counted() {
    local sums
    made "${4:-2}" "$1" "${asked[@]}"
    printf '%s\n' "$said" >"$tap_dir/printed"
    sums=$("$PYTHON3" - "$stats" "$tap_dir/printed" <<'EOF'
import collections, json, os, sys
told, kept = collections.Counter(), collections.Counter()
for line in open(sys.argv[1]) if os.path.exists(sys.argv[1]) else ():
    call = json.loads(line)
    told[call["op"]] += call.get("noncollective_bytes", 0)
    assert ("noncollective_bytes" in call) == (call["calls"] == call["bytes"] == 0), line
for words in map(str.split, open(sys.argv[2])):
    if words and words[0].startswith("fcoll_tatp_noncollective_bytes_"):
        kept[words[0].split("_")[-1]] += int(words[1])
print(*(f"{told[op] / 2**20:.4g}" for op in ("write", "read")), told["write"] == kept["written"] and told["read"] == kept["read"])
EOF
)
    tap_is "$sums $(grep -c 'CALLS THAT ARE NOT COLLECTIVE' <<<"$said")" "$2 True $3" "$1: MiB that are counted, and lines that tell of them"
}

counted wr "2 2" 1
counted ij "2 2" 1
counted f "2 0" 1
tap_check "only what was written is told of" grep -q "/data: .* written 2.1 MB " <<<"$said"
counted wg "2 2" 1
counted Wr "0 2" 0
counted Wrr "0 4" 1
counted WRw "2 0" 0
counted WR "0 0" 0
counted hhh "0.0002861 0" 0
counted s "2 0" 0
counted w "1 0" 0 1

made 2 ww "${asked[@]}" --mca fcoll_tatp_stats_level files --mca fcoll_tatp_record "$tap_dir/view.crs"
tap_is "$(grep -c "on 2 ranks, .* 4.2 MB .* $tap_dir/view.crs" <<<"$said")" 1 "the record: told"
made 2 hWW "${asked[@]}" --mca fcoll_tatp_record "$tap_dir/view.crs"
tap_check "0.0 MB are not told of" grep -q "on 2 ranks [^M]* $tap_dir/view.crs" <<<"$said"
made 2 WW "${asked[@]}" --mca fcoll_tatp_record "$tap_dir/view.crs"
tap_check "all is recorded: nothing told" grep -q "on 2 ranks [^M]* $tap_dir/view.crs" <<<"$said"
made 2 wWr --mca fcoll tatp --mca fcoll_tatp_stats "$stats" --mca fcoll_tatp_stats_level files
tap_is "$(grep -o '"op": "[a-z]*"\|"calls": .\|"noncollective_bytes": .*, "format"' "$stats" | tr -d '"\n')" \
    "op: writecalls: 1noncollective_bytes: 2097152, formatop: readcalls: 0noncollective_bytes: 2097152, format" \
    "totals: in the lines of their files"

# Nobody has asked: another component, or a site that has this one for all.
made 2 w
tap_is "$(grep -c 'not collective' <<<"$said")" 0 "another component: nothing told"
made 2 w --mca fcoll ^mytatp --mca fcoll_tatp_priority 200 --mca fcoll_tatp_stats "$stats"
tap_is "$(grep -c 'not collective' <<<"$said") $(wc -l <"$stats")" "0 1" "all but another: counted, not told"
echo "fcoll = tatp" >"$tap_dir/site.conf"
made 2 w --mca fcoll_tatp_stats "$stats" env OMPI_MCA_mca_base_param_files="$tap_dir/site.conf" # mpirun of 6.0 would make it its own
tap_is "$(grep -c 'not collective' <<<"$said") $(wc -l <"$stats")" "0 1" "asked for by a file of parameters: counted, not told"
tap_plan
