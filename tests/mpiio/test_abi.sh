#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libtatp-mpiio-abi.so under programs of the standard ABI, where the MPI has it.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

programs=$top_builddir/tests/mpiio/abi
library=$top_builddir/.libs/libtatp-mpiio-abi.so
[[ -e $library ]] || tap_skip_all "there is no MPI with mpi_abi.h, as MPICH 5"
tap_is "$(readelf -d "$library" | grep -c 'NEEDED.*mpi')" 0 "the library is linked with no MPI"

# The system's may be another MPI of the ABI.
mpi_file=$(ldd "$top_builddir/tests/mpiio/views" | awk '$1 ~ /^libmpi/ { print $3; exit }')
abi=$(grep -l "MPICH Version" "${mpi_file%/*}"/libmpi_abi*.so* | head -n 1)
ln -s "$abi" "$tap_dir/libmpi_abi.so.1"
read -ra include < <("$OTHER_MPICC" -show | grep -o -e ' -I[^ ]*' | tr -d '\n')
"${CC:-cc}" -O1 -I"$top_srcdir/mpi/abi" "${include[@]}" -o "$tap_dir/field" "$top_srcdir/doc/examples/field.c" "$abi" || exit 1
environment=(LD_LIBRARY_PATH="$tap_dir" TATP_STATS="$tap_dir/stats")
cd "$tap_dir" || exit 1
tap_check "4 ranks" other 4 ./field
tap_contains "$tap_output" " 0 of " "the values are right"
tap_is "$(grep -c '"op"' stats)" 2 "the library carried out both calls"
FORMS=3 random_views 250 0 "4 ranks, random views" other 4
# The library of the ABI may be linked with Open MPI.
mkdir above
echo 'int ompi_mpi_comm_world;' | "${CC:-cc}" -shared -fPIC -x c -o below.so - || exit 1
"${CC:-cc}" -shared -fPIC -x c -o above/libmpi_abi.so - -x none -Wl,--no-as-needed "$tap_dir/below.so" -ldl <<'END' || exit 1
#define _GNU_SOURCE
#include <dlfcn.h>
int PMPI_Init(int *argc, char ***argv)
{
    return ((int (*)(int *, char ***))dlsym(RTLD_NEXT, "PMPI_Init"))(argc, argv);
}
END
rm -f stats
preloaded=$library:$tap_dir/above/libmpi_abi.so tap_check "an ABI above Open MPI" other 4 ./field
tap_is "$(grep -c '"op"' stats)" 2 "an ABI above Open MPI: the library carried out both calls"
preloaded=$top_builddir/preload/other/libtatp-mpiio.so tap_check "the MPI's own ABI" other 4 ./field
tap_is "$(grep -c 'another MPI' <<<"$tap_output")" 1 "the library of the MPI's own ABI is not used, and says so"
tap_plan
