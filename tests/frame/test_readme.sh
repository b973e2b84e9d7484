#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# README.md, followed word for word by a user without root: "Install" in a fresh copy of the sources, and "Use" with a
# program of the examples. Packages are taken as given.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

[[ -e $top_srcdir/.git ]] || tap_skip_all "this is no git checkout"
need_component fcoll tatp
need_component rmaps dla

export HOME=$tap_dir/home
PATH=$HOME/.local/bin:$(dirname "$(command -v "$MPICC")"):$PATH
unset XDG_CACHE_HOME "${!OMPI_MCA_@}" "${!PMIX_MCA_@}" "${!PRTE_MCA_@}" TATP_COMPONENT_PATH MAKEFLAGS MFLAGS MAKELEVEL
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_tcp_if_include=lo # as this machine has not 16 processors

# commands SECTION: its indented lines, but for what needs a network
commands() { sed -n "/^## $1\$/,/^## /s/^    //p" "$top_srcdir/README.md" | grep -v '^sudo apt-get '; }

# follow SECTION: runs each command where the one before has left off
follow() {
    local command
    while IFS= read -r command <&3; do
        eval "$command" >"$tap_dir/said" 2>&1 </dev/null
        tap_is "$?" 0 "$1: $command"
        tail -n 5 "$tap_dir/said" >"$tap_dir/last"
    done 3< <(commands "$1")
}

mkdir -p "$HOME/tatp-dla" && cd "$HOME/tatp-dla" || exit 1
(cd "$top_srcdir" && git ls-files -z | xargs -0 ls -d 2>/dev/null) | tar -C "$top_srcdir" --create --files-from=- | tar --extract
tap_check "README.md has commands" test "$(commands Use | wc -l)" -ge 4
follow Install
tap_contains "$(cat "$tap_dir/last")" "mpirun --mca fcoll tatp" "the doctor ends with the command to use"

mkdir "$HOME/work" && cd "$HOME/work" || exit 1
tap_check "a program" "$MPICC" -O2 -o program "$top_srcdir/doc/examples/field.c" -lm
follow Use
for file in run.json run.html; do tap_check "$file is there" test -s $file; done
tap_check "a record is in the cache" test -s "$HOME"/.cache/openmpi-tatp/*.crs
tap_plan
