# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# For tests in root folders of Debian releases. make-root makes them once; where it cannot, the test is skipped.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir
releases=$top_srcdir/tests/releases

# root_folder SUITE [KIND]: sets root, as make-root knows it
# shellcheck disable=SC2034 # for who sources this
root_folder() {
    local status=0

    root=$("$releases/make-root" "$@" 2>"$tap_dir/reason") || status=$?
    [[ $status != 77 ]] || tap_skip_all "$(tail -n 1 "$tap_dir/reason")"
    [[ $status == 0 ]] || { cat "$tap_dir/reason" && exit 1; } >&2
}

# in_root FOLDER COMMAND...: without this machine's settings
in_root() {
    env -i PATH="$PATH" VERBOSE=1 TEST_SEED="${TEST_SEED-}" "$releases/in-root" "$@"
}
