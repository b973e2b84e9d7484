#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sentences of MPI-IO on collective access, each a case of the program conformance, on
# 1, 2, 4, 7 and 16 ranks of one node and on the cluster, there by UCX and OFI as well.
# By hand: --core: 1, 2 and 4 ranks of one node only, for an
# Open MPI that has just been built.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

[[ $FCOLL != tatp ]] || need_component fcoll tatp
# For all cases of a run; each has a limit of its own as well.
RUN_LIMIT=3600

# Every call, three times in a row: amounts, holes, memory.
calls=(even/\* ragged/\* doubles/\* large/\* nothing/\* one_rank/\* empty_views/\* new_holes/\*
    old_holes/\* wide_holes/\* no_status/\* memory_\*/\*)
far=(offset_2_31/\* offset_2_41/\* stride_2_31/\* ranks_apart_2_31/\* piece_2_31/\* seek_2_31/\*)
shared=(view_overlaps_itself/\*)
types=(subarray/\*)
# Open MPI 4.1.0 itself does not convert on one rank, and crashes with holes.
[[ $OMPI_VERSION == 4.1.0 ]] || types+=(external32/\* external32_holes/\*)
requests=(outstanding/\* crossed_starts late_rank progress_elsewhere other_calls_between
    after_start/\* many_in_turn closed_before_wait)
modes=(append/\* delete_on_close atomic/\* atomic_individual atomic_overlap/\* wrong_mode/\*)
handles=(intermixed/\* intermixed_shared/\* own_records/\* sizes communicator/\* several_files/\* two_handles
    same_view_again/\*)
all=("${calls[@]}" "${far[@]}" "${shared[@]}" "${types[@]}" "${requests[@]}"
    "${modes[@]}" "${handles[@]}")

# here RANKS LABEL CASE...
here() {
    cases=("${@:3}")
    conform conformance "$1 ranks, $2" run_here "$1" --mca fcoll "$FCOLL"
}

# on_cluster RANKS LABEL CASE...
on_cluster() {
    cases=("${@:3}")
    conform conformance "$1 ranks, $2" run -np "$1" --map-by node --mca fcoll "$FCOLL"
}

# Datatypes by all constructors of all predefined ones.
if "$OMPI_INFO" --parsable | grep -q '^bindings:mpif.h:no'; then
    tap_skip "datatypes" "this Open MPI has none of Fortran"
else
    "$MPICC" -O1 -o "$tap_dir/types" "$top_srcdir/tests/mpiio/types.c" || exit 1
    tap_check "datatypes" run_here 4 --mca fcoll "$FCOLL" "$tap_dir/types" "$tap_dir/data" 1
fi

if [[ ${1-} == --core ]]; then
    for ranks in 1 2 4; do here $ranks "one node" "${all[@]}"; done
    tap_plan
fi
numbers=(1 4)
! tap_full || numbers=(1 2 4 7 16)
for ranks in "${numbers[@]}"; do here "$ranks" "one node" "${all[@]}"; done
here 4 "threads" --threads threads "${calls[@]}" "${requests[@]}"

start_cluster
for layer in ucx ofi; do
    by_transport $layer "4 ranks, $layer" on_cluster 4 $layer "${calls[@]}" "${shared[@]}" "${requests[@]}"
done
if [[ -n $cluster_name && $FCOLL == tatp ]]; then
    cases=(own_records/\* same_view_again/\*)
    ! tap_full || cases=("${all[@]}")
    conform conformance "4 ranks, caches of nodes" cached --mca fcoll "$FCOLL"
else
    tap_skip "caches of nodes" "needs a cluster, and tatp"
fi
numbers=(7)
! tap_full || numbers=(4 7 16)
for ranks in "${numbers[@]}"; do
    on_cluster "$ranks" cluster "${all[@]}"
    if tap_full && ((ranks > 4)); then
        for layer in ucx ofi; do by_transport $layer "$ranks ranks, $layer" on_cluster "$ranks" $layer "${all[@]}"; done
    fi
done
tap_plan
