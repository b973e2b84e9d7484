#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What placement saves, on counted links: an array over 2x2x4 ranks placed by dla moves less than
# 5 % of the bytes over the uplinks that it moves placed by node. `tatp report` says so as well.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_component rmaps dla
need_cluster

# array MAPPING [ARGUMENT...]: writes and reads it by aggregators, checks every byte.
array() {
    run -np 16 --map-by "$1" --mca fcoll tatp "${@:2}" "$cube" --size 192 --grid 2x2x4 --verify --repeat 3 \
        --hint romio_cb_write=enable --hint romio_cb_read=enable --file "$files/cube"
}

# said WORD: the bytes behind it in the page's sentence on the view, of all calls.
said() {
    "$PYTHON3" -c 'import html, re, sys
page = html.unescape(re.sub("<[^>]*>", "", open(sys.argv[1], encoding="utf-8").read()))
found = re.search("uplink bytes would fall from .*? a call", page).group()
value, unit = re.search(sys.argv[2] + r" ([0-9.]+) (\w+)", found).groups()
calls = sum(1 for _ in open(sys.argv[3], encoding="utf-8"))
print(round(float(value) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit] * calls))' "$files/report.html" "$1" "$files/stats.json"
}

two_leaves "$files/topology.conf"
topology=(--mca fcoll_tatp_topology "$files/topology.conf")
tap_check "by node, recorded" array node --mca fcoll_tatp_record "$files/view.crs"
uplinks >/dev/null
tap_check "by node" array node "${topology[@]}" --mca fcoll_tatp_stats "$files/stats.json"
by_node=$(uplinks)
tap_check "by dla" array "dla:file=$files/view.crs" "${topology[@]}"
by_dla=$(uplinks)
tap_diag "bytes over the uplinks: by node $by_node, by dla $by_dla"
tap_check "by dla less than 5 % of by node" test $((by_dla * 20)) -lt "$by_node"
if has_python jinja2; then
    tap_check "a report" "$TOOLS_DIR/tatp" report "$files/stats.json" --view "$files/view.crs" -o "$files/report.html"
    from=$(said from)
    tap_diag "on the page: from $from to $(said to)"
    tap_check "its uplink bytes are those counted, within 5 %" test $((from * 105)) -ge $((by_node * 100)) -a $((from * 95)) -le $((by_node * 100))
    tap_check "and less than 5 % of them by the view" test $(($(said to) * 20)) -lt "$by_node"
else
    tap_skip "a report" "python3-jinja2 is not installed"
fi
tap_plan
