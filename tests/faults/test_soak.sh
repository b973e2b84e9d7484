#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Many files of changing groups: after a twentieth of them nothing grows. SOAK_OPENS=10000 and
# SOAK_CALLS=100000 take longer.
. "$top_srcdir/tests/lib/faults.sh" || exit 1

opens=${SOAK_OPENS:-1000} calls=${SOAK_CALLS:-10000} growth=1024

# soak NAME ARGUMENT...
soak() {
    tap_check "$1: $opens files, $calls calls" apart bash -c 'job 6 "$@"' - "${@:2}" "$soak" \
        --dir "$files" --opens "$opens" --calls "$calls" --growth "$growth" "${segments[@]}"
    tap_diag "$tap_output"
}

soak "shared memory"
soak "messages only" --mca fcoll_tatp_shared_memory 0
growth=4096 # a record grows until it has seen all kinds of accesses
soak "recorded" "${recording[@]}"
check_record "recorded"
tap_plan
