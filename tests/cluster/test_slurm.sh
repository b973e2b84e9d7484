#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under a real Slurm, on the nodes of a test cluster: fcoll/tatp takes its distances from the job's
# environment and decides as it does by the same topology.conf.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_cluster
need_slurm

# Neighbouring switches at unequal depth, and no node next to the one that its number suggests.
mkdir "$tap_dir/tree" "$tap_dir/flat"
cat >"$tap_dir/tree/topology.conf" <<'END_OF_TREE'
SwitchName=leaf0 Nodes=n[0,3]
SwitchName=leaf1 Nodes=n1
SwitchName=leaf2 Nodes=n2
SwitchName=pod Switches=leaf[1-2]
SwitchName=top Switches=leaf0,pod
END_OF_TREE

# What runs under one Slurm: mpirun, once for each line "NAME HOW ARGUMENT...", and what it says in files by name.
cat >"$tap_dir/jobs" <<'END_OF_JOBS'
size="--nodes=4 --ntasks-per-node=4"
mpirun="mpirun --mca fcoll tatp --mca fcoll_base_verbose 10 --mca fcoll_tatp_num_aggregators 4"

# mpirun here, on no node of the job
by_salloc() {
    salloc --quiet $size $mpirun "$@" >"$name.out" 2>&1
}

# mpirun on the job's first node
by_sbatch() {
    printf '%s\n' '#!/bin/sh' "exec $mpirun $*" >"$name.sh"
    sbatch --quiet --wait $size --output="$PWD/$name.out" --open-mode=append "$name.sh"
}

while read -r name how arguments <&3; do
    by_$how --mca fcoll_tatp_stats "$PWD/$name.stats" $arguments || echo "failed: status $?" >>"$name.out"
done 3<lines
END_OF_JOBS
array="$cube --size 64 --grid 4x2x2 --verify --file"

# run_jobs FOLDER <LINES
run_jobs() {
    (cd "$1" && cat >lines) || exit 1
    under_slurm "$1" bash -c "cd '$1' && . '$tap_dir/jobs'"
}

hop_bytes() { statistic hop_bytes "$1.stats"; }

# succeeded JOB NAME
succeeded() {
    tap_lacks "$2" "$(if [[ ! -s $1.stats ]] || grep -q '^failed' "$1.out"; then echo "failed: $(told "$1.out")"; fi)"
}

tree=$tap_dir/tree flat=$tap_dir/flat
run_jobs "$tree" <<END_OF_LINES
auto salloc --map-by node $array $files/cube
file salloc --map-by node --mca fcoll_tatp_topology $tree/topology.conf $array $files/cube
none salloc --map-by node --mca fcoll_tatp_topology none $array $files/cube
batch sbatch --map-by node $array $files/cube
record salloc --map-by node --mca fcoll_tatp_record $files/view.crs $array $files/cube
placed salloc --map-by dla:file=$files/view.crs $array $files/cube
END_OF_LINES
need_slurm_run $?
succeeded "$tree/auto" "salloc mpirun"
tap_contains "$(told "$tree/auto.out")" "hops between 4 nodes from the job's environment" "distances from the environment"
tap_contains "$(told "$tree/file.out")" "hops between 4 nodes from $tree/topology.conf" "distances from topology.conf"
tap_is "$(decision "$tree/auto.stats")" "$(decision "$tree/file.stats")" "both decide alike"
tap_diag "hop-bytes: environment $(hop_bytes "$tree/auto"), none $(hop_bytes "$tree/none"), placed by dla $(hop_bytes "$tree/placed")"
tap_check "other distances than without a topology" test "$(hop_bytes "$tree/auto")" -gt "$(hop_bytes "$tree/none")"
succeeded "$tree/batch" "sbatch, mpirun on a node of the job"
tap_contains "$(told "$tree/batch.out")" "hops between 4 nodes from the job's environment" "sbatch: distances from the environment"
tap_is "$(decision "$tree/batch.stats")" "$(decision "$tree/file.stats")" "sbatch: decides alike"
succeeded "$tree/placed" "salloc mpirun --map-by dla"
tap_check "placed by dla, fewer hop-bytes" test "$(hop_bytes "$tree/placed")" -lt "$(hop_bytes "$tree/auto")"

run_jobs "$flat" <<END_OF_LINES
auto salloc --map-by node $array $files/cube
none salloc --map-by node --mca fcoll_tatp_topology none $array $files/cube
END_OF_LINES
succeeded "$flat/auto" "Slurm without switches: salloc mpirun"
tap_contains "$(told "$flat/auto.out")" "4 nodes, all equally far apart" "Slurm without switches: no distances"
tap_is "$(decision "$flat/auto.stats")" "$(decision "$flat/none.stats")" "Slurm without switches: as without topology"
tap_is "$(grep -c -i 'environment' "$flat/auto.out")" 0 "Slurm without switches: no word about it"
tap_plan
