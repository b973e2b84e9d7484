#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# doc/hdf5.md: its commands, as a user who has installed this follows them, and its snippets, each from a program of the examples
# that is built and run here. The statistics say whether the writes were collective.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_python
page=$top_srcdir/doc/hdf5.md
examples=$top_srcdir/doc/examples
# Those of the page go to the same Open MPI and Python.
mkdir "$tap_dir/bin" "$tap_dir/run" && cd "$tap_dir/run" || exit 1
ln -s "$PYTHON3" "$tap_dir/bin/python3"
ln -s "$MPIRUN" "$tap_dir/bin/mpirun"
ln -s "$TOOLS_DIR/tatp" "$tap_dir/bin/tatp"
PATH=$tap_dir/bin:$PATH
mkdir -p "$tap_dir/home/.local/share/tatp-dla"
ln -s "$examples" "$tap_dir/home/.local/share/tatp-dla/examples"
export HOME=$tap_dir/home OMPI_MCA_btl_tcp_if_include=lo PYTHONDONTWRITEBYTECODE=1

# snippets: the code of the page, a line each, without comments and the space at both ends.
snippets() {
    sed -n '/^## What to change/,/^## Asked for/s/^    //p' "$page" | sed -E 's, *(# .*|/\*.*)$,,; s/;$//; s/^ +//'
}

# example NAME COMPILER OPTION..., or example NAME MODULES: a program of the examples, compiled, or run by a Python that can import
# the modules. Its ranks write 4096 x 1024 values of 8 bytes, without and with a collective call.
example() {
    local reason program=("$PYTHON3" "$examples/$1") how=(--mca io ompio --mca fcoll tatp --mca fcoll_tatp_stats "$stats")
    if [[ $1 != *.py ]]; then
        program=("./${1/./_}")
        if ! reason=$("$2" -o "${program[0]}" "$examples/$1" "${@:3}" 2>&1); then
            tap_skip "$1" "$(head -n 1 <<<"$reason")"
            return
        fi
    elif ! reason=$(run_here 1 "$PYTHON3" -c "$2" 2>&1); then
        tap_skip "$1" "$(grep Error <<<"$reason")"
        return
    fi
    rm -f "$stats"
    tap_check "$1: independent" run_here 4 "${how[@]}" "${program[@]}"
    tap_is "$(collective_writes)" 0 "$1: no collective write"
    # PnetCDF opens the file again on each rank alone.
    tap_check "$1: the bytes of independent calls are counted" test 33554432 -le \
        $(($(sed -n 's/.*"noncollective_bytes": \([0-9]*\),.*/\1/p' "$stats" | paste -sd+)))
    rm -f "$stats"
    tap_check "$1: collective" run_here 4 "${how[@]}" "${program[@]}" collective
    tap_is "$(collective_writes)" 1 "$1: one collective write"
}

# collective_writes: how many the statistics list of the whole array
collective_writes() { touch "$stats" && grep -c '"op": "write".*"bytes": 33554432' "$stats"; }

# follow: the commands of the first section of the page, each where the one before has left off.
follow() {
    local command
    while IFS= read -r command <&3; do
        tap_check "as printed: $command" eval "$command"
    done 3< <(sed -n '/^## Try it/,/^## What/p' "$page" | sed -e :join -e '/\\$/{N;s/\\\n *//;b join' -e '}' | sed -n 's/^    \$ //p')
}

tap_check "the page has snippets" test "$(snippets | grep -c .)" -ge 10
while IFS= read -r line; do
    [[ -z $line ]] || tap_check "from an example: $line" grep -qF -- "$line" "$examples"/columns_*
done < <(snippets)

# PnetCDF from 1.15 on accesses the file without MPI-IO unless a hint demands it.
export PNETCDF_HINTS=nc_driver=mpiio
mpi4py="import mpi4py.MPI
if 'Open MPI' not in mpi4py.MPI.Get_library_version(): raise ImportError('mpi4py has another MPI')"
h5py="$mpi4py
import h5py
if not h5py.get_config().mpi: raise ImportError('h5py has no MPI')"
example columns_h5py.py "$h5py"
example columns_mpi4py.py "$mpi4py"
example columns_hdf5.c "$(command -v h5pcc.openmpi || echo h5pcc)"
example columns_hdf5.f90 "$(command -v h5pfc.openmpi || echo h5pfc)"
example columns_netcdf.c "$MPICC" -I/usr/lib/x86_64-linux-gnu/netcdf/mpi/include -lnetcdf_mpi
example columns_pnetcdf.c "$MPICC" -lpnetcdf
if run_here 1 "$PYTHON3" -c "$h5py" 2>/dev/null; then
    rm -f "$stats"
    tap_check "two of four ranks select nothing" run_here 4 --mca io ompio --mca fcoll tatp --mca fcoll_tatp_stats "$stats" \
        "$PYTHON3" "$examples/columns_h5py.py" collective 2
    tap_is "$(collective_writes)" 1 "two of four ranks select nothing: one collective write"
    follow
    tap_contains "$tap_output" "columns_h5py.py: 1 write of 33.6 MB" "the report names the script and its write"
fi
tap_plan
