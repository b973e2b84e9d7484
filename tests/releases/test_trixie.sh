#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What concerns Open MPI, or the packages, in a root folder of a Debian release. Its name says which: test_SUITE.sh and
# test_SUITE_PART.sh are parts of openmpi.sh, test_packages_SUITE.sh is packages.sh. All are copies of this script
# (tests/tests.am). make-root makes the folders once; where it cannot, the test is skipped.
# OPENMPI_OPTIONS="--with-openmpi=PREFIX ...", options of configure, has a part of openmpi.sh use that Open MPI of this machine
# instead, in a folder beside the root folders.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir
releases=$top_srcdir/tests/releases
cache=${RELEASES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tatp-dla}

# root_folder SUITE [KIND]: sets root, as make-root knows it
# shellcheck disable=SC2034 # for who is sourced
root_folder() {
    local status=0

    root=$("$releases/make-root" "$@" 2>"$tap_dir/reason") || status=$?
    [[ $status != 77 ]] || tap_skip_all "$(tail -n 1 "$tap_dir/reason")"
    [[ $status == 0 ]] || { cat "$tap_dir/reason" && exit 1; } >&2
}

# in_root FOLDER COMMAND...: without this machine's settings; no folder: on this machine
in_root() {
    local enter=()
    [[ -z $1 ]] || enter=("$releases/in-root" "$1")
    env -i PATH="$PATH" HOME="$HOME" VERBOSE=1 TEST_SEED="${TEST_SEED-}" "${enter[@]}" "${@:2}"
}

IFS=_ read -r _ suite more <<<"$(basename "$0" .sh)"
if [[ $suite == packages ]]; then
    suite=$more
    . "$top_srcdir/tests/releases/packages.sh"
else
    . "$top_srcdir/tests/releases/openmpi.sh"
fi
