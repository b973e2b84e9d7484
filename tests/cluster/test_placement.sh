#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Placement on the nodes of a test cluster: by mpirun, with spawned ranks as well; in allocations of a real Slurm, by
# mpirun and by srun, with the switches that Slurm knows; and what dla pingpong measures there.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component rmaps dla
need_cluster
dla=$TOOLS_DIR/dla

# --- pingpong: four nodes, two on a leaf ---

two_leaves "$tap_dir/tree.conf"

# pingpong ARGUMENT...: two ranks on each node
pingpong() {
    run -np 8 --map-by ppr:2:node --bind-to none --mca mpi_yield_when_idle 1 "$dla" pingpong --bytes 65536 --rounds 5 \
        --output "$tap_dir/bandwidth.mtx" "$@"
}

# matrix: of the last run, a row on a line; 0 where nothing was measured
matrix() {
    awk '/^%/ { next } !n { n = $1; next } { v[$1, $2] = $3 }
         END { for (i = 1; i <= n; i++) { for (j = 1; j <= n; j++) printf "%d ", v[i, j]; print "" } }' "$tap_dir/bandwidth.mtx"
}

tap_check "pingpong: one pair of each class" pingpong
tap_is "$(grep '^% hosts' "$tap_dir/bandwidth.mtx" | xargs)" "% hosts n0 % hosts n1 % hosts n2 % hosts n3" "the nodes are named"
tap_is "$(matrix | awk '{ for (j = 1; j <= NF; j++) s[NR == j] = s[NR == j] " " $j }
    END { print split(s[0], a), split(s[1], b); for (k in a) x[a[k]]; for (k in b) y[b[k]]; print length(x), length(y) }' | xargs)" \
    "12 4 1 1" "one value within nodes and one between them"
tap_check "pingpong: one pair of each level of a topology" pingpong --topology "$tap_dir/tree.conf"
tap_is "$(matrix | awk '{ print $3, $4 }' | head -n 2 | xargs -n 1 | sort -u | wc -l)" 1 "one value between leaves"
tap_check "pingpong: all pairs" pingpong --pairs all
tap_is "$(matrix | awk '{ for (j = 1; j <= NF; j++) { v[NR, j] = $j; zero += $j == 0 } }
    END { for (i = 1; i <= 4; i++) for (j = 1; j <= 4; j++) odd += v[i, j] != v[j, i]; print NR, zero + 0, odd + 0 }')" \
    "4 0 0" "every pair has a value, both ways the same"
tap_check "what was measured can be placed by" "$dla" map --cart 4x4 --nodes 'n[0-3]:4' --topology "$tap_dir/bandwidth.mtx"
tap_check_fails "a topology without the nodes is refused" pingpong --topology <(echo "SwitchName=s Nodes=m[0-3]")
tap_check_fails "one rank is refused" run -np 1 "$dla" pingpong

# --- a topology, for mpirun: pairs of ranks on nodes, pairs of pairs on leaves ---

# shellcheck disable=SC2016
tell='echo "$OMPI_COMM_WORLD_RANK $(hostname)"'
cat >"$tap_dir/pairs.mtx" <<'END_OF_PAIRS'
%%MatrixMarket matrix coordinate integer symmetric
8 8 6
5 1 100
6 2 100
7 3 100
8 4 100
4 1 10
3 2 10
END_OF_PAIRS
"$dla" convert "$tap_dir/pairs.mtx" --to fileview >"$tap_dir/pairs.crs"
two_leaves "$tap_dir/crossed.conf" 0,2 1,3

# leaves: from "RANK nN" lines: whether pairs share nodes, and pairs of pairs leaves of crossed.conf
leaves() {
    sort -n | awk '{ node[$1] = $2; sub(/n/, "", $2); leaf[$1] = $2 % 2 }
        END { for (r = 0; r < 4; r++) together += node[r] == node[r + 4]
              print together, leaf[0] == leaf[3], leaf[1] == leaf[2], leaf[0] != leaf[1], NR }'
}
hosts=n0:2,n1:2,n2:2,n3:2
tap_is "$(run -np 8 --host $hosts --bind-to none --map-by "dla:file=$tap_dir/pairs.crs,topology=$tap_dir/crossed.conf" \
    sh -c "$tell" | leaves)" "4 1 1 1 8" "mpirun: nodes, and switches"

# --- spawned ranks ---

# children POLICY: where they stand
children() { run -np 4 --host $hosts --bind-to none --map-by "$1" "$tap_dir/spawn" 4 | grep ^child | sort; }
if [[ $OMPI_VERSION == 5.* ]]; then
    tap_skip "MPI_Comm_spawn" "PRRTE 3 hangs or loses output, with its own mappers too"
else
    "$MPICC" -o "$tap_dir/spawn" "$top_srcdir/tests/dla/spawn.c"
    stock=$(children slot)
    tap_is "$(grep -c . <<<"$stock")" 4 "MPI_Comm_spawn with slot"
    tap_is "$(children dla:cart=4)" "$stock" "MPI_Comm_spawn with dla: the children stand where they do with slot"
fi

# --- Slurm ---

reason=$(missing_slurm)
if [[ -n $reason ]]; then
    tap_skip "Slurm" "$reason"
    tap_plan
fi
mkdir "$tap_dir/slurm"
cp "$tap_dir/crossed.conf" "$tap_dir/slurm/topology.conf"
cat >"$tap_dir/jobs" <<END_OF_JOBS
cd "$tap_dir"
size="--quiet --nodes=4 --ntasks-per-node=2"
salloc \$size mpirun --bind-to none --map-by dla:file=pairs.crs sh -c '$tell' >file.out
salloc \$size mpirun --bind-to none --map-by dla:cart=2x4,order=Fortran sh -c '$tell' >cart.out
scontrol show topology >switches
salloc \$size mpirun --bind-to none --map-by dla:file=pairs.crs,topology=switches sh -c '$tell' >switches.out
salloc \$size mpirun -np 7 --bind-to none --map-by dla:file=pairs.crs sh -c '$tell' >wrong.out 2>&1
echo \$? >wrong.status
salloc \$size -w n0 --nodes=1 sh -c 'cd / && mpirun -np 2 --bind-to none --map-by dla:cart=2 sh -c "\$1"' sh '$tell' >one.out
"$dla" map -f pairs.crs -n 'n[0-3]:2' -T switches -F slurm >tasks
salloc \$size env SLURM_HOSTFILE=tasks srun --quiet -n 8 -m arbitrary sh -c 'echo "\$SLURM_PROCID \$(hostname)"' >tasks.out
END_OF_JOBS
under_slurm "$tap_dir/slurm" bash "$tap_dir/jobs"
status=$?
if [[ $status == 77 ]]; then
    tap_skip "Slurm" "$(head -n 1 "$tap_dir/errors")"
    tap_plan
fi
cd "$tap_dir" || exit 1
tap_is "$status" 0 "slurmctld and four slurmd run"
tap_diag "$(head -n 20 errors)"
tap_is "$(leaves <file.out | cut -d ' ' -f 1,5)" "4 8" "salloc mpirun, without -np: a rank for each slot, pairs together"
tap_is "$(sort -n cart.out | awk '{ n[$2] = n[$2] $1 } END { for (k in n) print n[k] }' | sort | xargs)" "04 15 26 37" \
    "salloc mpirun: a grid in Fortran order"
tap_is "$(leaves <switches.out)" "4 1 1 1 8" "salloc mpirun: with what 'scontrol show topology' tells"
tap_contains "$(tr '\n' ' ' <wrong.out)" "8 ranks, but this job has 7" "salloc mpirun: a job of another size is refused"
tap_check "... and fails" test "$(cat wrong.status)" -gt 0
tap_is "$(sort -n one.out | xargs)" "0 n0 1 n0" "salloc mpirun: one node"
tap_is "$(sort -n tasks.out)" "$(awk '{ print NR - 1, $1 }' tasks)" "srun -m arbitrary puts tasks where dla map says"
tap_is "$(leaves <tasks.out)" "4 1 1 1 8" "... nodes, and switches"
tap_plan
