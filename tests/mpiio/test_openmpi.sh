#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libtatp-mpiio.so under Open MPI, as test_conformance.sh has it under another MPI. Which programs of Open MPI it serves: those whose files the component does not have.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

need_component fcoll tatp
programs=$top_builddir/tests/mpi
library=$top_builddir/preload/openmpi/libtatp-mpiio.so
romio=$("$OMPI_INFO" --parsable | sed -n 's/^mca:io:\(romio[0-9]*\):version.*/\1/p' | head -n 1)
RUN_LIMIT=600
FORMS=3
cd "$tap_dir" || exit 1

# ---- who serves a file ----

"$MPICC" -O1 -o field "$top_srcdir/doc/examples/field.c" || exit 1

# who COMPONENT LIBRARY LINES NAME ARGUMENT...: how many calls each carries out, and how many lines say something about that
who() {
    rm -f component library
    tap_check "$4" run_here 4 -x LD_PRELOAD="$library" -x TATP_STATS="$tap_dir/library" --mca fcoll_tatp_stats "$tap_dir/component" "${@:5}" ./field
    touch component library
    tap_is "$(grep -c '"op"' component) $(grep -c '"op"' library) $(grep -c 'tatp:' <<<"$tap_output")" "$1 $2 $3" "$4: who serves it, and says so"
    tap_contains "$tap_output" " 0 of " "$4: the values are right"
}
asked=(--mca fcoll_tatp_priority 101)
who 0 2 1 "nobody asks for the component" # which tells that its statistics have no effect
who 2 0 0 "the component is asked for" --mca fcoll tatp
who 2 0 1 "the component comes first" "${asked[@]}" -x TATP_VERBOSE=1
tap_contains "$tap_output" "field.dat is left to the MPI: fcoll/tatp serves it" "the component comes first: the library says so where it is asked"
who 0 2 0 "the component is forbidden" "${asked[@]}" --mca fcoll ^tatp
if [[ -n $romio ]]; then
    who 0 2 0 "ROMIO is selected" "${asked[@]}" --mca io "$romio"
fi

# ---- conformance, random views ----

mapfile -t served < <(served_cases)
views() {
    cases=("${served[@]}")
    conform conformance "$1" openmpi 4
    cases=(delayed/{close,closes,sync})
    conform conformance_faults "$1" openmpi 4
    random_views "$2" 0 "$1, random views" openmpi 4
}
views "OMPIO" 1000
FORMS=4 random_views 30 8000 "OMPIO, random views, threads" openmpi 4
types "$MPICC" openmpi 2
threads "$MPICC" openmpi 2 "$tap_dir/threads" "$tap_dir/data" open
nonblocking "$MPICC" openmpi 2 4
tap_plan
