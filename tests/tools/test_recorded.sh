#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Views and statistics that runs under each release of Open MPI wrote, of the same program: they are read here, and
# say the same.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

recorded=$top_srcdir/tests/fixtures/recorded

# view FILE: what it says without the lines about the run
view() { dla show "$1" | grep -v '^%'; }

# place FILE: without its name
place() { dla map "$1" -n x:4,y:4 | sed "s#$1#it#"; }

# summary FILE: without times
summary() { tatp report --output page.html "$1" 2>err | grep -v -e ^time: -e ^advice:; }

for release in 4.1 5.0 6.0; do
    tap_is "$(view "$recorded/$release.crs")" "$(view "$recorded/4.1.crs")" "a view recorded on $release"
    tap_is "$(place "$recorded/$release.crs")" "$(place "$recorded/4.1.crs")" "a placement by a view recorded on $release"
done

if [[ -z $PYTHON3 ]] || ! "$PYTHON3" -c 'import jinja2' 2>/dev/null; then
    tap_skip "statistics" "python3-jinja2 is not installed"
    tap_plan
fi
for release in 4.1 5.0 6.0; do
    tap_is "$(summary "$recorded/$release.jsonl")$(cat err)" "$(summary "$recorded/4.1.jsonl")" "statistics of $release"
done
tap_plan
