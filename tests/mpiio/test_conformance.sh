#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sentences of MPI-IO on collective access, as test_conformance.sh of tests/mpi has them, through libtatp-mpiio.so: under
# another MPI on this machine and on the cluster. Random views against the serial model.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

need_other
RUN_LIMIT=600
FORMS=3
mapfile -t cases < <(served_cases)

numbers=(4)
! tap_full || numbers=(2 4 7 16)
for ranks in "${numbers[@]}"; do conform conformance "$ranks ranks" other "$ranks"; done
# Groups of one rank are left to the MPI, some of whose non-blocking calls hang (doc/other-mpi.md): 4 and 7 ranks have none.
random_views 1000 0 "random views, 4 ranks" other 4
random_views 300 2000 "random views, 7 ranks" other 7
FORMS=4 random_views 30 8000 "random views, 4 ranks, threads" other 4
environment=(TATP_CYCLE_BUFFER_SIZE=64 TATP_SHARED_MEMORY=false)
random_views 300 4000 "random views, 4 ranks, short cycles of messages" other 4
environment=()

# Plans of the last eight of ten groups are kept.
environment=(TATP_STATS="$tap_dir/turns" TATP_NUM_AGGREGATORS=3)
tap_check "files in turn" other 4 "$programs/conformance" --dir "$files" turns
tap_is "$(grep -c '"metadata_bytes": 0' "$tap_dir/turns")" 8 "files in turn: plans are reused"
environment=()

types "$OTHER_MPICC" other 2

cases=(write_\* read_\* delayed/{close,closes,sync})
conform conformance_faults "4 ranks" other 4

build "$OTHER_MPICC" errors
wanted=$(preloaded='' other 3 "$tap_dir/errors" "$tap_dir/data")
tap_check "wrong calls" other 3 "$tap_dir/errors" "$tap_dir/data"
tap_is "$tap_output" "$wanted" "wrong calls have the error classes of the MPI"

build "$OTHER_MPICC" calls
"$OTHER_MPICC" -O2 -shared -fPIC -o "$tap_dir/count.so" "$top_srcdir/tests/mpiio/profiler.c" || exit 1
build "$OTHER_MPICC" handler
tap_check "an error handler uses files" other 3 "$tap_dir/handler" "$tap_dir/data"
preloaded=$library:$tap_dir/count.so tap_check "an error handler, a profiling library below" other 3 "$tap_dir/handler" "$tap_dir/data"
preloaded=$tap_dir/count.so:$library tap_check "an error handler, a profiling library above" other 3 "$tap_dir/handler" "$tap_dir/data"
preloaded=$library:$tap_dir/count.so tap_check "a profiling library below" other 2 "$tap_dir/calls" "$tap_dir/data"
tap_is "$tap_output" "seen: open 1, write 3, read 1, iwrite 1, write_all 0, tested 100" "it sees the calls that the MPI performs, and each request once"

threads "$OTHER_MPICC" other 2 "$tap_dir/threads" "$tap_dir/data"

nonblocking "$OTHER_MPICC" other 1 2 4 7

# What the library cannot describe is the MPI's, on all ranks.
if "$OTHER_MPICC" -shared -fPIC -o "$tap_dir/later.so" "$top_srcdir/tests/mpiio/later.c" 2>"$tap_dir/later.log"; then
    environment=(TATP_VERBOSE=1) cases=(subarray/{all,at_all,split_all,split_at_all,i_all,i_at_all})
    preloaded=$library:$tap_dir/later.so conform conformance "a datatype of a later MPI" other 4
    tap_is "$(grep -c 'left to the MPI' "$tap_dir/output")" 6 "a datatype of a later MPI: one line per file says so"
    environment=()
    preloaded=$library:$tap_dir/later.so:$tap_dir/count.so tap_check "a profiling library below" other 2 "$tap_dir/calls" "$tap_dir/data"
    tap_contains "$tap_output" "write_all 2" "a datatype of a later MPI: a profiling library below sees its accesses"
    "$OTHER_MPICC" -O1 -DLATER -o "$tap_dir/nonblocking" "$top_srcdir/tests/mpiio/nonblocking.c" "$tap_dir/later.so" || exit 1
    RUN_LIMIT=100 preloaded=$library:$tap_dir/later.so tap_check "functions of a later MPI that test requests" other 2 "$tap_dir/nonblocking" "$tap_dir/data"
else
    tap_skip "a datatype of a later MPI" "$OTHER_MPICC is not for MPI 4"
fi

# Faults as in tests/faults/test_injected.sh. While a file is opened they leave it to ROMIO, with its faults.
sample=(--sample 25 --seed "${TEST_SEED:-1}")
! tap_full || sample=()
shimmed() {
    preloaded=$library:$programs/.libs/starts.so other "$1" "$programs/faults" --dir "$tap_dir" --limit 120 "${@:2}"
}
tap_check "faults" shimmed 4 "${sample[@]}" write_all read_all iwrite_all
tap_contains "$tap_output" "faults are done" "faults: all are tried"
environment=(SHIM_RANK=1 SHIM_FAULT="receive last 1")
tap_contains "$(shimmed 2 --once begin 2>&1)" "The job ends" "messages that are refused end the job"
environment=()

start_cluster
RUN_LIMIT=300
if [[ -n $cluster_name ]]; then
    mapfile -t cases < <(served_cases | grep -E '^(even|ragged|new_holes|memory_holes|subarray|overlapping_writes|atomic)/')
    hosts=$(printf '%s:2\n' n0 n1 n2 n3)
    uplinks >/dev/null
    conform conformance "7 ranks, cluster" other_on_cluster 7
    bytes=$(uplinks)
    tap_check "7 ranks, cluster: $bytes bytes took the links" test "$bytes" -gt 1000000
    random_views 100 6000 "random views, 8 ranks, cluster" other_on_cluster 8
    hosts=$(printf '%s:1\n' n0 n1 n2 n3) environment=(CACHE_CALLS="$files")
    cases=(own_records/all own_records/i_at_all same_view_again/at_all)
    preloaded=$library:$top_builddir/tests/mpi/.libs/cache_calls.so conform conformance "caches of nodes" other_on_cluster 4
    cases=(delayed/write)
    conform conformance_faults "caches of nodes" other_on_cluster 4
    # As for a placement. MPICH takes it for four nodes.
    hosts=$(printf '%s:1\n' n0 n1 n0 n1) environment=(TATP_STATS="$tap_dir/stats") cases=(even/all)
    conform conformance "hosts in turn" other_on_cluster 4
    tap_is "$(grep -o '"nodes": [0-9]*' "$tap_dir/stats" | sort -u)" '"nodes": 2' "hosts in turn: two nodes"
    environment=()
else
    tap_skip "on the cluster" "needs namespaces"
fi

tap_plan
