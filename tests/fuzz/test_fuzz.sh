#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every reader, fed with some thousand damaged inputs; `make fuzz` goes on for longer.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

command -v clang >/dev/null || tap_skip_all "clang is not installed (apt-get install clang)"

# Pages of statistics take longer than what reads a file alone.
for reader in $("$top_srcdir/tests/fuzz/fuzz" --list); do
    runs=5000
    [ "$reader" = statistics ] && runs=200
    if [ $runs = 200 ] && ! "${PYTHON3:-python3}" -c 'import jinja2' 2>/dev/null; then
        tap_skip "$reader" "python3-jinja2 is not installed"
        continue
    fi
    said=$("$top_srcdir/tests/fuzz/fuzz" --runs=$runs "$reader" 2>&1)
    tap_contains "$said" "$reader: clean, $runs inputs" "$reader"
done
tap_tempdir
cd "$tap_dir" || exit 1
tap_refuses 2 --seconds=x "$top_srcdir/tests/fuzz/fuzz" --seconds=x
tap_refuses 2 "'nothing' addresses" "$top_srcdir/tests/fuzz/fuzz" nothing
tap_plan
