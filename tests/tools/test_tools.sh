#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command-line programs in $TOOLS_DIR: what both do alike.
here=$(cd "$(dirname "$0")" && pwd)
. "${top_srcdir:-$here/../..}/tests/tools/lib.sh"

# --- both ---

for tool in dla tatp; do
    refuses 2 "$tool: no command is given" "$tool alone" $tool
    refuses 2 "$tool: 'fly' is not a command" "$tool: an unknown command" $tool fly
    tap_contains "$($tool --help)" "Usage: $tool" "$tool --help"
    tap_contains "$($tool --version)" "$tool (tatp-dla" "$tool --version"
done

tap_plan
