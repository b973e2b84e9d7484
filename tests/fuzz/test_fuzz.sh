#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every reader, fed with some thousand damaged inputs; `make fuzz` goes on for longer.
here=$(cd "$(dirname "$0")" && pwd)
. "${top_srcdir:-$here/../..}/tests/lib/tap.sh"

command -v clang >/dev/null || tap_skip_all "clang is not installed (apt-get install clang)"

for reader in $("$here/fuzz" --list); do
    said=$("$here/fuzz" --runs=5000 "$reader" 2>&1)
    tap_contains "$said" "$reader: clean, 5000 inputs" "$reader"
done
tap_is "$("$here/fuzz" --seconds=x 2>&1): $?" "fuzz: --seconds=x: not a number: 2" "a limit that is no number"
tap_contains "$("$here/fuzz" nothing 2>&1)" "'nothing' is not a reader: addresses" "a reader that there is not"
tap_plan
