#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libtatp-mpiio.so where it is preloaded or linked: parameters and hints, records and statistics, languages, other profiling
# libraries, and programs that it must leave alone.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

need_other
cd "$tap_dir" || exit 1
stats=$tap_dir/stats
environment=(TATP_STATS="$stats")
for program in "$top_srcdir/doc/examples/field" "$top_srcdir"/tests/mpiio/{hints,start}; do
    "$OTHER_MPICC" -O1 -o "${program##*/}" "$program.c" || exit 1
done

# runs NAME COMMAND...: it writes and reads right. Its output is in $output.
runs() {
    rm -f "$stats"
    tap_check "$@"
    output=$tap_output
    tap_contains "$tap_output" " 0 of " "$1: the values are right"
}

# served NAME COMMAND...: the library does both
served() {
    runs "$@"
    tap_is "$(grep -c '"op"' "$stats" 2>/dev/null)" 2 "$1: the library carried out both calls"
}

# left NAME COMMAND...: without the library
left() {
    runs "$@"
    tap_check "$1: the library carried out no call" test ! -e "$stats"
}

with_pause() { LD_PRELOAD=$pause timeout --kill-after=5 "$HANG_LIMIT" "$@"; }

served "C" other 4 ./field
environment+=(TATP_STATS_LEVEL=files)
served "totals" other 4 ./field
tap_check "totals: openings and closings take time" \
    grep -qE '"opens": ([1-9][0-9]*), "open_seconds": [^,]*[1-9][^,]*, "closes": \1, "close_seconds": [^,]*[1-9]' "$stats"
environment=(TATP_STATS="$stats" TATP_RECORD="$tap_dir/view.crs")
served "with a record" other 4 ./field
tap_check "the record places ranks" "$TOOLS_DIR/dla" map -n 'n[0-1]:2' -f view.crs
environment=(TATP_STATS="$stats")
read -ra flags < <(pkg-config --define-variable=libdir="${library%/*}" --libs "$top_builddir/mpi/tatp-mpiio.pc")
if "${OTHER_MPICC/mpicc/mpifort}" -o field_f "$top_srcdir/doc/examples/field.f90" >fortran.log 2>&1; then
    served "Fortran" other 4 ./field_f
    "${OTHER_MPICC/mpicc/mpifort}" -o linked_f "$top_srcdir/doc/examples/field.f90" -Wl,--as-needed "${flags[@]}"
    preloaded='' served "Fortran, linked before the MPI" other 4 ./linked_f
else
    tap_skip "Fortran" "${OTHER_MPICC/mpicc/mpifort} does not build the example"
fi
"$OTHER_MPICC" -O1 -o linked "$top_srcdir/doc/examples/field.c" "${flags[@]}"
preloaded='' served "linked before the MPI" other 4 ./linked
"${CC:-cc}" -o kept "$top_srcdir/tests/mpiio/loader.c" -Wl,--as-needed "${flags[@]}" -ldl
tap_contains "$(readelf -d kept)" "[libtatp-mpiio.so]" "a linker does not drop the library"

# --- HDF5 ---

# shellcheck disable=SC2046 # options
if pkg-config --exists hdf5-mpich 2>/dev/null && [[ $OTHER_MPICC == *.mpich ]] &&
    "$OTHER_MPICC" -O1 -o hdf5 "$top_srcdir/tests/mpi/hdf5.c" $(pkg-config --cflags --libs hdf5-mpich); then
    tap_check "HDF5 writes" other 4 ./hdf5 write hdf5.dat
    tap_check "the library carried out calls of HDF5" grep -q '"calls": 1' "$stats"
    preloaded='' tap_check "HDF5 reads that by MPICH" other 4 ./hdf5 read hdf5.dat
    preloaded='' tap_check "HDF5 writes by MPICH" other 4 ./hdf5 write romio.dat
    tap_check "HDF5 reads that" other 4 ./hdf5 read romio.dat
else
    tap_skip "HDF5" "it is not there for this MPI (apt-get install libhdf5-mpich-dev)"
fi

rm -f "$stats"
tap_check "the benchmark" other 4 "$BENCH_DIR/contest_other" --size 8x8x8 --grid 1x2x2 --rounds 1 --contestants "tatp romio" --file "$tap_dir/bench"
tap_is "$(grep -c '"op"' "$stats")" 8 "the library carried out the calls of one contestant"

# --- calls that are not collective ---

"$OTHER_MPICC" -O1 -o noncollective "$top_srcdir/tests/mpi/noncollective.c" || exit 1
rm -f "$stats"
tap_check "calls that are not collective: a run" other 2 ./noncollective mixed wrijfWs
tap_is "$(sed 's/.*"noncollective_bytes": \([0-9]*\).*/\1/' "$stats" | grep -v op | tr '\n' ' ')$(grep -c 'CALLS THAT ARE NOT COLLECTIVE' <<<"$tap_output")" \
    "6291456 4194304 1" "they are counted, and told of"

# --- the user's cache ---

cp field other_field
# cached COMMAND...: how many records a run leaves.
cached() {
    environment=(TATP_RECORD=auto XDG_CACHE_HOME="$tap_dir/cache")
    rm -rf cache && mkdir cache
    other 4 "$@" >cached 2>&1 || cat cached
    find cache -name '*.crs' | wc -l
}
tap_is "$(cached ./field)" 1 "a program is recorded in the cache"
# shellcheck disable=SC2016 # for the script
tap_is "$(cached sh -c '[ "$PMI_RANK" -lt 2 ] && exec ./field; exec ./other_field')" 0 "a script that starts two is not"

# --- tatp run ---

tatp_run=("$TOOLS_DIR/tatp" run --library "$library")
served "tatp run" with_pause "${tatp_run[@]}" --stats stats "$OTHER_MPIEXEC" -n 4 ./field
echo text >text.so
mkdir "a b" a:b && cp "$library" "a b/x.so" && cp "$library" a:b/x.so && ln -s "a b/x.so" link.so
tap_refuses_each "tatp run: what is refused" "$TOOLS_DIR/tatp run" <<'END'
2|--set=domians=fitted touch started|domians domains?
2|--set==fitted touch started|fcoll_tatp
2|--set=priority=60 touch started|priority
2|--set=domains=fited touch started|domains=fited even,
1|--library=none.so touch started|none.so:
1|--library=text.so touch started|text.so:
1|--library="a b" touch started|b:
1|--library="a b/x.so" touch started|b/x.so: LD_PRELOAD --library
1|--library=a:b/x.so touch started|a:b/x.so: LD_PRELOAD --library
END
tap_check "tatp run with mistakes does not start the launcher" test ! -e started
served "tatp run, a link" with_pause "$TOOLS_DIR/tatp" run --library "$tap_dir/link.so" --stats stats "$OTHER_MPIEXEC" -n 4 ./field
tap_is "$(LD_PRELOAD=$pause "${tatp_run[@]}" printenv LD_PRELOAD)" "$pause:$library" "tatp run: behind what is preloaded"
tap_is "$(LD_PRELOAD='' "${tatp_run[@]}" printenv LD_PRELOAD)" "$library" "tatp run: alone"

# --- tatp doctor ---

# doctor LIBRARY [ARGUMENT...]: as tatp runs it where it was built for this MPI. Sets said and status.
doctor() {
    said=$(with_pause "$PYTHON3" -B "$TATP_DOCTOR_DIR/__main__.py" "$programs" "" "$OTHER_MPIEXEC" "$@" 2>&1)
    status=$?
}

# finds NAME PROBLEM: the doctor does
finds() {
    tap_is "$status: $(grep -c "^problem .*$2" <<<"$said")" "1: 1" "tatp doctor, $1: one line says so"
    grep -q "^problem .*$2" <<<"$said" || tap_diag "$said"
}

if [[ -n $PYTHON3 ]]; then
    doctor "$library"
    tap_is "$status: $(tail -n 1 <<<"$said")" "0: ready: tatp run ${OTHER_MPIEXEC##*/} -n N ./program" "tatp doctor"
    tap_contains "$said" "library     usable: $library" "tatp doctor: the library that is used"
    doctor "$library" --json .
    tap_contains "$said" '"problems": []' "tatp doctor --json"
    tap_described tatp.1 doctor "$said"
    doctor "$tap_dir/none.so"
    finds "no library" "$tap_dir/none.so"
    doctor "$library" -- -nonsense
    finds "an option of the launcher" "${OTHER_MPIEXEC##*/}"
    if [[ -n $OMPI_VERSION ]]; then
        doctor "$top_builddir/preload/openmpi/libtatp-mpiio.so"
        finds "a library for Open MPI" "another MPI .*libtatp-mpiio.so"
        mkdir openmpi && printf '#!/bin/sh\nexec "%s" --oversubscribe "$@"\n' "$MPIRUN" >"openmpi/${OTHER_MPIEXEC##*/}" && chmod +x openmpi/*
        PATH=$tap_dir/openmpi:$PATH doctor "$library"
        finds "the launcher of Open MPI" "alone"
    fi
else
    tap_skip "tatp doctor" "there is no Python 3"
fi

# --- parameters and hints ---

environment+=(TATP_RECROD=view.crs TATP_UNIT_SIZE=1 TATP_DOMAINS=evne)
# With no other file beside the library.
mkdir alone
cp "$library" alone
preloaded=$tap_dir/alone/libtatp-mpiio.so served "with mistakes" other 4 ./field
tap_is "$(grep -o 'TATP_[A-Z_]*' <<<"$output" | sort | xargs)" "TATP_DOMAINS TATP_RECORD TATP_RECROD TATP_UNIT_SIZE" \
    "wrong names and a wrong value are reported once, with the name that is near"
tap_check "the wrong value, and what the run continues with" test "$(grep -cx '  evne\|.* auto[.]' <<<"$output")" = 2
environment=(TATP_STATS="$stats")
"$OTHER_MPICC" -O1 -shared -fPIC -o stripes.so "$top_srcdir/tests/mpiio/stripes.c" -ldl || exit 1
printf '# of a site\ncb_nodes 4\n striping_factor 7\n' >hints.site
printf '# striping_factor 7\n' >hints.none
for kind in "TATP_STRIPES=auto:2 1048576" "TATP_STRIPES=keep:none none" "TATP_STRIPES=kept:none none" "LAYOUT=1:none none" \
    "ROMIO_HINTS=hints.site:none none" "ROMIO_HINTS=hints.none:2 1048576" "MPICH_MPIIO_HINTS=*=striping_factor=7:none none"; do
    rm -f field.dat
    environment=(TATP_STATS="$stats" "${kind%:*}")
    preloaded=$library:$tap_dir/stripes.so served "${kind%:*}" other 4 ./field
    tap_is "$(sed -n 's/^striping_.*: //p' <<<"$output" | xargs)" "${kind##*:}" "${kind%:*}: the hints of a new file"
    [[ $kind != *=kept* ]] || tap_check "a wrong value of TATP_STRIPES is reported" grep -q 'TATP_STRIPES .*"kept"' <<<"$output"
done
environment=(TATP_STATS="$stats")
preloaded=$library:$tap_dir/stripes.so served "the stripes of a file that exists" other 4 ./field
tap_contains "$output" "striping_factor: none" "the stripes of a file that exists: no hint"
environment=(TATP_STATS="$stats")
tap_check "hints" other 4 ./hints "$tap_dir/hints.dat"
tap_contains "$tap_output" "cb_nodes 2, error as demanded" "MPI_File_get_info, and the file's error handler"
tap_is "$(grep 'The hint' <<<"$tap_output")" "The hint cb_buffer_size has the value" "a wrong hint is reported, and no other"

# --- opens ---

"$OTHER_MPICC" -O1 -o opens "$top_srcdir/tests/mpiio/opens.c" || exit 1
environment=(TATP_VERBOSE=1)
RUN_LIMIT=300 tap_check "64 ranks open a file" other 64 ./opens opens.dat
tap_is "$tap_output" "68 descriptors, 0 values are wrong" "64 ranks open a file: four of them again"
for what in unlinked limited replaced; do
    tap_check "a file is $what" other 6 ./opens opens.dat $what
    tap_contains "$tap_output" "7 descriptors, 0 values are wrong" "a file is $what: rank 0 has it open"
    tap_contains "$tap_output" "opens.dat: rank 1 " "a file is $what: the MPI carries out the accesses"
done
tap_is "$(cat opens.dat)" "another" "a file that replaces an open one is not written"
tap_check "a file is the last of many" other 4 ./opens opens.dat last
tap_contains "$tap_output" "Too many open files" "a file is the last of many: it is not opened again"
tap_contains "$tap_output" "4 descriptors, 0 values are wrong" "a file is the last of many: all are right"
tap_check "communicators are scarce" other 4 ./opens opens.dat scarce
tap_is "$tap_output" "8 descriptors, 0 values are wrong" "communicators are scarce: files of one share another"
tap_check "communicators are gone" other 4 ./opens opens.dat gone
tap_contains "$tap_output" "opens.dat is " "communicators are gone: the MPI has the file"
tap_contains "$tap_output" "4 descriptors, 0 values are wrong" "communicators are gone: all are right"
environment=(TATP_STATS="$stats")

# --- profiling libraries ---

for next in '' -DNEXT; do
    # shellcheck disable=SC2086 # none or one
    "$OTHER_MPICC" $next -shared -fPIC -o "profiler$next.so" "$top_srcdir/tests/mpiio/profiler.c" || exit 1
    preloaded=$tap_dir/profiler$next.so:$library served "below a profiling library$next" other 4 ./field
    tap_contains "$output" "seen: open 1" "below a profiling library$next: it sees the file"
    preloaded=$library:$tap_dir/profiler$next.so served "above a profiling library$next" other 4 ./field
    tap_contains "$output" "seen: open 1" "above a profiling library$next: it sees the file"
    pause=$pause:$tap_dir/profiler$next.so served "tatp run, a profiling library$next" with_pause "${tatp_run[@]}" --stats stats "$OTHER_MPIEXEC" -n 4 ./field
    tap_contains "$output" "seen: open 1, write 0, read 0, iwrite 0, write_all 1" "tatp run, a profiling library$next: it sees the calls"
done

# Processes do not wait for each other with a time limit.
"$OTHER_MPICC" -DLATE=11 -shared -fPIC -o late.so "$top_srcdir/tests/mpiio/profiler.c" || exit 1
preloaded=$library:$tap_dir/late.so served "a rank is late in MPI_Init" other 4 ./field
for poor in '\n' '\0'; do
    "$OTHER_MPICC" "-DPOOR='$poor'" -shared -fPIC -o "poor$poor.so" "$top_srcdir/tests/mpiio/profiler.c" || exit 1
done
preloaded=$library:$tap_dir/poor'\n'.so served "without memory for lines" other 4 ./field
tap_is "$(preloaded=$library:$tap_dir/poor'\0'.so cached ./field with_arguments)" 0 "without memory for its arguments a program is not recorded"

# --- the MPI of the program ---

tap_is "$(readelf -d "$library" | grep -c 'NEEDED.*mpi')" 0 "the library is linked with no MPI"
tap_is "$(readelf --dyn-syms --wide "$library" | grep -c 'UND P\?MPI_')" 0 "no function of the MPI has to be there"
"${CC:-cc}" -o loader "$top_srcdir/tests/mpiio/loader.c" -ldl || exit 1
"$OTHER_MPICC" -O1 -shared -fPIC -o field.so "$top_srcdir/doc/examples/field.c" || exit 1
# What it preloads does not find the MPI.
pause='' served "an MPI that a module loads" other 4 ./loader ./field.so
# By other names, the library does not find the functions of MPI 4.
mkdir old && LC_ALL=C sed 's/\(PMPI_Type_get_[a-z]*\)_c/\1_q/g' "$library" >old/libtatp-mpiio.so
preloaded=$tap_dir/old/libtatp-mpiio.so served "an MPI without large counts" other 4 ./field
cp "$(ldd ./field | awk '$1 ~ /^libmpi/ { print $3; exit }')" libmpi_abi.so.0
preloaded=$library:$tap_dir/libmpi_abi.so.0 left "the standard ABI" other 4 ./field
tap_is "$(grep -c 'another MPI' <<<"$output")" 1 "the standard ABI: one line says so"

# --- what is left alone ---

tap_check "a program without MPI" env LD_PRELOAD="$library" true
left "one rank" other 1 ./field
preloaded='' left "some ranks have the library" other 2 env LD_PRELOAD="$library" ./field : -n 2 ./field
tap_is "$(grep -c 'not all processes' <<<"$output")" 1 "some ranks have the library: one line says so"
preloaded='' left "some ranks have it, in a script" other 3 ./start : -n 1 sh -c "LD_PRELOAD='$library' ./start; exit"
tap_is "$(grep -c 'not all processes' <<<"$output")" 1 "some ranks have it, in a script: one line says so"
preloaded='' runs "all ranks have it, in scripts" other 2 sh -c "LD_PRELOAD='$library' ./start; exit"
tap_is "$(grep -c 'not all processes' <<<"$output")" 0 "all ranks have it, in scripts: no line"
if [[ -n $OMPI_VERSION ]]; then
    "$MPICC" -O1 -o field_openmpi "$top_srcdir/doc/examples/field.c" || exit 1
    preloaded=$library left "a program for another MPI" openmpi 4 ./field_openmpi
    tap_is "$(grep -c 'another MPI' <<<"$output")" 1 "a program for another MPI: one line says so"
    "$MPICC" -O1 -shared -fPIC -o field_openmpi.so "$top_srcdir/doc/examples/field.c" || exit 1
    preloaded=$library left "a module for another MPI" openmpi 4 ./loader ./field_openmpi.so
    tap_is "$(grep -c 'another MPI' <<<"$output")" 1 "a module for another MPI: one line says so"
    unset preloaded
    served "Open MPI, C" openmpi 4 ./field_openmpi
    left "Open MPI, loaded by a module" openmpi 4 ./loader ./field_openmpi.so
    tap_is "$(grep -c 'Open MPI .*start' <<<"$output")" 1 "Open MPI, loaded by a module: one line says so"
    cp "$top_builddir/preload/openmpi/libtatp-mpiio.so" alone
    environment+=(TATP_DOMAINS=evne)
    preloaded=$tap_dir/alone/libtatp-mpiio.so served "Open MPI, with a mistake" openmpi 4 ./field_openmpi
    tap_contains "$output" TATP_DOMAINS "Open MPI: a wrong value is reported"
    environment=(TATP_STATS="$stats")
    "$MPICC" -O1 -o start_openmpi "$top_srcdir/tests/mpiio/start.c" || exit 1
    # shellcheck disable=SC2016 # arguments of the script
    printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s" "$@"\n' "$tap_dir/start_openmpi" >child && chmod +x child
    environment+=(TATP_REORDER=1)
    left "Open MPI, a job that starts another one without the library" openmpi 2 ./start_openmpi "$tap_dir/both" "$tap_dir/child"
    environment=(TATP_STATS="$stats")
    if mpifort.openmpi -o field_f "$top_srcdir/doc/examples/field.f90" >fortran.log 2>&1; then
        served "Open MPI, Fortran" openmpi 4 ./field_f
    fi
fi
tap_plan
