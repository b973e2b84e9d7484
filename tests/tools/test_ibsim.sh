#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A simulated InfiniBand fabric, alive: ibnetdiscover and ibtracert look at it after opensm routed it, and
# tatp topology reads what they say. 64 hosts, 16 leaf, 16 aggregation and 16 core switches.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

for program in ibsim opensm ibnetdiscover ibtracert; do
    command -v $program >/dev/null ||
        tap_skip_all "$program is not installed (apt-get install ibsim-utils opensm infiniband-diags)"
done
for library in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib*/umad2sim/libumad2sim.so; do [ -e "$library" ] && break; done
[ -e "$library" ] || tap_skip_all "libumad2sim.so is not installed (apt-get install libumad2sim0)"

# Where the tools find the simulator, and where they stand in the fabric.
export IBSIM_SOCKNAME=tatp-dla-$$ SIM_HOST=H-0002c90300000010 OSM_TMP_DIR=$tap_dir OSM_CACHE_DIR=$tap_dir

on_fabric() { LD_PRELOAD=$library timeout "$HANG_LIMIT" "$@"; }

ibsim -s -n "$top_srcdir/tests/fixtures/topology/ibsim.3level.net" >ibsim.log 2>&1 </dev/null &
simulator=$!
trap 'kill $simulator 2>/dev/null; wait; rm -rf "$tap_dir"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do
    on_fabric ibnetdiscover >links 2>err && break
    sleep 0.5
done
if [ ! -s links ]; then
    tap_diag "$(cat err ibsim.log)"
    tap_skip_all "the simulator does not run here"
fi
on_fabric opensm --once -R ftree -D 0x43 -e -f "$tap_dir/osm.log" -s 0 </dev/null >opensm.out 2>&1
on_fabric ibnetdiscover >links 2>err

histogram="2 192
4 768
6 3072"
tap_is "$(tatp topology links | sed '1,/^hops  pairs/d' | awk '{ print $1, $2 }')" "$histogram" "ibnetdiscover"

# lid_of HOST: its local address.
lid_of() { sed -n "s/.*\"$1 HCA-1\" lid \([0-9]*\) .*/\1/p" links | head -n 1; }
for pair in n0,n1 n5,n1 n63,n2; do
    first=${pair%,*} second=${pair#*,}
    on_fabric ibtracert "$(lid_of "$first")" "$(lid_of "$second")" >trace 2>err
    tap_is "$(tatp topology trace | tail -n 1)" "$(tatp topology links --hosts "$pair" | tail -n 1)" \
        "ibtracert from $first to $second"
done
tap_plan
