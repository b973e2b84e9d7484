#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What dla map prints for launchers puts the ranks where it says: Open MPI's rankfile and seq mapper, and
# MPICH's Hydra where it is installed, on hosts that have but a name of their own.

. "$top_srcdir/tests/lib/dla.sh" || exit 1

[[ -n $isolate ]] || tap_skip_all "host names of one's own are not permitted here"
make_agent

# Pairs half the job apart; two of them to a host, in no order.
write_view 8 0,4,9 1,5,9 2,6,9 3,7,9 0,3,2 1,2,2 >view.crs
nodes=n0:2,n1:4,n2:2
# mpirun and prterun of Open MPI 5.0.7 may hang at programs that end at once.
# shellcheck disable=SC2016 # for the shell of each rank
tell=(sh -c 'echo "${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}} $(hostname)"; sleep 0.5')

wanted=$("$dla" map --file view.crs --nodes $nodes | sed '/^#/d')
tap_is "$(awk '{ print $2 }' <<<"$wanted" | sort | uniq -c | xargs)" "2 n0 4 n1 2 n2" "the placement fills the nodes"
tap_check_fails "the placement is not one by slot" sort -c -k 2 <<<"$wanted"

# openmpi ARGUMENT...: mpirun with a daemon on each host
openmpi() { launch --mca plm_rsh_agent "$tap_dir/agent" -np 8 "$@" "${tell[@]}" 2>errors | sort -n; }

if [[ -n $launcher ]]; then
    tap_is "$(openmpi --map-by dla:file=view.crs --host $nodes --bind-to none)" "$wanted" "Open MPI: --map-by dla:file="
fi
if [[ $launcher == prrte ]]; then
    for personality in prte ompi; do
        placed=$(launch_by=("$(dirname "$MPIRUN")/prterun" --personality "$personality") &&
            launch --prtemca plm_ssh_agent "$tap_dir/agent" -np 8 --map-by dla:file=view.crs --host $nodes --bind-to none \
                "${tell[@]}" 2>errors | sort -n)
        tap_is "$placed" "$wanted" "prterun --personality $personality: --map-by dla:file="
    done
fi
prte=$(dirname "$MPIRUN")/prte
if [[ $launcher == prrte && -x $prte ]]; then
    PRTE_MCA_rmaps_dla_file=view.crs PRTE_MCA_plm_ssh_agent=$tap_dir/agent timeout "$HANG_LIMIT" \
        "$prte" --host $nodes --report-uri uri >dvm 2>&1 &
    until [[ -s uri ]] || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
    # on_dvm ARGUMENT...: prun, on this DVM
    on_dvm() { launch_by=("$(dirname "$MPIRUN")/prun") && launch --dvm-uri file:uri -np 8 --bind-to none "$@" "${tell[@]}" 2>errors | sort -n; }
    tap_is "$(on_dvm)" "$wanted" "prun: the DVM places by its parameter"
    tap_is "$(on_dvm --map-by slot | head -n 3 | xargs)" "0 n0 1 n0 2 n1" "... unless the job has a policy of its own"
    tap_contains "$(on_dvm --map-by dla:file=view.crs; cat errors)" "start prte with PRTE_MCA_rmaps_dla_file" "prun --map-by dla: one line says what places"
    kill $! && wait $!
fi

# PRRTE's policies, from Open MPI 5 on; those of ORTE before.
cores=$(nproc)
if [[ $OMPI_VERSION == 4.* ]]; then
    "$dla" map -f view.crs -n $nodes -F slurm >seq
    tap_is "$(openmpi --mca rmaps seq --hostfile seq --bind-to none)" "$wanted" "Open MPI: --mca rmaps seq --hostfile"
    rankfile=(--rankfile ranks)
else
    "$dla" map -f view.crs -n $nodes -F seq >order
    tap_is "$(openmpi --map-by seq:file=order --host $nodes --bind-to none)" "$wanted" "Open MPI: --map-by seq:file="
    rankfile=(--map-by rankfile:file=ranks)
fi

# The slots of a rankfile are cores, of which a small machine has few.
if ((cores < 2)); then
    tap_skip "Open MPI: a rankfile" "one processor only"
else
    small=n0:2,n1:2,n2:2,n3:2
    "$dla" map -f view.crs -n $small -F rankfile >ranks
    tap_is "$(openmpi "${rankfile[@]}" --host $small)" "$("$dla" map -f view.crs -n $small | sed '/^#/d')" \
        "Open MPI: ${rankfile[*]}"
fi

hydra=$(command -v mpiexec.hydra)
if [[ -n $hydra ]]; then
    "$dla" map -f view.crs -n $nodes -F hostfile >machines
    placed=$(launch_by=("$hydra") && launch -iface lo -launcher ssh -launcher-exec "$tap_dir/agent" -f machines -n 8 \
        "${tell[@]}" 2>errors </dev/null | sort -n)
    tap_is "$placed" "$wanted" "MPICH: mpiexec.hydra -f"
else
    tap_skip "MPICH: mpiexec.hydra -f" "mpiexec.hydra is not installed (apt-get install mpich)"
fi

tap_plan
