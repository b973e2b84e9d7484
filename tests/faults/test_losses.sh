#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is lost at a random moment, where Open MPI survives that (ULFM): every call of the others ends, and they can
# write another file. TEST_SEED chooses the moments.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
"$OMPI_INFO" --parsable --all | grep -q 'ft_mpi_support:yes' || tap_skip_all "this Open MPI has no ULFM"
[[ $OMPI_VERSION != 6.* ]] || tap_skip_all "a survivor may crash in MPI_File_open of Open MPI 6 (ompi_comm_revoke_local), with any component"
losses=$top_builddir/tests/faults/losses
first=${TEST_SEED:-1}

# MPIX_Comm_shrink, MPI_Finalize and mpirun of some releases may hang when a rank is lost, with any component: they are
# ended after a while, and reported. mpirun may lose then what the ranks have said, so they say it to a file.
said=$tap_dir/said
for ((seed = first; seed < first + $(random_cases 100); seed++)); do
    options=(--with-ft ulfm --mca btl "self,sm" --mca fcoll tatp --mca fcoll_tatp_shared_memory $((seed % 2)))
    : >"$said"
    # shellcheck disable=SC2016 # for the inner shell
    RUN_LIMIT=30 run_here 8 "${options[@]}" sh -c 'exec "$@" >>"$0"' "$said" "$losses" "$seed" "$tap_dir/file" >/dev/null 2>&1
    tap_is "$(grep -c 'has left' "$said") $(grep '^wrong' "$said")" "7 " "seed $seed: all calls end, and are right"
    grep -q survived "$said" || tap_diag "seed $seed: the survivors did not get so far as to write another file"
done
tap_plan
