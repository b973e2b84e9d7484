# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# A component that was built with other headers than those of the Open MPI that runs. Source it after lib.sh.

skew_include=$("$MPICC" --showme:incdirs | tr ' ' '\n' | while read -r folder; do
    [[ ! -e $folder/openmpi/ompi_config.h && ! -e $folder/openmpi/ompi ]] || echo "$folder"
done | head -n 1)
[[ -n $skew_include ]] || tap_skip_all "Open MPI's headers are not in one folder"

# skew HEADER EXPRESSION: a copy of the headers in which sed has changed one, and in $tap_dir/components what was built
# with it.
skew() {
    rm -rf "$tap_dir/skew" && mkdir -p "$tap_dir/skew/${1%/*}" "$tap_dir/components" &&
        cp "$skew_include/${1%/*}"/*.h "$tap_dir/skew/${1%/*}" &&
        sed "$2" "$skew_include/$1" >"$tap_dir/skew/$1" && ! cmp -s "$skew_include/$1" "$tap_dir/skew/$1" &&
        rm -f "$top_builddir"/ompi/mca/fcoll/tatp/*tests_mpi_mca_fcoll_tatp_la* &&
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$top_builddir" tests/mpi/mca_fcoll_tatp.la "SKEW=$tap_dir/skew" &&
        cp "$top_builddir/tests/mpi/.libs/mca_fcoll_tatp.so" "$tap_dir/components"
}
