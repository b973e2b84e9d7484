# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What the tests of placement share. Source it from bash, after tests/env.sh:
#     . "$top_srcdir/tests/dla/lib.sh"

. "$top_srcdir/tests/lib/tap.sh" || exit 1

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
MPIRUN=${MPIRUN:-mpirun}
tap_tempdir
cd "$tap_dir" || exit 1

# write_view RANKS [I,J,VALUE...] prints the symmetric view matrix of these pairs, or of those on standard input.
write_view() {
    local ranks=$1
    shift
    if (($# > 0)); then printf '%s\n' "$@"; else cat; fi | awk -F, -v n="$ranks" '
        { v[$1, $2] += $3; if ($1 != $2) v[$2, $1] += $3 }
        END {
            pointer = 1
            pointers = pointer
            for (i = 0; i < n; i++) {
                for (j = 0; j < n; j++)
                    if ((i, j) in v) { columns = columns j " "; values = values v[i, j] " "; pointer++ }
                pointers = pointers " " pointer
            }
            print "FILEVIEW"; print pointer - 1, n + 1; print columns; print values; print pointers
        }'
}

# A command that runs another one with a host name of its own; empty where that is not permitted.
if unshare --uts true 2>/dev/null; then
    isolate="unshare --uts"
elif unshare --user --map-root-user --uts true 2>/dev/null; then
    isolate="unshare --user --map-root-user --uts"
else
    # shellcheck disable=SC2034 # used by those who source this
    isolate=
fi

# Which launcher the mapper is for: launcher is orte, prrte or empty (not built).
component_folder=${TATP_COMPONENT_PATH%%:*}
launcher=
if [[ -e $component_folder/mca_rmaps_dla.so ]]; then
    # shellcheck disable=SC2034 # used by those who source this
    launcher=orte
    export OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH
elif [[ -e $component_folder/prrte/prte_mca_rmaps_dla.so ]]; then
    # shellcheck disable=SC2034
    launcher=prrte
    # Jobs that a program spawns are bound unless a parameter says otherwise, and this machine may be small.
    case $OMPI_VERSION in
        5.*) export PRTE_MCA_hwloc_default_binding_policy=none ;;
        *) export PRTE_MCA_bindto=none ;;
    esac
else
    tap_absent rmaps/dla
fi

# parse_map: from --display-map to "NODE:RANK,RANK NODE:RANK,RANK", nodes in order.
parse_map() {
    awk '/Data for node:/ { line = line (line == "" ? "" : " ") $4 ":"; comma = "" }
         / Process rank: / { sub(/.* Process rank: /, ""); line = line comma $1; comma = "," }
         END { print line }'
}

# sets MAP: the map without node names, in an order of its own: which ranks are together.
sets() {
    tr ' ' '\n' <<<"$1" | sed 's/.*://' | sort -t, -n | tr '\n' ' ' | sed 's/ $//'
}
