#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is lost at a random moment, where Open MPI survives that (ULFM): every call of the others ends, and they can
# write another file. TEST_SEED chooses the moments.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

need_component fcoll tatp
"$OMPI_INFO" --parsable --all | grep -q 'ft_mpi_support:yes' || tap_skip_all "this Open MPI has no ULFM"
losses=$top_builddir/tests/faults/losses
first=${TEST_SEED:-1}

# Open MPI's own opening of a file, and mpirun, may stay behind when a rank is lost: they are ended after a while.
for ((seed = first; seed < first + $(random_cases 300); seed++)); do
    options=(--with-ft ulfm --mca btl "self,sm" --mca fcoll tatp --mca fcoll_tatp_shared_memory $((seed % 2)))
    said=$(RUN_LIMIT=60 run_here 8 "${options[@]}" "$losses" "$seed" "$tap_dir/file" 2>&1)
    tap_contains "$said" "survived" "seed $seed"
done
tap_plan
