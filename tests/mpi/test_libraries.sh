#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HDF5 and PnetCDF over fcoll/tatp, and files that cross between it and individual access.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
# PnetCDF from 1.15 on accesses the file without MPI-IO unless a hint demands it.
export PNETCDF_HINTS=nc_driver=mpiio

# in_use RANKS LIBRARY TEXT: PnetCDF from 1.14 on makes no collective calls where there is one rank.
in_use() { [[ $2 == pnetcdf && $1 == 1 ]] || tap_check "$2, $1 ranks: $3" grep -q '"calls": [1-9]' "$stats"; }

# access RANKS FCOLL LIBRARY write|read
access() {
    rm -f "$stats"
    run_here "$1" --mca fcoll "$2" --mca fcoll_tatp_stats "$stats" "$programs/$3" "$4" "$files/$3"
}

# library NAME PACKAGE
library() {
    local ranks numbers=(1 4)
    ! tap_full || numbers=(1 2 4 7)
    if [[ ! -x $programs/$1 ]]; then
        tap_absent "$1"
        tap_skip "$1" "built without it: apt-get install $2"
        return
    fi
    for ranks in "${numbers[@]}"; do
        tap_check "$1, $ranks ranks: write" access "$ranks" tatp "$1" write
        in_use "$ranks" "$1" "tatp was in use"
        tap_check "$1, $ranks ranks: read what tatp wrote, individually" access "$ranks" individual "$1" read
        tap_check "$1, $ranks ranks: read what tatp wrote" access "$ranks" tatp "$1" read
        in_use "$ranks" "$1" "tatp was in use for it"
        tap_check "$1, $ranks ranks: write individually" access "$ranks" individual "$1" write
        tap_check "$1, $ranks ranks: read that" access "$ranks" tatp "$1" read
    done
}

library hdf5 libhdf5-openmpi-dev
if [[ -x $programs/hdf5 ]]; then
    tap_check "hdf5: independent writes" access 4 tatp hdf5 independent
    # Of contiguous and chunked blocks of 13,824 bytes of four ranks, and of two; headers besides. HDF5 fills chunks collectively.
    noncollective=$(sed -n 's/.*"op": "write".*"noncollective_bytes": \([0-9]*\).*/\1/p' "$stats")
    tap_check "hdf5: they are counted" test "$noncollective" -ge $((10 * 13824)) -a "$noncollective" -lt $((15 * 13824))
    tap_check "hdf5: what it fills is collective" grep -q '"calls": 1' "$stats"
    tap_check "hdf5: read that" access 4 tatp hdf5 read
fi
library pnetcdf libpnetcdf-dev
tap_plan
