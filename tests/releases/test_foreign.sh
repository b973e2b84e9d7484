#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# fcoll/tatp as it was built for other releases of Open MPI, in $FOREIGN/RELEASE: it is not used here, and says so.
# What was built with a later C library cannot be opened at all; Open MPI says that.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

FOREIGN=${FOREIGN:-$top_builddir/foreign}
own=${OMPI_VERSION%%[a-z]*}

for folder in "$FOREIGN"/*; do
    release=$(basename "$folder" | sed 's/[a-z].*//')
    [[ $release != "$own" ]] || continue
    named="fcoll:tatp: built for Open MPI $release, but this is Open MPI v$OMPI_VERSION: not used"
    write_by "$folder"
    if [[ $said == *GLIBC_* ]]; then
        tap_skip "built for $release" "it needs a later C library"
        continue
    fi
    tap_is "$status" 0 "built for $release: another component writes the file"
    tap_is "$(grep -cF "$named" <<<"$said")" 1 "built for $release: one line names both releases"
    write_by "$folder" --mca fcoll tatp
    tap_check "built for $release, and demanded: Open MPI's own error" is_error "$status"
    tap_contains "$said" "$named" "built for $release, and demanded: both releases are named"
    said=$(OMPI_MCA_mca_base_component_path=$folder:$OMPI_PKGLIBDIR "$OMPI_INFO" --param fcoll tatp --level 9 2>&1)
    tap_is "$?$(grep -c fcoll_tatp_priority <<<"$said")" 00 "built for $release: ompi_info does without it"
done
tap_plan
