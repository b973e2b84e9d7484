# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What the tests of placement share. Source it from bash, after tests/env.sh:
#     . "$top_srcdir/tests/lib/dla.sh"

. "$top_srcdir/tests/lib/tap.sh" || exit 1

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
# shellcheck disable=SC2034 # used by those who source this
dla=$TOOLS_DIR/dla
launch_by=("$MPIRUN")
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

# need_mapper: a test of what it does with a launcher.
need_mapper() { [[ -n $launcher ]] || tap_skip_all "the component rmaps/dla is not built"; }

# on_orte REASON COMMAND... NAME: what PRRTE does otherwise is skipped there.
on_orte() { if [[ $launcher == orte ]]; then "${@:2}"; else tap_skip "${!#}" "$1"; fi; }

# launch ARGUMENT...: by mpirun, or "${launch_by[@]}". PRRTE ends a message with a NUL character.
launch() {
    local status=0
    timeout --kill-after=5 "$HANG_LIMIT" "${launch_by[@]}" "$@" >launched.out 2>launched.err || status=$?
    tr -d '\0' <launched.out
    tr -d '\0' <launched.err >&2
    return "$status"
}

# What a rank runs, for "RANK HOST CPUS". mpirun and prterun of Open MPI 5.0.7 may hang at programs that end at once.
# shellcheck disable=SC2016,SC2034 # for the shell of each rank
where_am_i='echo "${PMIX_RANK:-$OMPI_COMM_WORLD_RANK} $(hostname) $(sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status)"'

# make_agent: the program agent, by which mpirun starts its daemons on this machine, with a host name each. They lack the
# component and mpirun's environment; each command line is kept in the file daemons.
make_agent() {
    cat >agent <<AGENT
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
echo "\$*" >>"$tap_dir/daemons"
exec env -i PATH="$PATH" HOME=/nonexistent OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \\
    $isolate sh -c "hostname \$host; \$*"
AGENT
    chmod +x agent
}

# parse_map: from --display-map to "NODE:RANK,RANK NODE:RANK,RANK", nodes in order.
parse_map() {
    awk '/Data for node:/ { line = line (line == "" ? "" : " ") $4 ":"; comma = "" }
         sub(/.* Process rank: /, "") || sub(/.* Data for proc: .*,/, "") { line = line comma $1 + 0; comma = "," }
         END { print line }'
}

# sets MAP: the map without node names, in an order of its own: which ranks are together.
sets() {
    tr ' ' '\n' <<<"$1" | sed 's/.*://' | sort -t, -n | tr '\n' ' ' | sed 's/ $//'
}

# maps SETS NAME ARGUMENT...: which ranks are together by `dry ARGUMENT...`, the map of a job that is not started. Each test
# has a dry of its own.
maps() { tap_is "$(sets "$(dry "${@:3}")")" "$1" "$2"; }

# by_node: the map with a line "NODE:RANK,RANK" for each node
by_node() {
    tr ' ' '\n' <<<"$1"
}

# unnamed 'NAME...' TEXT: which of the words the text lacks
unnamed() {
    local name
    for name in $1; do [[ $2 == *"$name"* ]] || echo "does not name $name: $2"; done
}
