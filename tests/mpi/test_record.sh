#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recorder: its matrix is what the access order gives, and what stock Open MPI records. tests/simulate has random
# accesses.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
view=$tap_dir/view.crs
accesses=("$programs/record" --dir "$tap_dir")

# matrix FILE: rows of what ranks share, "/" between them, without the diagonal, which counts pieces of a rank's own range
matrix() {
    "$TOOLS_DIR/dla" convert --to mtx "$1" | awk '/^%/ { next } !n { n = $1; next } $1 != $2 { v[$1, $2] = $3 }
        END { for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) printf("%s%d", j > 1 ? " " : i > 1 ? "/" : "", v[i, j]) }'
}

# record RANKS PROGRAM [ARGUMENT...]
record() {
    rm -f "$view"
    record_again "$@"
}

# A given number of aggregators: every call has some.
record_again() {
    run_here "$1" --mca fcoll tatp --mca fcoll_tatp_num_aggregators 3 --mca fcoll_tatp_record "$view" "${@:2}"
}

# stock RANKS PROGRAM [ARGUMENT...]: writes fileview_info.out in $tap_dir.
stock() {
    (cd "$tap_dir" && rm -f fileview_info.out && run_here "$1" --mca fcoll vulcan --mca io_ompio_record_file_offset_info 1 "${@:2}")
}

# Example of the SetMatch paper.
example="0 1 0 0 4 0/1 0 0 1 4 1/0 0 0 2 1 3/0 1 2 0 1 0/4 4 1 1 0 2/0 1 3 0 2 0"
tap_check "example: recorded" record 6 "${accesses[@]}" order
tap_is "$(grep -c "\"record\" on 6 ranks .* $view" <<<"$tap_output")" 1 "example: one line says where"
tap_is "$(matrix "$view")" "$example" "example: the paper's matrix"
tap_check "example: stock Open MPI" stock 6 "${accesses[@]}" order
tap_is "$(matrix "$view")" "$(matrix "$tap_dir/fileview_info.out")" "example: what stock records"

rm -f "$view"
tap_check_fails "a job that is killed" record 6 "${accesses[@]}" --killed order
tap_is "$(matrix "$view")" "$example" "a job that is killed: the matrix of the files that were closed"

for grid in 2x2x2 1x2x4; do
    array=("$cube" --size 12x10x9 --grid "$grid" --write-only --file "$files/cube")
    tap_check "array over $grid: recorded" record 8 "${array[@]}"
    tap_check "array over $grid: stock Open MPI" stock 8 "${array[@]}"
    tap_is "$(matrix "$view")" "$(matrix "$tap_dir/fileview_info.out")" "array over $grid: what stock records"
done

# A block of each rank, which it writes itself, by one call and then by none: there is a record, and it changes no mapping.
rm -f "$view"
tap_check "without aggregators" run_here 4 --mca fcoll tatp --mca fcoll_tatp_record "$view" \
    "$cube" --size 4x16x16 --grid 4x1x1 --write-only --file "$files/cube"
tap_is "$(matrix "$view") $(grep -c ACCESS "$view")" "0 0 0 0/0 0 0 0/0 0 0 0/0 0 0 0 0" "without aggregators: no neighbours, and no profile"
tap_contains "$("$TOOLS_DIR/dla" map --file "$view" --nodes n0:2,n1:2)" "# not placed by" "without aggregators: the stock mapping"

# The ranks of a file are not those of the job.
tap_check "ranks the other way round: recorded" record 6 "${accesses[@]}" --reversed order
tap_is "$(matrix "$view")" "$example" "ranks the other way round: the same matrix"
tap_check "files of two halves: recorded" record 5 "${accesses[@]}" halves
tap_is "$(matrix "$view")" "0 0 4 0 3/0 0 0 7 0/4 0 0 0 4/0 7 0 0 0/3 0 4 0 0" "files of two halves: the matrix"

# --- two jobs at the same time ---

# comment NAME FILE: the values of a comment of a record.
comment() { sed -n "s/^% $1: //p" "$2" | tr '\n' ' '; }

# await_job NAME PROCESS: until it has opened a file, or ended.
await_job() { until [[ -e $tap_dir/$1/opened ]] || ! kill -0 "$2" 2>/dev/null; do sleep 0.05; done; }

# two_jobs RANKS RANKS [FILES]: both have opened their first files before one of them goes on; they close their files in turns.
# What they say is in one and two.
two_jobs() {
    local name ranks=$1 file
    local -A job
    rm -rf "$view"* "$tap_dir"/{one,two}
    for name in one two; do
        mkdir "$tap_dir/$name"
        run_here "$ranks" --mca orte_tmpdir_base "$tap_dir/$name" --mca fcoll tatp --mca fcoll_tatp_num_aggregators 2 \
            --mca fcoll_tatp_record "$view" "$programs/record" --dir "$tap_dir/$name" --files "${3:-1}" meet \
            >"$tap_dir/$name/output" 2>&1 &
        job[$name]=$! ranks=$2
        await_job "$name" $!
    done
    for ((file = 1; file <= ${3:-1}; file++)); do
        for name in one two; do
            rm "$tap_dir/$name/opened"
            : >"$tap_dir/$name/go"
            await_job "$name" "${job[$name]}"
        done
    done
    wait "${job[one]}" && wait "${job[two]}"
}

# The second one has not written before the first one ends.
tap_check "a job that ends later" two_jobs 3 3
tap_is "$(comment accesses "$view")$(comment bytes "$view")$(comment run "$view" | wc -w)" "1 24 1" \
    "a job that ends later: the record is its own"
tap_is "$(matrix "$view")" "0 1 0/1 0 1/0 1 0" "a job that ends later: with its matrix"
tap_check "a job that ends later: it says what it replaces" grep -q " $view, .*\"record\" on 3 ranks" "$tap_dir/two/output"
tap_check "a job of more ranks that ends later" two_jobs 3 4
tap_is "$(comment ranks "$view")$(comment accesses "$view")" "4 1 " "a job of more ranks: its record"
tap_is "$(cd "$tap_dir" && echo view.crs*) $(comment ranks "$view~")" "view.crs view.crs~ 3 " "a job of more ranks: the other record is kept"

tap_check "jobs in turns" two_jobs 4 4 10
tap_is "$(comment accesses "$view")$(cd "$tap_dir" && echo view.crs*)" "10 view.crs" "jobs in turns: the first one has recorded all"
tap_is "$(cd "$tap_dir" && grep -c recorded {one,two}/output)" $'one/output:1\ntwo/output:0' "jobs in turns: and says so"
tap_is "$(cd "$tap_dir" && grep -c "(\"record\" on 4 ranks, run $(comment run "$view" | tr -d ' ')) records" {one,two}/output)" \
    $'one/output:0\ntwo/output:1' "jobs in turns: the other one says once why it does not"

# --- spawned processes are another job, with ranks of its own ---

for children in 2 3; do
    rm -f "$view"
    tap_check "$children spawned processes" record_again 2 "${accesses[@]}" --children "$children" spawn
    tap_is "$(comment accesses "$view")$(comment run "$view" | wc -w)" "1 1" "$children spawned processes: one record"
    tap_is "$(grep -c "$view" <<<"$tap_output") $(grep -c "recorded in $view" <<<"$tap_output")" "2 1" "$children spawned processes: a line of each job"
    tap_check "$children spawned processes: it is whole" "$TOOLS_DIR/dla" show "$view"
done

# --- an earlier record ---

rm -f "$view"
tap_check "recorded with two ranks" record 2 "${accesses[@]}" order
tap_is "$(grep -c "instead of" <<<"$tap_output")" 0 "a first record replaces nothing"
tap_check "recorded again with more ranks" record_again 3 "${accesses[@]}" order
tap_contains "$tap_output" "\"record\" on 2 ranks, kept in $view~" "recorded again: the line says what it replaces"
tap_is "$(comment ranks "$view")" "3 " "recorded again: the new record"
printf 'a letter' >"$tap_dir/letter"
record_letter() { run_here 2 --mca fcoll tatp --mca fcoll_tatp_record "$tap_dir/letter" "${accesses[@]}" order; }
tap_check "the name of another file: the program is not affected" record_letter
tap_contains "$tap_output" "$tap_dir/letter" "the name of another file: the message says so"
tap_is "$(<"$tap_dir/letter")" "a letter" "the name of another file: it is left"

# --- names, and what cannot be recorded ---

mkdir -p "$tap_dir/start" "$tap_dir/elsewhere"
relative() {
    (cd "$tap_dir/start" && run_here 2 -x SLURM_JOB_ID=7/8 --mca fcoll tatp --mca fcoll_tatp_record %x-%j.crs \
        --mca fcoll_tatp_stats %x.jsonl "${accesses[@]}" --folder "$tap_dir/elsewhere" order)
}
tap_check "relative names, and a program that changes its folder" relative
tap_is "$(cd "$tap_dir" && echo start/* elsewhere/*)" "start/record-7_8.crs start/record.jsonl elsewhere/*" \
    "relative names: in the folder where mpirun was started, with the program and the job"
tap_is "$(grep -c "\"record\": \"$tap_dir/start/record-7_8.crs\"" "$tap_dir/start/record.jsonl")" 1 "relative names: the statistics name the record"
# steps TASKS...: records of two ranks that are started in step 3 with so many tasks, which two jobs name alike only if it is theirs
steps() {
    for tasks; do
        run_here 2 -x SLURM_STEP_ID=3 -x SLURM_STEP_NUM_TASKS="$tasks" --mca fcoll tatp --mca fcoll_tatp_record "$tap_dir/steps/%s-$tasks.crs" "${accesses[@]}" order
    done
}
mkdir "$tap_dir/steps"
tap_check "steps of a job" steps 2 1 1
tap_is "$(cd "$tap_dir/steps" && echo 3-*) $(find "$tap_dir/steps" -name '*-1.crs' | wc -l)" "3-2.crs 2" "steps of a job: a record each, also those of mpirun in one step"

rm -f "$view"*
tap_check "an access at the largest offset" record 2 "${accesses[@]}" far
tap_is "$(comment accesses "$view")" "2 " "an access at the largest offset: it alone is missing"
tap_is "$(grep -c "512 PiB" <<<"$tap_output")" 1 "an access at the largest offset: reported once"

view=$tap_dir/missing/view.crs
tap_check "unwritable path: the program is not affected" record 4 "${accesses[@]}" order
tap_contains "$tap_output" "$view" "unwritable path: the message names it"
tap_plan
