#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# For tests of the command-line programs in $TOOLS_DIR: these in PATH, and a folder to work in.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

PATH=$TOOLS_DIR:$PATH
tap_tempdir
cd "$tap_dir" || exit 1
