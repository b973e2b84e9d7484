#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is lost at a random moment, where Open MPI survives that (ULFM): every call of the others ends, and they can
# write another file. TEST_SEED chooses the moments.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
"$OMPI_INFO" --parsable --all | grep -q 'ft_mpi_support:yes' || tap_skip_all "this Open MPI has no ULFM"
losses=$top_builddir/tests/faults/losses
first=${TEST_SEED:-1}

# MPIX_Comm_shrink and mpirun of some releases may hang when a rank is lost, with any component: they are ended after a
# while, and reported.
for ((seed = first; seed < first + $(random_cases 100); seed++)); do
    options=(--with-ft ulfm --mca btl "self,sm" --mca fcoll tatp --mca fcoll_tatp_shared_memory $((seed % 2)))
    said=$(RUN_LIMIT=30 run_here 8 "${options[@]}" "$losses" "$seed" "$tap_dir/file" 2>&1 | tr -d '\0')
    tap_is "$(grep -c 'has left' <<<"$said") $(grep '^wrong' <<<"$said")" "7 " "seed $seed: all calls end, and are right"
    [[ $said == *survived* ]] || tap_diag "seed $seed: the survivors did not get so far as to write another file"
done
tap_plan
