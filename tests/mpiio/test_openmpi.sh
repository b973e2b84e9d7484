#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libtatp-mpiio.so under Open MPI, over OMPIO and, as in a job of many ranks, over ROMIO: as test_conformance.sh has it under
# another MPI. Which programs of Open MPI it serves: those whose files the component does not have.
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
who 2 0 1 "the component has many ranks" --mca fcoll tatp --mca fcoll_tatp_romio_ranks 4
tap_contains "$tap_output" "OMPIO takes 0 MB on each of 4 ranks" "the component has many ranks: it says what that takes"
who 2 0 0 "the component has fewer" --mca fcoll tatp --mca fcoll_tatp_romio_ranks 5
if [[ -n $romio ]]; then
    who 0 2 0 "ROMIO is selected" "${asked[@]}" --mca io "$romio"
    who 0 2 1 "many ranks" "${asked[@]}" -x TATP_ROMIO_RANKS=4
    tap_contains "$tap_output" "ROMIO opens files" "many ranks: one line says who opens files"
    who 2 0 0 "many ranks, OMPIO is selected" "${asked[@]}" -x TATP_ROMIO_RANKS=4 --mca io ompio
    who 2 0 0 "fewer ranks" "${asked[@]}" -x TATP_ROMIO_RANKS=5
fi

# Two ranks that access as much; a network device is near the second one.
if (($(nproc) < 2)); then
    tap_skip "near a network device" "needs two processors"
else
    rm -f library
    # shellcheck disable=SC2016 # for the shell of each rank
    tap_check "near a network device" run_here 2 -x LD_PRELOAD="$library" -x TATP_STATS="$tap_dir/library" -x TATP_NUM_AGGREGATORS=1 \
        -x HWLOC_THISSYSTEM=1 -x HWLOC_XMLFILE="$top_srcdir/tests/fixtures/machine/ethernet-on-second-node.xml" \
        bash -c 'exec taskset --cpu-list "$((OMPI_COMM_WORLD_RANK % $(nproc)))" "$@"' bash "$cube" --size 8x8x512 --grid 1x1x2 --write-only --file array
    tap_is "$(statistic rank_of_domain library)" 1 "near a network device: that rank aggregates"
fi

# tatp_run VARIABLE...: tatp run with these in its environment
tatp_run() {
    rm -f stats
    tap_check "tatp run, $*" env TATP_VERBOSE=1 TATP_STATS="$tap_dir/stats" "$@" "$TOOLS_DIR/tatp" run --library "$library" \
        "$MPIRUN" --oversubscribe --bind-to none -np 4 ./field
    tap_is "$(grep -c '"op"' stats) $(grep -c 'fcoll/tatp serves it' <<<"$tap_output")" "$wanted" "tatp run, $*: who serves it, with the parameters of both"
}
wanted="2 1" tatp_run TATP_DOMAINS=even
wanted="2 0" tatp_run TATP_REORDER=1
wanted="2 0" tatp_run OMPI_MCA_fcoll=^tatp

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
[[ -n $romio ]] || {
    tap_skip "over ROMIO" "Open MPI $OMPI_VERSION has none"
    tap_plan
    exit
}
environment=(TATP_ROMIO_RANKS=1)
views "ROMIO" 500

# ---- faults, records ----

"$MPICC" -shared -fPIC -o starts.so "$top_srcdir/tests/faults/starts.c" || exit 1
sample=(--sample 25 --seed "${TEST_SEED:-1}")
! tap_full || sample=()
shimmed() {
    preloaded=$library:$tap_dir/starts.so openmpi 4 "$top_builddir/tests/faults/faults" --dir "$tap_dir" --limit 120 "$@"
}
tap_check "ROMIO, faults" shimmed "${sample[@]}" write_all read_all iwrite_all
tap_contains "$tap_output" "faults are done" "ROMIO, faults: all are tried"

rm -f component.crs library.crs
tap_check "the component records" run_here 6 --mca fcoll tatp --mca fcoll_tatp_num_aggregators 3 --mca fcoll_tatp_record "$tap_dir/component.crs" \
    "$programs/record" --dir "$tap_dir" order
environment+=(TATP_NUM_AGGREGATORS=3 TATP_RECORD="$tap_dir/library.crs")
tap_check "ROMIO, the library records" openmpi 6 "$programs/record" --dir "$tap_dir" order
record_of() { "$TOOLS_DIR/dla" convert --to mtx "$1.crs" | grep -v '^% run:'; }
tap_is "$(record_of library)" "$(record_of component)" "ROMIO, the library's record is the component's"
tap_plan
