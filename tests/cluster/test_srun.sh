#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that srun starts, by Slurm's PMIx plugin and without mpirun, on the nodes of a test cluster: fcoll/tatp under
# it, and the scripts of doc/examples, which record a program and then place it by `dla map -F slurm`.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_cluster
need_slurm

# What runs under Slurm, in $tap_dir. The program writes, reads and checks an array.
cat >"$tap_dir/jobs" <<END_OF_JOBS
cd '$tap_dir'
srun --mpi=list >plugins 2>&1
grep -qw pmix plugins || exit 0
PATH=$TOOLS_DIR:\$PATH
export OMPI_MCA_io=ompio OMPI_MCA_fcoll_base_verbose=10
program="$cube --size 64 --grid 4x2x2 --verify --file $files/cube"
# submit JOB OPTION... SCRIPT
submit() {
    sbatch --quiet --wait --output=\$1.out "\${@:2}" \$program
    echo \$? >\$1.status
}
submit recorded --distribution=cyclic '$top_srcdir/doc/examples/record.sbatch'
submit placed '$top_srcdir/doc/examples/place.sbatch'
salloc --quiet --nodes=4 --ntasks-per-node=4 mpirun --mca fcoll tatp --mca fcoll_tatp_stats mpirun.jsonl \\
    --map-by dla:file=view.crs \$program >mpirun.out 2>&1
echo \$? >mpirun.status
cp $cube copied
printf '%s\n' "0-7 \$program" "8-15 ./copied \${program#* }" >programs
salloc --quiet --nodes=4 --ntasks-per-node=4 bash steps \$program >steps.out 2>&1
END_OF_JOBS
# Of one job: two programs, and one.
cat >"$tap_dir/steps" <<'END_OF_STEPS'
export SLURM_PMIX_FENCE=ring OMPI_MCA_fcoll=tatp OMPI_MCA_fcoll_tatp_record=auto OMPI_MCA_fcoll_tatp_stats=step-%s.jsonl
XDG_CACHE_HOME=$PWD/two srun --mpi=pmix --multi-prog programs || echo failed
XDG_CACHE_HOME=$PWD/one srun --mpi=pmix "$@" || echo failed
END_OF_STEPS
mkdir "$tap_dir/slurm"
two_leaves "$tap_dir/slurm/topology.conf"
under_slurm "$tap_dir/slurm" bash "$tap_dir/jobs"
need_slurm_run $? "$(<"$tap_dir/errors")"
cd "$tap_dir" || exit 1
if ! grep -qw pmix plugins; then
    tap_skip "srun --mpi=pmix" "srun --mpi=list has no pmix: $(xargs <plugins)"
    tap_plan
fi

# succeeded JOB NAME
succeeded() { tap_lacks "$2" "$([[ $(cat "$1.status" 2>&1) == 0 ]] || echo "failed: $(cat "$1.out")")"; }

# hop_bytes JOB: of its calls, each with the nodes of the ranks.
hop_bytes() { sed -n 's/.*"op": "\([a-z]*\)".*"hop_bytes": \([0-9]*\),.*/\1 \2/p' "$1.jsonl"; }

succeeded recorded "record.sbatch: srun writes, reads and finds every byte right"
tap_contains "$(cat recorded.out)" "hops between 4 nodes from the job's environment" "... distances from the environment"
tap_is "$(head -n 1 view.crs)" FILEVIEW "... and leaves a record"
tap_is "$(sed -n 's/^% ranks: //p' view.crs)" 16 "... of one job of 16 ranks"
succeeded placed "place.sbatch: srun, placed by the record"
tap_is "$(sort hosts.* | uniq -c | xargs)" "4 n0 4 n1 4 n2 4 n3" "... four ranks on each node"
first=$(hop_bytes recorded | head -n 1 | cut -d ' ' -f 2)
second=$(hop_bytes placed | head -n 1 | cut -d ' ' -f 2)
tap_check "... with fewer hop-bytes than recorded: $second, $first" test "$second" -lt "$first"
succeeded mpirun "mpirun --map-by dla in the same allocation"
tap_is "$(hop_bytes placed)" "$(hop_bytes mpirun)" "... decides as under srun"
tap_lacks "two steps of a job" "$(grep ^failed steps.out)"
tap_is "$(echo step-*)" "step-0.jsonl step-1.jsonl" "... whose files have their numbers"
tap_is "$(find one two -name '*.crs' | cut -d / -f 1)" one "... one program is recorded in the cache, two are not"
tap_plan
