#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collective calls and errors on 1, 4 and 7 ranks of one node, for releases on which the test cluster does not run.
. "$top_srcdir/tests/mpi/lib.sh"
. "$top_srcdir/tests/mpi/conformance.sh"

need_component fcoll tatp
RUN_LIMIT=3600

# every_case PROGRAM
every_case() {
    local ranks
    cases=()
    for ranks in 1 4 7; do
        conform "$1" "$ranks ranks" run_here "$ranks" --mca fcoll tatp
    done
}

every_case conformance
every_case conformance_faults
tap_plan
