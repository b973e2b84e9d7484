#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tatp compare: with mpirun, and what it says of programs that differ, fail or hang, with a launcher of our own.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
[[ -n $OMPI_VERSION ]] || tap_skip_all "there is no Open MPI"
unset "${!OMPI_MCA_@}" "${!PRTE_MCA_@}"

# compare ARGUMENT...: sets said and status.
compare() {
    said=$(tatp compare "$@" 2>&1)
    status=$?
}

# says STATUS TEXT NAME: of the last comparison
says() {
    tap_is "$status" "$1" "$3: status"
    tap_contains "$said" "$2" "$3"
}

# --- a launcher and a program that do what is asked of them ---

mkdir bin
cat >bin/mpirun <<'END'
#!/bin/sh
echo "$*" >>launched
case $* in *dla:*) echo "dla: placed by tatp"; export PLACED=yes ;; esac
while [ "$1" != ./program ]; do shift; done
export OMPI_COMM_WORLD_LOCAL_RANK=0
exec $OMPI_MCA_orte_fork_agent $PRTE_MCA_odls_base_exec_agent "$@"
END
printf '#!/bin/sh\necho mca:io:romio1:version\n' >bin/ompi_info
cat >program <<'END'
#!/bin/sh
way=$OMPI_MCA_io,$OMPI_MCA_fcoll,$PLACED,$1
[ -z "$OMPI_MCA_fcoll_tatp_stats" ] || [ "$1" = independent ] ||
    printf '{"op": "read", "file": "%s/in"}\n{"op": "write", "file": "%s/out"}\n' "$PWD" "$PWD" >"$OMPI_MCA_fcoll_tatp_stats"
[ -z "$OMPI_MCA_fcoll_tatp_record" ] || cp "$top_srcdir/tests/fixtures/recorded/4.1.crs" "$OMPI_MCA_fcoll_tatp_record"
data=data
case $way in
*^tatp*,slow) sleep 1 ;;
*^tatp*,prints) printf 'write %s s\n' 8 2.0 ;;
*,prints) echo "write 0.5 s" ;;
ompio,tatp,,differs) data=other ;;
*,varies) data=$$ ;;
romio1,*,fails) echo "no more space"; cat frame; exit 3 ;;
ompio,tatp,*,fragile) echo "too few nodes"; exit 5 ;;
*,broken) echo "no input"; exit 3 ;;
*^tatp*,noisy) echo "write 2 s" ;;
*,noisy) echo >>turns; echo "write $(($(wc -l <turns) / 2 % 2 * 2 + 1)) s" ;;
ompio,tatp,yes,hangs) sleep 100 ;;
ompio,tatp,yes,idle) exit ;;
*,careful) [ ! -e out ] || exit 4 ;;
esac
echo "$data" >out
END
# As mpirun of Open MPI prints it.
line=--------------------------------------------------------------------------
cat >frame <<END
$line
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
$line
$line
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[41410,1],0]
  Exit code:    3
$line
END
# Slurm, with an allocation of two nodes.
cat >bin/srun <<'END'
#!/bin/sh
while [ "$1" != ./program ]; do shift; done
exec "$@"
END
chmod +x bin/* program
launcher=(-- "$PWD/bin/mpirun" -np 4 --map-by node ./program)

compare --save table.csv "${launcher[@]}" slow
says 0 "tatp: faster: 0." "a slow stock component"
tap_contains "$(head -n 1 <<<"$said")" "24 runs, " "how many runs overwrite the program's files"
tap_check "its ways" grep -qE '^romio1 +[0-9][0-9 .]* equal$' <<<"$said"
tap_check "in how many rounds" grep -qE '^placed: faster: 0.* of the time of .*, less in 5 of 5 rounds' <<<"$said"
tap_contains "$said" "dla: placed by tatp; without --map-by node" "what the mapper says"
tap_is "$(cut -d, -f1,7 table.csv | xargs)" "way,files ompio,equal romio1,equal tatp,equal placed,equal" "a saved table"
tap_is "$(wc -l <launched)" 30 "six runs of each way, and of a program that only starts MPI"
tap_check "the start of MPI is left out" grep -qE '^Medians .* without the launch and the [0-9.]+ s in which MPI starts' <<<"$said"
tap_is "$(sed -n 's/ dla:file=tatp-compare-[^/]*\/view.crs / X /p' launched | sort | uniq -c | xargs)" \
    "6 -np 4 --map-by X ./program slow" "a mapping of the user's gives way to the placement"
tap_is "$(cat out) $(find . -name 'tatp-compare-*')" "data " "the program's file stays, and nothing else"

compare --seconds 'write ([0-9.]+) s' "${launcher[@]}" prints
says 0 "tatp: faster: 0.25 of the time of" "seconds that the program prints"
compare --seconds 'write ([0-9.]+) s' "${launcher[@]}"
says 1 "--seconds write ([0-9.]+) s" "seconds that the program does not print"

compare --seconds 'write ([0-9.]+) s' "${launcher[@]}" noisy
says 0 "tatp: not distinguishable from noise" "seconds that vary"
tap_contains "$said" "(--rounds)" "seconds that vary: what to do"

compare --json "${launcher[@]}"
tap_described tatp.1 compare "$said"
tap_is "$status: $("$PYTHON3" -c 'import json, sys
said = json.load(sys.stdin)
print(*[way["way"] for way in said["ways"]], *[said[name] for name in ("rounds", "failures", "with_launch", "files_vary")], said["start"] > 0)
print(*[path.split("/")[-1] + " " + digest[:8] for path, digest in said["files"].items()])' <<<"$(sed 1d <<<"$said")" | xargs)" \
    "0: ompio romio1 tatp placed 5 {} False False True out 5 6667b2" "as JSON"

while IFS='|' read -r program text; do
    compare --limit 5 "${launcher[@]}" "$program"
    says 1 "$text" "$program"
    echo "$said" >"$program"
done <<END
differs|tatp: failed: $PWD/out
fails|romio1: failed: exit status 3
hangs|placed: failed: 
idle|placed: failed: $PWD/out:
independent|tatp: tatp: 
END
tap_check "times of other files are not averaged" grep -qE '^tatp( +-)+  differ$' differs
tap_is "$(sed -n '/^romio1: failed/,$p' fails)" "romio1: failed: exit status 3
  no more space" "a way that fails: what the program printed, without mpirun's frame"
tap_check "a way that fails: its files are not equal" grep -qE '^romio1( +-)+  -$' fails
tap_check "a way that fails: the others are compared" grep -q '^placed: .* ompio' fails
compare "${launcher[@]}" fragile
says 1 "tatp: tatp: exit status 5
  too few nodes
Without failure: ompio, romio1" "a program that fails with tatp"
compare "${launcher[@]}" broken
tap_is "$status" 1 "a program that fails in any case"
tap_is "$(grep -c 'no input' <<<"$said")" 3 "... each way's own error"
compare "${launcher[@]}" varies
tap_is "$status" 0 "files that always differ"
tap_is "$(grep -c ' equal$' <<<"$said")" 0 "files that always differ are not equal"
compare --file nothing "${launcher[@]}"
says 1 "nothing: " "a name that is no file"

compare --remove --file 'o*t' "${launcher[@]}" careful
says 1 "out: " "an older file is not removed"
tap_is "$(cat out)" data "it is as it was"
rm out
compare --remove --file 'o*t' "${launcher[@]}" careful
says 0 " equal" "a program that overwrites nothing"
tap_check "its file is removed" test ! -e out

tap_refuses_each "the command line" "tatp compare" <<'END'
2||launcher
2|--|launcher
2|--seconds x -- ./mpirun|--seconds
2|--seconds '((' -- ./mpirun|--seconds
2|--rounds 4 -- ./mpirun|--rounds
2|--limit 0 -- ./mpirun|--limit
2|--remove -- ./mpirun|--remove --file
2|--save program -- ./mpirun|--save program:
2|-- ./mpirun --mca fcoll tatp|fcoll tatp
1|-- ./none|./none:
END
export SLURM_JOB_NODELIST='n[0-1]' SLURM_TASKS_PER_NODE='4(x2)'
PATH=$PWD/bin:$PATH compare -- srun --mpi=pmix ./program
says 0 "tatp: not placed by this record" "srun in an allocation: what tatp run says"
unset SLURM_JOB_NODELIST
PATH=$PWD/bin:$PATH compare -- srun --mpi=pmix ./program
says 0 "placed: not tried: " "srun elsewhere"

# With another MPI tatp run decides which ways have tatp.
mkdir other
cat >other/tatp <<'END'
#!/bin/sh
echo "$*" | cut -d ' ' -f 1-2 >>runs
[ "$2" != --place ] || echo "tatp: placed by $3: 2"
while [ "$1" != srun ]; do shift; done
exec "$@"
END
chmod +x other/tatp
said=$(PATH=$PWD/bin:$PATH SLURM_JOB_NODELIST=n0 "$PYTHON3" -B "$TATP_COMPARE_DIR/__main__.py" "$PWD/other" "" "" "" -- srun ./program 2>&1)
tap_is "$(sort runs | uniq -c | xargs)" "6 run --place 1 run --record 5 run srun" "another MPI: its ways"
tap_contains "$said" "tatp: placed by this record: 2" "another MPI: the placement"

# --- Open MPI ---

[[ -e ${TATP_COMPONENT_PATH%%:*}/mca_fcoll_tatp.so ]] || { tap_skip "with mpirun" "fcoll/tatp is not built" && tap_plan; }
export OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH
compare --limit "$HANG_LIMIT" -- "$MPIRUN" -np 2 --oversubscribe "$BENCH_DIR/tatp-cube" --size 16 --verify --file "$PWD/array"
says 0 "placed: " "with mpirun"
tap_check "with mpirun: seconds, launch and bytes are known" test "$(grep -cE '^[a-z].* +([0-9.]+ +){5}equal$' <<<"$said")" -ge 3
tap_plan
