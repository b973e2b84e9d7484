# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by those who source it
#
# What the tests of faults share. Source it from bash, after tests/env.sh:
#     . "$top_srcdir/tests/lib/faults.sh"

. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
faults=$top_builddir/tests/faults/faults
soak=$top_builddir/tests/faults/soak
record=$tap_dir/record # a folder of its own: what is left beside the record is seen
view=$record/view.crs
mkdir "$record"
# What a fault may take before it counts as a hang.
export FAULT_LIMIT=${FAULT_LIMIT:-120}
recording=(--mca fcoll_tatp_record "$view" --mca fcoll_tatp_stats "$tap_dir/stats.json")

"${private[@]}" mount -t tmpfs tmpfs /dev/shm 2>/dev/null || private=()

# In a /dev/shm of its own, where that is possible; then segments has the options of the programs that watch it.
segments=()
[[ ${#private[@]} -eq 0 ]] || segments=(--segments /dev/shm)
apart() {
    if [[ ${#private[@]} -eq 0 ]]; then
        "$@"
    else
        "${private[@]}" bash -c 'mount -t tmpfs tmpfs /dev/shm && exec "$@"' - "$@"
    fi
}

# job RANKS ARGUMENT...: mpirun on this machine.
job() { run_here "$1" --mca fcoll tatp "${@:2}"; }

# The functions that run in a shell of their own.
export -f job run_here

# beside_record: the other files in its folder.
beside_record() { find "$record" -mindepth 1 ! -name view.crs; }

# check_record NAME: the record, if any, is whole.
check_record() {
    if [[ -e $view ]]; then
        tap_check "$1: the record is whole" "$TOOLS_DIR/dla" show "$view"
    else
        tap_ok "$1: there is no record"
    fi
    tap_is "$(beside_record)" "" "$1: nothing is left beside the record"
}
