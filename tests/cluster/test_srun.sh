#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that srun starts, by Slurm's PMIx plugin and without mpirun, on the nodes of a test cluster: fcoll/tatp under
# it, the scripts of doc/examples, which record a program and then place it, and what `tatp run` places.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

need_component fcoll tatp
need_cluster
need_slurm

tatp_run="$TOOLS_DIR/tatp run"
[[ ! -e $library ]] || tatp_run+=" --library $library"
"$MPICC" -O1 -o "$tap_dir/field" "$top_srcdir/doc/examples/field.c" || exit 1
[[ ! -e $library ]] || "$OTHER_MPICC" -O1 -o "$tap_dir/other" "$top_srcdir/doc/examples/field.c" || exit 1

# What runs under Slurm, in $tap_dir. The program writes, reads and checks an array.
cat >"$tap_dir/jobs" <<END_OF_JOBS
cd '$tap_dir'
srun --mpi=list >plugins 2>&1
grep -qw pmix plugins || exit 0
PATH=$TOOLS_DIR:\$PATH
export OMPI_MCA_io=ompio OMPI_MCA_fcoll_base_verbose=10 SLURM_PMIX_FENCE=ring
program="$cube --size 64 --grid 4x2x2 --verify --file $files/cube"
equal="--nodes=4 --ntasks-per-node=4"
# submit JOB OPTION... SCRIPT
submit() {
    sbatch --quiet --wait --output=\$1.out \$equal "\${@:2}" \$program
    echo \$? >\$1.status
}
submit recorded --distribution=cyclic '$top_srcdir/doc/examples/record.sbatch'
submit placed '$top_srcdir/doc/examples/place.sbatch'
salloc --quiet \$equal mpirun --mca fcoll tatp --mca fcoll_tatp_stats mpirun.jsonl \\
    --map-by dla:file=view.crs \$program >mpirun.out 2>&1
echo \$? >mpirun.status
cp $cube copied
printf '%s\n' "0-7 \$program" "8-15 ./copied \${program#* }" >programs
salloc --quiet \$equal bash steps \$program >steps.out 2>&1
unset OMPI_MCA_fcoll_base_verbose
salloc --quiet --ntasks=16 bash launches
for turn in 1 2; do
    sbatch --quiet --wait --array=0-1 \$equal --output=/dev/null array \$turn
done
$tatp_run --place view.crs srun --mpi=pmix -n 16 ./field >alone.out 2>&1
export XDG_CACHE_HOME=$tap_dir/hydra UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 LD_PRELOAD=$pause
for turn in "--auto" "--auto" "--place hydra/*/*.crs"; do
    [[ ! -e $library ]] || $tatp_run \$turn --nodes n[0-3]:4 $OTHER_MPIEXEC -launcher rsh -launcher-exec $top_srcdir/tests/cluster/agent \\
        -iface spine -n 16 ./other >>hydra.out 2>&1
done
END_OF_JOBS
# A task of a job array, in a folder of its own.
cat >"$tap_dir/array" <<END_OF_ARRAY
#!/bin/sh
mkdir -p array.\$SLURM_ARRAY_TASK_ID && cd array.\$SLURM_ARRAY_TASK_ID || exit
XDG_CACHE_HOME=$tap_dir/array_cache $tatp_run --auto srun --mpi=pmix ../field >\$1.out 2>&1
END_OF_ARRAY
# Of one job: two programs, and one.
cat >"$tap_dir/steps" <<'END_OF_STEPS'
export OMPI_MCA_fcoll=tatp OMPI_MCA_fcoll_tatp_record=auto OMPI_MCA_fcoll_tatp_stats=step-%s.jsonl
XDG_CACHE_HOME=$PWD/two srun --mpi=pmix --multi-prog programs || echo failed
XDG_CACHE_HOME=$PWD/one srun --mpi=pmix "$@" || echo failed
END_OF_STEPS
# Of one job on nodes with unequal numbers of tasks: of each command, what its runs are to say.
cat >"$tap_dir/launched" <<END_OF_LAUNCHED
pmix|no_record placed|--auto srun --mpi=pmix ./field
cyclic|no_record placed|--auto srun --mpi=pmix --distribution=cyclic ./field
all|no_record placed|--auto ./behind srun --mpi=pmix -N 4 -n 16 ./field
two|no_record placed,number|--auto srun --mpi=pmix -N 2 -n 16 --overcommit ./field
mpirun|no_record placed|--auto mpirun --bind-to none ./field
shell|no_record placed|--auto ./start
python|no_record placed|--auto $PYTHON3 start.py
changed|no_record changed placed|--auto srun --mpi=pmix ./changed
programs|no_record,right several,right|--auto ./start_two
hosts|placed,ranks|--place view.crs mpirun -np 4 --host n0:2,n1:2 --bind-to none ./field
fewer|placed,ranks|--place view.crs srun --mpi=pmix -n 4 ./field
elsewhere|placed,nodes|--place view.crs srun --mpi=pmix --nodelist=n[0-3] ./field
END_OF_LAUNCHED
[[ ! -e $library ]] || cat >>"$tap_dir/launched" <<END_OF_LAUNCHED
pmi2|no_record placed|--auto srun --mpi=pmi2 ./other
pmi2_all|no_record placed|--auto srun --mpi=pmi2 -N 4 -n 16 ./other
hydra|no_record placed,nodes|--auto $OTHER_MPIEXEC -iface spine ./other
hydra_hosts|placed,nodes|--place view.crs ./behind $OTHER_MPIEXEC -iface spine -hosts n3,n2,n1,n0 -n 16 ./other
END_OF_LAUNCHED
cat >"$tap_dir/launches" <<END_OF_LAUNCHES
echo "\$SLURM_TASKS_PER_NODE" >tasks
cp field changed
printf '%s\n' '#!/bin/sh' 'srun --mpi=pmix ./field' >start
printf '%s\n' 'import subprocess' 'subprocess.run(["srun", "--mpi=pmix", "./field"])' >start.py
printf '%s\n' '#!/bin/sh' '"\$@"' >behind
(cat start && echo 'srun --mpi=pmix ./changed') >start_two
chmod +x start start_two behind
export XDG_CACHE_HOME=$tap_dir/once UCX_TLS=tcp,self,sysv,cma UCX_NET_DEVICES=eth0 LD_PRELOAD=$pause
for i in 1 2; do $tatp_run --auto srun --mpi=pmix -n 4 ./field >once.\$i.out 2>&1 & done
wait
export XDG_CACHE_HOME=$tap_dir/launches_cache
while IFS='|' read -r name turns command <&3; do
    for turn in \$turns; do
        [[ \$turn != changed ]] || touch changed
        $tatp_run \$command >"\$name.\$turn.out" 2>&1 || echo failed >>"\$name.\$turn.out"
    done
done 3<launched
job=\$($tatp_run --place view.crs sbatch --parsable --hold --ntasks=4 start 2>/dev/null)
scontrol show job "\$job" | grep -o 'ReqNodeList=[^ ]*' >submitted
scancel "\$job"
END_OF_LAUNCHES
# says FILE: what `tatp run` and the program have said, in words
says() {
    sed -n 's/.*tatp: not placed: there is no record.*/no_record/p; s/.*tatp: not placed: .* has changed.*/changed/p
        s/.*tatp: not placed: .* several programs/several/p; s/.*tatp: placed by .* -> .*/placed/p
        s/.*tatp: not placed: the record is of.*/ranks/p; s/.*tatp: not placed: .* on other nodes.*/nodes/p
        s/.*tatp: not placed: .* no allocation.*/nowhere/p; s/.*tatp: not placed: .* number of nodes.*/number/p
        s/.* 0 of [0-9]* values wrong/right/p; /^failed/p' "$1" | xargs
}
mkdir "$tap_dir/slurm"
two_leaves "$tap_dir/slurm/topology.conf"
sed -i '1s/slots=4/slots=6/' "$TMPDIR/tatp-cluster-$UID/$cluster_name/hosts"
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
tap_contains "$(cat placed.out)" "placed by view.crs: " "... with a line"
first=$(hop_bytes recorded | head -n 1 | cut -d ' ' -f 2)
second=$(hop_bytes placed | head -n 1 | cut -d ' ' -f 2)
tap_check "... with fewer hop-bytes than recorded: $second, $first" test "$second" -lt "$first"
succeeded mpirun "mpirun --map-by dla in the same allocation"
tap_is "$(hop_bytes placed)" "$(hop_bytes mpirun)" "... decides as under srun"
tap_is "$(cat tasks)" "6,4(x2),2" "tatp run on nodes with unequal numbers of tasks"
while IFS='|' read -r name turns command; do
    for turn in $turns; do
        tap_is "$(says "$name.$turn.out")" "${turn/,/ } right" "... $command"
        [[ $(says "$name.$turn.out") == "${turn/,/ } right" ]] || tap_diag "$(cat "$name.$turn.out")"
    done
done <launched
tap_is "$(cat submitted)" "ReqNodeList=(null)" "... a job that the command submits"
tap_is "$(says alone.out)" "nowhere right" "... outside an allocation"
if [[ -e $library ]]; then
    tap_is "$(says hydra.out)" "no_record right placed right placed right" "... hydra outside an allocation"
    tap_is "$(grep -o 'not by mpiexec.* takes\|MPICH takes' hydra.out | xargs)" "not by mpiexec of MPICH, which takes MPICH takes" "... what MPICH would not know"
fi
tap_is "$(says once.1.out) $(says once.2.out) $(find once -name '*.crs' | wc -l)" "no_record right no_record right 1" "... two at the same time"
tap_is "$(for task in 0 1; do says array.$task/1.out && says array.$task/2.out; done | xargs)" \
    "no_record right placed right no_record right placed right" "... each task of a job array"
tap_lacks "two steps of a job" "$(grep ^failed steps.out)"
tap_is "$(echo step-*)" "step-0.jsonl step-1.jsonl" "... whose files have their numbers"
tap_is "$(find one two -name '*.crs' | cut -d / -f 1)" one "... one program is recorded in the cache, two are not"
tap_plan
