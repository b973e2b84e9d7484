#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two lines in a parameter file: a program records itself in the user's cache, and its next launch is placed by that. What is
# not placed, what a cache that cannot be used does to a job (nothing), and what dla list and dla forget do.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_component rmaps dla
[[ $OMPI_VERSION != 6.* ]] || tap_skip_all "mpirun of Open MPI 6 does not tell the mapper which program it starts"
need_cluster
dla=$TOOLS_DIR/dla
cd "$tap_dir" || exit 1
export HOME=$tap_dir/home
unset XDG_CACHE_HOME
cache=$HOME/.cache/openmpi-tatp
# As installed: of a path in the environment PMIx says what it cannot open.
unset OMPI_MCA_mca_base_component_path
mkdir -p "$HOME/.openmpi/components"
cp "${TATP_COMPONENT_PATH%%:*}"/*.* "$HOME/.openmpi/components"
# small pieces, and more than one aggregator has
sed 's/ROWS = 4/ROWS = 400/' "$top_srcdir/tests/dla/columns.c" >columns.c
"$MPICC" -o columns columns.c || exit 1

# sets: which ranks are together, of the map that mpirun displays
sets() {
    awk '/Data for node:/ { line = line (line == "" ? "" : " "); comma = "" }
         / Process rank: / { sub(/.* Process rank: /, ""); line = line comma $1 + 0; comma = "," }
         END { print line }'
}

# launch [ARGUMENT...]: by $ranks ranks, or 8; sets MAP, what was said (SAID) and STATUS. Nothing about placement on the line.
display_map=(--display map)
[[ $OMPI_VERSION != 4.* ]] || display_map=(--display-map)
launch() {
    run -np "${ranks:-8}" --host n0:4,n1:4 "${display_map[@]}" "$@" >output 2>errors
    STATUS=$?
    MAP=$(sets <output)
    SAID=$(tr -d '\0' <errors) # PRRTE ends a message with one
}
by_slot="0,1,2,3 4,5,6,7"
# ranks r and r + 4 are neighbours
is_placed() {
    [[ -n $MAP && $MAP != "$by_slot" ]] &&
        awk '{ for (n = 1; n <= NF; n++) { split($n, ranks, ","); for (k in ranks) node[ranks[k]] = n } }
            END { for (r = 0; r < 4; r++) apart += node[r] != node[r + 4]; exit apart > 0 }' <<<"$MAP"
}

# is_stock NAME ARGUMENT...: a launch runs, by slot, and says nothing
is_stock() {
    launch "${@:2}"
    tap_is "$STATUS|$MAP|$SAID" "0|$by_slot|" "$1"
}
# is_placed_by_record NAME ARGUMENT...: a launch runs, placed, and one line says so
is_placed_by_record() {
    launch "${@:2}"
    tap_is "$STATUS|$(is_placed && echo placed)|$(grep -c 'dla: placed by .*[.]crs: .* between nodes -> ' <<<"$SAID") of $(wc -l <<<"$SAID")" \
        "0|placed|1 of 1" "$1"
}

# ---- off by default ----

is_stock "without the parameters: the stock mapping" ./columns out
tap_check "without the parameters: no cache" test ! -e "$cache"

# ---- two runs ----

printf '%s\n' "fcoll_tatp_record = auto" "rmaps_dla_file = auto" >"$HOME/.openmpi/mca-params.conf"
is_stock "the first run, whose ranks have another cache: the stock mapping" -x XDG_CACHE_HOME="$tap_dir" ./columns out
tap_is "$(stat -c %a "$cache")" "700" "the folder of records is the user's alone"
tap_is "$(cd "$cache" && echo *)" "$(cd "$cache" && echo *.crs)" "... and has nothing else"
tap_check "the record is one" "$dla" show "$cache"/*.crs
is_placed_by_record "the second run is placed" ./columns out
PATH=$PATH:$tap_dir is_stock "an argument that is another text is not placed" --wdir "$HOME" columns "$tap_dir/out"
"$dla" forget "$("$dla" list | awk -v name="$tap_dir/out" '$NF == name { print $1 }')"
ln -s "$tap_dir/columns" "$HOME/linked"
PATH=$PATH:$HOME is_placed_by_record "a link to the program, found in PATH, is placed" --wdir "$HOME" linked out
is_placed_by_record "an absolute name is placed" "$tap_dir/columns" out
touch -d '3 days ago' "$cache"/*.crs
is_placed_by_record "an old record is used" ./columns out
tap_is "$("$dla" list | awk 'NR == 1 { next } { print NF, $2, $3, $4, $(NF - 1), $NF }')" \
    "6 8 $(date -d '3 days ago' +%F) $(date +%F) ./columns out" "dla list: ranks, when it was recorded and used, the command"
is_stock "a mapping policy goes before the cache" --map-by slot ./columns out
is_stock "other arguments are not placed" ./columns other
is_placed_by_record "... unless two records with different arguments have the same view" ./columns third
ranks=6 launch ./columns out
tap_is "$MAP" "0,1,2,3 4,5" "another number of ranks is not placed"
tap_is "$("$dla" list | wc -l)" 5 "dla list: a line for each"
{ cat columns.c && echo 'extern const int changed; const int changed = 1;'; } >changed.c
cp -p columns before
"$MPICC" -o columns changed.c
is_stock "a changed program is not placed" ./columns out
is_placed_by_record "... but the next time" ./columns out
cp -p before columns
is_placed_by_record "the program as it was before is placed" ./columns out
cp columns copied
is_stock "a copy is another program" ./copied out
"$dla" forget "$("$dla" list | awk '$NF == "out" && $(NF - 1) == "./copied" { print $1 }')"
printf '#!/bin/sh\nexec ./columns "$@"\n' >wrapper
chmod +x wrapper
is_stock "a wrapper is not placed" ./wrapper out
ranks=4 launch ./columns out : -np 4 ./columns out
tap_is "$STATUS|$(grep -E 'dla|placement' <<<"$SAID")" "0|" "two programs are not placed"
if [[ $OMPI_VERSION == 4.* ]]; then
    launch true
    tap_is "$STATUS|$SAID" "0|" "a program without MPI is started as ever"
else
    tap_skip "a program without MPI is started as ever" "mpirun of Open MPI 5.0.7 may hang at one that ends at once, without rmaps/dla, too"
fi

# ---- scripts ----

cat >program.py <<'END_OF_PROGRAM'
import ctypes, sys
argv = (ctypes.c_char_p * 3)(b"columns", sys.argv[1].encode(), None)
sys.exit(ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL).program(2, argv))
END_OF_PROGRAM
python=$([[ -z $PYTHON3 ]] || "$PYTHON3" -c 'import sys; print(sys.executable)')
if [[ -n $python ]] && "$MPICC" -shared -fPIC -Dmain=program -o libcolumns.so columns.c; then
    is_stock "a script of an interpreter: recorded" "$python" program.py out ./libcolumns.so
    is_placed_by_record "a script of an interpreter: placed" "$python" -u program.py out ./libcolumns.so
    { echo "#!$python" && cat program.py; } >program
    chmod +x program
    cp program program.py
    is_stock "a changed script is not placed" ./program out ./libcolumns.so
    is_placed_by_record "a script that names its interpreter: placed" ./program out ./libcolumns.so
else
    tap_skip "a script of an interpreter" "there is no Python 3"
fi

# ---- reordering in the program ----

# reordered: the neighbours that a grid of 32 ranks has on two nodes, and which lines there are about it
reordered() {
    run -np 32 --host n0:8,n1:8,n2:8,n3:8 --mca topo dla,basic ./reorder write 2>&1 |
        sed "s/.*topo:dla: not .*/topo:dla:/; s/.* dla: not .*/dla:/" | sort | xargs
}
"$MPICC" -o reorder "$top_srcdir/tests/mpi/reorder.c" || exit 1
tap_is "$(reordered)" "write 16 between" "a run is reordered and recorded"
tap_is "$(reordered)" "dla: topo:dla: write 24 between" "the next one keeps the order for which the record decides the nodes"
tap_is "$(reordered)" "dla: topo:dla: write 24 between" "... as do all others"

# ---- what is recorded ----

mkdir logs
tap_check "files of several communicators: recorded" run_here 7 "$programs/record" --dir logs halves
tap_check "... by name" run_here 7 --mca fcoll tatp --mca fcoll_tatp_record named.crs "$programs/record" --dir logs halves
tap_is "$("$dla" convert --to mtx "$cache/$("$dla" list | awk '$2 == 7 { print $1 }').crs" | grep -v '^%' | md5sum)" \
    "$("$dla" convert --to mtx named.crs | grep -v '^%' | md5sum)" "... the same matrix"
(for _ in {1..600}; do "$dla" list 2>/dev/null | awk '$2 == 4 { found = 1 } END { exit !found }' && break; sleep 0.1; done; touch logs/go) &
run_here 4 --mca fcoll tatp "$programs/record" --dir logs late
wait
tap_is "$("$dla" show "$cache/$("$dla" list | awk '$2 == 4 { print $1 }').crs" | grep '^% files')" "% files: 2" \
    "a file that is opened after other processes ended is recorded"
# recorded COMMAND...: how many programs a run of 9 ranks, of launchers that say nothing or too little, leaves in the cache.
recorded() {
    run_here 9 "$@" >>several 2>&1 || cat several
    "$dla" list | awk '$2 == 9' | wc -l
}
ln -s columns columns0
ln -s columns columns1
silent=(env -u OMPI_NUM_APP_CTX)
# shellcheck disable=SC2016 # for the script
tap_is "$(recorded bash -c 'exec ./columns$((OMPI_COMM_WORLD_RANK / 5)) "$@"' bash out)" 0 "a script that starts two programs is not recorded"
tap_is "$(recorded "${silent[@]}" "$programs/record" --dir logs halves)" 0 "... nor files of some ranks, if nobody knows what the others run"
tap_is "$(recorded "${silent[@]}" ./columns out)" 1 "one program, of which no launcher says it, is recorded"
sed 's/MPI_Finalize()/MPI_Abort(MPI_COMM_WORLD, 1)/' columns.c >aborts.c
"$MPICC" -o aborts aborts.c
run_here 5 ./aborts out >/dev/null 2>&1
tap_is "$("$dla" list | awk '$2 == 5')" "" "a program that aborts leaves no record"
# Without sharedfp/sm, whose semaphore has the name of the file in all jobs: a job may hang in MPI_File_open.
# In folders of their own, because they remove the file, and Open MPI fails if another job makes its folder just then.
mkdir at-once.{1,2,3,4}
for folder in at-once.*; do
    (cd "$folder" && TMPDIR=$PWD run_here 3 --mca btl ^tcp --mca sharedfp ^sm "$programs/record" order >/dev/null 2>>../at-once) &
done
wait
tap_is "$("$dla" list | awk '$2 == 3' | wc -l)|$(cat at-once)" "1|" "jobs that record a program at the same time"
tap_check "... leave a record" "$dla" show "$cache/$("$dla" list | awk '$2 == 3 { print $1 }').crs"
for i in {1..300}; do printf x >"$cache/$(printf '%016x-00000000.crs' "$i")"; done
touch -d '2 days ago' "$cache"/0000*
run_here 6 ./columns new
tap_is "$(find "$cache" -name '*.crs' | wc -l)" 256 "no more than 256 records are kept"
rm "$cache"/0000*

# ---- forgetting ----

key=$("$dla" list | awk '$2 == 8 && $NF == "out" && $(NF - 1) == "./columns" { print $1; exit }')
tap_check "dla forget: all arguments of a program" "$dla" forget "${key%-*}"
is_stock "forgotten: recorded anew" ./columns out
is_placed_by_record "... and placed" ./columns out

# ---- a cache that cannot be used ----

printf 'FILEVIEW\n%% damaged' >"$cache/$key.crs"
launch ./columns out
tap_is "$STATUS|$MAP|$(grep -c "$key.crs:" <<<"$SAID")" "0|$by_slot|1" "a damaged record: the stock mapping, and its name"
is_placed_by_record "a damaged record is replaced" ./columns out

# one_warning NAME FOLDER: of a launch, with its name
one_warning() {
    launch ./columns out
    tap_is "$STATUS|$MAP|$(grep -c "$2" <<<"$SAID")" "0|$by_slot|1" "$1: the job runs by the stock mapping, with one warning"
}
chmod 777 "$cache"
one_warning "a folder that others may write" "$cache"
chmod 700 "$cache"
if [[ $(id -u) == 0 ]]; then
    chown 65534 "$cache"
    one_warning "a folder of another user" "$cache"
    chown 0 "$cache"
else
    tap_skip "a folder of another user" "needs root"
fi
XDG_CACHE_HOME=/dev/null one_warning "a folder that cannot be made" /dev/null

tap_check "dla forget --all" "$dla" forget --all
tap_is "$("$dla" list | wc -l)" 1 "dla forget --all: nothing is left"
tap_check_fails "dla forget: a key that does not exist" "$dla" forget 0123
tap_plan
