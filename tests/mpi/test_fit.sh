#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A component that was built with headers of another release, or another configuration, of the series: it is not used,
# and says so; the next component writes the file.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
need_skew
known="fcoll:tatp: built for Open MPI"

# refused NAME HEADER EXPRESSION DIFFERENCE
refused() {
    tap_check "$1: built" skew "$2" "$3"
    write_by "$tap_dir/components"
    tap_is "$status $(grep -c "$known .*$4: not used; build it for this one" <<<"$said")" "0 1" \
        "$1: one line says so, and another component writes the file"
    write_by "$tap_dir/components" --mca fcoll tatp
    tap_check "$1, and demanded: Open MPI's own error" is_error "$status"
    tap_contains "$said" "$known" "$1, and demanded: the reason"
}

case $OMPI_VERSION in
4.1.[0-2]*) other=4 ;;
5.0.[0-6]) other=7 ;;
*) other=2 ;;
esac
struct='/^struct ompio_file_t {/,/^}/ s/^.*f_filename;/&\n    void *skew;/'
# Of 6.0 one group is known.
[[ $OMPI_VERSION == 6.0* ]] ||
    refused "another group of releases" openmpi/opal_config.h "s/^\(#define OMPI_RELEASE_VERSION\) .*/\1 $other/" "but this is Open MPI v$OMPI_VERSION"
refused "another communicator" openmpi/ompi/communicator/communicator.h 's/^struct ompi_communicator_t {/&\n    void *skew;/' \
    "with another ompi_communicator_t"
refused "another convertor, as with CUDA" openmpi/opal/datatype/opal_convertor.h \
    's/^struct opal_convertor_t {/&\n    void *skew[2];/' "with another opal_convertor_t"
refused "another file handle" openmpi/ompi/mca/common/ompio/common_ompio.h "$struct" "with another ompio_file_t"
tap_plan
