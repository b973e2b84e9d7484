#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# For tests of the command-line programs in $TOOLS_DIR: these in PATH, and a folder to work in.
here=$(cd "$(dirname "$0")" && pwd)
. "${top_srcdir:-$here/../..}/tests/lib/tap.sh" || exit 1

PATH=$(cd "${TOOLS_DIR:-./tools}" && pwd):$PATH || exit 1
tap_tempdir
cd "$tap_dir" || exit 1

# refuses STATUS MESSAGE NAME COMMAND...: the first line on stderr is MESSAGE, stdout stays empty.
refuses() {
    local status=$1 message=$2 name=$3 got
    shift 3
    "$@" >out 2>err
    got=$?
    tap_is "$got: $(head -n 1 err)$(cat out)" "$status: $message" "$name"
}
