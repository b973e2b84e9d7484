#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that the ranks of four nodes write in many ways on distributed file systems, by tatp and, for the table of
# doc/storage.md, by stock ways; read in the same job, by another one, and on the servers. By hand, `make check-storage`:
#     test_storage.sh [SYSTEM...]     those of tests/cluster/storage, or some of them
#     test_storage.sh DIR=FOLDER      a folder that all nodes see; MPIRUN_OPTIONS has the user's words for mpirun, RANKS numbers
# STORAGE_CSV is a file for the results: of each way, how many files have wrong bytes, or showed old ones for a while.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

checker=$top_builddir/tests/storage/checker
systems=(ceph gluster gluster-nocache moosefs sshfs)
read -ra ways <<<"${WAYS:-tatp locks vulcan romio}"
declare -A options=([tatp]="--mca fcoll tatp" [locks]="--mca fcoll tatp --mca fs_ufs_lock_algorithm 3" [vulcan]="--mca fcoll vulcan"
    [romio]="--mca io romio321")
declare -A packages=([ceph]=ceph-fuse [gluster]=glusterfs-client [gluster-nocache]=glusterfs-client [moosefs]=moosefs-client
    [sshfs]=sshfs)
# There, Open MPI's own shared file pointers hang in MPI_File_open of a file that was open before.
declare -A more=([gluster]="--mca sharedfp ^lockedfile")
columns=system,version,ranks,way,cases,lost,stale,error,hung

# launch RANKS ARGUMENT...
launch() {
    # shellcheck disable=SC2086 # several words
    timeout --kill-after=5 300 "${mpirun:-mpirun}" ${MPIRUN_OPTIONS-} -np "$1" --map-by node "${@:2}" </dev/null 2>&1 | tr -d '\0'
    return "${PIPESTATUS[0]}"
}

# write_files WAY RANKS FOLDER: on from behind each case that a job hangs or dies in
write_files() {
    local from=0 last result mca left_out=("${left_out[@]}")
    read -ra mca <<<"${options[$1]} ${more[$system]-}"
    [[ $1 != [tl]* ]] || left_out+=(-o)
    until launch "$2" "${mca[@]}" "$checker" write "${left_out[@]}" -f "$from" "$3" >"$tap_dir/job" || ((from > 99)); do
        last=$((from - 1)) result=
        read -r last _ result _ < <(grep -a '^[0-9]* [a-zA-Z_0-9]* [a-z]' "$tap_dir/job" | tee -a "$tap_dir/written" | tail -n 1)
        if [[ ${result-} != hang ]]; then
            last=$((${last:-$((from - 1))} + 1))
            echo "$last - error $(grep -a -i -m 1 -E 'signal:|error' "$tap_dir/job" | head -c 80)" >>"$tap_dir/written"
        fi
        from=$((last + 1))
    done
    grep -a '^[0-9]* [a-zA-Z_0-9]* [a-z]' "$tap_dir/job" >>"$tap_dir/written"
}

# join_results: what came of each case that was written, in one line
join_results() {
    (cd "$tap_dir" && awk '{ k = $1; what[FILENAME, k] = $3; name[k] = $2; sub(/^[^ ]* [^ ]* [^ ]*/, ""); if (!((FILENAME, k) in rest)) rest[FILENAME, k] = $0 }
        FILENAME == "written" { written[k] }
        END { for (k = 0; k < 99; k++) if (k in written && name[k] != "-") {
            from = what["written", k] ~ /hang|error/ ? "written" : what["truth", k] != "right" ? "truth" : what["written", k] == "stale" ? "written" : "read"
            result = what[from, k] == "" ? "error" : from == "read" && what[from, k] == "lost" ? "stale" : what[from, k]
            print name[k], result rest[from, k] } }' written read truth)
}

# truth_folder: where the servers have the files whole: of all nodes in one folder; nothing where they do not
truth_folder() {
    local servers=${CLUSTER_STORAGE-}/servers
    case $system in
    sshfs) echo "$servers/spine/$1" ;;
    gluster*)
        mkdir "$tap_dir/$1"
        find "$servers"/n*/"$1" -type f ! -perm /1000 -exec ln -st "$tap_dir/$1" {} +
        echo "$tap_dir/$1"
        ;;
    esac
}

# tell WAY RANKS: a line for each case of the results, and one of CSV
tell() {
    sed "s|^|$system $2 $1: |" "$tap_dir/results"
    awk -v head="csv $system,$version,$2,$1" '{ count[$2]++ }
        END { printf "%s,%d,%d,%d,%d,%d\n", head, NR, count["lost"], count["stale"], count["error"], count["hang"] }' "$tap_dir/results"
}

# check_others: conformance and random views, by tatp
check_others() {
    local result=''
    local by=(launch 8 --mca fcoll tatp)
    "${by[@]}" "$programs/conformance" --limit 60 --dir "$where" even/\* ragged/\* new_holes/\* old_holes/\* own_records/\* \
        same_view_again/\* append/\* sizes | sed -n 's/^ok \([^ ]*\).*/\1 right/p; s/^not ok \([^ ]*\)/\1 error/p' >"$tap_dir/results"
    tell conformance 8
    "${by[@]}" "$programs/views" --seed "${TEST_SEED:-1}" --cases 20 --dir "$where" >"$tap_dir/job" && result=right
    echo "20_cases ${result:-error $(tail -n 3 "$tap_dir/job" | tr '\n' ' ')}" >"$tap_dir/results"
    tell views 8
}

# check_way WAY RANKS: what another job reads wrong is lost if it is wrong on the servers, or 5 s later
check_way() {
    local name=checker.$1.$2 folder
    rm -f "$tap_dir/written"
    write_files "$1" "$2" "$where/$name"
    launch 4 "$checker" read "$2" "$where/$name" >"$tap_dir/read"
    folder=$(truth_folder "$name")
    if [[ -n $folder ]]; then
        launch 1 "$checker" read "$2" "$folder" >"$tap_dir/truth"
    else
        ! grep -q -w lost "$tap_dir/read" || sleep 5
        launch 4 "$checker" read "$2" "$where/$name" >"$tap_dir/truth"
    fi
    join_results >"$tap_dir/results"
    tell "$@"
    [[ -n ${CLUSTER_STORAGE-} ]] || rm -rf "${where:?}/$name"
}

# check_system: the file system of $where, from inside a job or a cluster
check_system() {
    local what result way ranks left_out=()
    while read -r what result; do
        [[ $result == stale ]] || continue
        left_out+=("-${what:0:1}")
        echo "$system: not checked after $what: plain pwrite and pread of two nodes are stale there"
    done < <(launch 4 "$checker" posix "$where/checker")
    [[ " ${left_out[*]} " == *" -c "* ]] || check_others
    for ranks in ${RANKS:-8 16}; do
        for way in "${ways[@]}"; do
            [[ $way != tatp && $ranks != 8 ]] || check_way "$way" "$ranks"
        done
    done
}
if [[ ${1-} == --inside ]]; then
    system=$2 version=$3 where=$CLUSTER_STORAGE/here
    check_system
    exit
fi

# judge SYSTEM FILE: where nodes read old bytes of each other's plain files, also those of tatp may be old for a while
judge() {
    local way stale=0
    tap_diag "$(sed "s/^csv //" "$2")"
    sed -n 's/^csv //p' "$2" >>"${STORAGE_CSV:-/dev/null}"
    ! grep -q "not checked after close" "$2" || stale='[0-9]*'
    for way in tatp locks conformance views; do
        ! grep -q "^csv .*,$way,[0-9]" "$2" || tap_is "$(sed -n "s|^csv $1,.*,$way,[0-9]*,|lost, stale, error, hung: |p" "$2" | grep -v " 0,$stale,0,0$")" "" "$1, $way: every byte is right"
    done
    tap_check "$1: some were written" grep -q "^csv .*,tatp,[1-9]" "$2"
}

[[ ! ${STORAGE_CSV-} ]] || echo "$columns" >"$STORAGE_CSV"
if [[ ${1-} == DIR=* ]]; then
    where=${1#DIR=} system=$(stat -f -c %T "${1#DIR=}") version=$(uname -r) mpirun=$MPIRUN
    check_system >"$tap_dir/output"
    judge "$system" "$tap_dir/output"
    tap_plan
fi
need_component fcoll tatp
run_here 4 --mca fcoll tatp "$checker" write -o "$tap_dir/local" >"$tap_dir/output"
printf X | dd of="$tap_dir/local/append" bs=1 seek=5000 conv=notrunc 2>"$tap_dir/errors"
tap_is "$(run_here 2 "$checker" read 4 "$tap_dir/local" | grep -v -h right - "$tap_dir/output")" "15 append lost 1 5000 read" \
    "on one node, all is right but for a byte that is changed"
need_cluster
for system in "${@:-${systems[@]}}"; do
    mkdir "$tap_dir/$system"
    "$CLUSTER" exec --name "$cluster_name" "${STORAGE:-$top_srcdir/tests/cluster/storage}" "$system" "$tap_dir/$system" \
        "$0" --inside "$system" "$(dpkg-query --show --showformat '${source:Upstream-Version}' "${packages[$system]}" 2>/dev/null)" \
        >"$tap_dir/output" 2>&1
    if [[ $? == 77 ]]; then tap_skip "$system" "$(head -n 1 "$tap_dir/output")"; else judge "$system" "$tap_dir/output"; fi
done
tap_plan
