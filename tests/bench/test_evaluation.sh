#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The evaluation in miniature: what is predicted is in order and equals a count by hand, and the parts make their
# tables and plots. No time is looked at.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_python
predict=$BENCH_DIR/predict

# 2x2x4 over 4 nodes of 4, two on a leaf: a node has one row of 4 blocks; of its half of a slab, half is its own.
tap_check "a cube" "$predict" --machine 4,2,4 --kind cube --size 64 --grid 2x2x4 --ranks 16 --stripe 4096
echo "$tap_output" >"$tap_dir/cube.csv"
tap_is "$(rows "$tap_dir/cube.csv" 'r["placement"] == "byslot" and r["strategy"] == "tatp" and
    r["crossing_bytes"] == "1048576" and float(r["uplink_bytes"]) == 0')" 1 "half of its bytes cross by slot, within leaves"
tap_is "$(rows "$tap_dir/cube.csv" 'r["placement"] == "bynode" and r["strategy"] == "tatp" and
    r["crossing_bytes"] == "1572864" and float(r["uplink_bytes"]) == 1048576')" 1 "by node three quarters, half between leaves"
tap_is "$(rows "$tap_dir/cube.csv" 'r["placement"] == "byslot" and r["strategy"] == "fitted" and
    r["crossing_bytes"] == "0"')" 1 "with fitted domains none by slot"

# What leaves its node with even domains, and with units of 64 KiB and 1 MiB, as doc/fitted.md has it.
while IFS='|' read -r name arguments; do
    for unit in 65536 1048576; do
        # shellcheck disable=SC2086 # words
        "$predict" --placements byslot --strategies "tatp fitted" --stripe $unit $arguments
    done >"$tap_dir/units.csv"
    tap_contains "$(cat "$top_srcdir/doc/fitted.md")" "$("$PYTHON3" -c 'import csv, sys
of = [float(r["crossing_bytes"]) / float(r["file_bytes"]) for r in csv.DictReader(sys.stdin) if r["ranks"] != "ranks"]
print("| {} | {:.3f} | {:.3f} | {:.3f} |".format(sys.argv[1], of[0], of[1], of[3]))' "$name" <"$tap_dir/units.csv")" "$name in doc/fitted.md"
done <<'END'
cube 256^3, 2x2x4 on 4 nodes by slot|--machine 4,4,4 --kind cube --size 256 --grid 2x2x4 --ranks 16
BT-IO 160^3, 64 ranks on 8 nodes by slot|--machine 8,8,8 --kind btio --size 160 --ranks 64
END

# The order that an optimum has, whatever the pattern.
order='import csv, sys
at = {}
for r in csv.DictReader(sys.stdin):
    at.setdefault(r["placement"], {})[r["strategy"]] = float(r["hop_bytes"])
sys.exit(not all(h["fitted"] <= h["tatp"] <= min(h["otp"], h["latp_volume"], h["latp_count"]) for h in at.values()) or not at)'
in_order() {
    "$predict" --placements "byslot bynode dla setmatch mpipp" --stripe 1024 "$@" >"$tap_dir/order.csv" &&
        "$PYTHON3" -c "$order" <"$tap_dir/order.csv"
}
for arguments in "inspur --kind cube --size 100 --ranks 125" "bluelight --kind btio --size 61 --ranks 64" \
    "crill --kind tile --size 30x8 --element 40 --ranks 96 --reorder" "6,2,7 --kind lattice --size 12 --ranks 36" \
    "7,3,9 --kind dump --size 500 --ranks 50 --per-node 2" "inspur --kind btio --size 60 --ranks 100 --per-node 4" \
    "9,4,5 --kind array --size 300x200 --ranks 40"; do
    # shellcheck disable=SC2086 # words
    tap_check "tatp is never above the others: $arguments" in_order --machine $arguments
done

tap_check_fails "no such machine" "$predict" --machine moon --kind cube --ranks 8
tap_check_fails "no such placement" "$predict" --machine crill --kind cube --ranks 8 --placements nowhere
tap_check_fails "no such strategy" "$predict" --machine crill --kind cube --ranks 8 --strategies luck
tap_check_fails "more ranks than cores" "$predict" --machine crill --kind cube --ranks 100 --nodes 2
tap_check_fails "more nodes than there are" "$predict" --machine crill --kind cube --ranks 8 --nodes 17

tap_check "the paper's part" bench evaluation paper --quick --output "$tap_dir/out"
tap_is "$(rows "$tap_dir/out/paper.csv" 'r["strategy"] == "otp" and r["placement"] == "byslot"')" 28 "has a row for each job"
if "$PYTHON3" -c 'import matplotlib' 2>/dev/null; then
    tap_is "$(find "$tap_dir/out" -name '*.svg' -size +2k | wc -l)" 10 "ten plots"
else
    tap_skip "plots" "python3-matplotlib is missing"
fi
mkdir "$tap_dir/without" && echo 'raise ImportError' >"$tap_dir/without/matplotlib.py"
without_matplotlib() { PYTHONPATH=$tap_dir/without bench evaluation paper --quick --output "$tap_dir/plain"; }
tap_check "without matplotlib" without_matplotlib
tap_contains "$tap_output" "python3-matplotlib is missing" "and a reason"
tap_check "the same table" cmp "$tap_dir/out/paper.csv" "$tap_dir/plain/paper.csv"

if has_component fcoll tatp && "$CLUSTER" check >/dev/null 2>&1; then
    tap_check "the measured part, one case" bench evaluation measured --quick --only tile-16 --output "$tap_dir/out"
    tap_is "$(rows "$tap_dir/out/measured.csv" 'r["per_node"] and
        r["hop_bytes"] == "%.0f" % float(r["predicted_hop_bytes"])')" \
        "$(rows "$tap_dir/out/measured.csv" 'r["per_node"]')" "hop-bytes are those predicted"
else
    tap_skip "the measured part" "links cannot be counted here"
fi
tap_plan
