#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# autogen.pl --graft: what it puts into a tree that has of Open MPI's only what it looks for. `make check-tree` builds
# Open MPI with it.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir
tree=$tap_dir/tree

graft() { "$top_srcdir/autogen.pl" --graft "$@" 2>&1; }

# make_tree MAJOR MINOR: without components
make_tree() {
    rm -rf "$tree"
    mkdir -p "$tree/ompi/mca/fcoll" "$tree/orte/mca/rmaps" "$tree/3rd-party/prrte/src/mca/rmaps"
    printf '# a comment\nmajor=%s\nminor=%s\nrelease=4\n' "$1" "$2" >"$tree/VERSION"
    touch "$tree/autogen.pl" "$tree/ompi/mca/fcoll/fcoll.h" "$tree/3rd-party/prrte/src/mca/rmaps/rmaps.h"
}

# value NAME: of a variable of the Makefile
value() {
    # shellcheck disable=SC2016 # for make
    printf 'include Makefile\nprint-value:\n\t@echo $(%s)\n' "$1" |
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" --silent -C "$top_builddir" -f - print-value
}

# objects_of TARGET: object files of the component, and of the libraries that it is linked with
objects_of() {
    local folder library
    for library in "$1" $(value "${1}_la_LIBADD" | grep -o 'lib[a-z_]*\.la' | sed 's/\.la$//'); do
        find "$top_builddir"/{src,ompi,orte,prte} -path "*/.libs/${library}_la-*.o"
    done
}

# dependencies FOLDER: the headers that its files include, which the preprocessor must find
dependencies() (
    local cppflags names="OMPI_CPPFLAGS COMPAT_CPPFLAGS"
    [[ $1 != */prrte/* ]] || names=PRRTE_CPPFLAGS
    read -r -a cppflags <<<"$(for name in $names HWLOC_CFLAGS; do value "$name"; done | xargs -d '\n')"
    mapfile -t -O ${#cppflags[@]} cppflags < <(sed -n "s/.*-D'\(RMAPS_DLA_LAUNCHER=[^']*\)'.*/-D\1/p" "$1/Makefile.am")
    cd "$top_builddir" && find "$1" -name '*.c' -exec "${CC:-cc}" -M -std=gnu11 -include "$1/symbols.h" \
        -I"$1/src" -I"$1/include" -I"$1" -I"$tree" "${cppflags[@]}" '{}' +
)

# check_component FOLDER TARGET OWN-NAMES
check_component() {
    local folder=$tree/$1 objects
    mapfile -t objects < <(objects_of "$2")
    for name in Makefile.am configure.m4 owner.txt; do tap_check "$2: $name" test -s "$folder/$name"; done
    tap_is "$(find "$folder" -name '*.c' -printf '%f\n' | sort)" \
        "$(printf '%s\n' "${objects[@]##*_la-}" | sed 's/\.o$/.c/' | sort)" "$2: a source file for each object file here"
    tap_is "$(sed -n 's/^\t\(.*[ch]\)\( \\\)*$/\1/p' "$folder/sources.am" | sort)" \
        "$(cd "$folder" && find . -name '*.[ch]' | sed 's|^\./||' | sort)" "$2: sources.am lists all sources and headers"
    sed -n "s/^#define \(\w*\) ${2}_\1$/\1/p" "$folder/symbols.h" | sort >"$tap_dir/renamed"
    nm -g --defined-only "${objects[@]}" | sed -n 's/^[0-9a-f]* [A-Z] //p' | sort -u >"$tap_dir/defined"
    tap_is "$(grep -v -E "$3" "$tap_dir/defined" | comm -3 - "$tap_dir/renamed")" "" "$2: symbols.h has all symbols that lack its name"
    tap_check "$2: there are such symbols" test "$(wc -l <"$tap_dir/renamed")" -gt 100
    tap_check "$2: all headers are found" dependencies "$folder"
    tap_is "$(grep -o -F "$top_srcdir/src/" <<<"$tap_output" | sort -u)" "" "$2: and none of them in the checkout"
}

case $OMPI_VERSION in
4.*) release=(4 1) ;;
5.*) release=(5 0) ;;
*) tap_skip_all "Open MPI $OMPI_VERSION is not one that --graft is for" ;;
esac
make_tree "${release[@]}"
tap_check "graft" graft "$tree"
for file in $(cd "$tree" && find . -name owner.txt); do
    tap_check "doc/upstream.md has ${file%/*}" grep -qF "\`${file:2:-10}\`" "$top_srcdir/doc/upstream.md"
done
check_component ompi/mca/fcoll/tatp mca_fcoll_tatp '^(mca_fcoll_)?tatp_'
if [[ -e $top_builddir/components/mca_rmaps_dla.so ]]; then
    check_component orte/mca/rmaps/dla mca_rmaps_dla '^(mca_|orte_)?rmaps_dla'
elif [[ -e $top_builddir/components/prrte ]]; then
    check_component 3rd-party/prrte/src/mca/rmaps/dla prte_mca_rmaps_dla '^(prte_mca_)?rmaps_dla'
    check_component 3rd-party/prrte/src/mca/schizo/dla prte_mca_schizo_dla '^(prte_mca_)?schizo_dla'
fi

# ---- once more ----

cp -R "$tree" "$tap_dir/first"
touch "$tree/ompi/mca/fcoll/tatp/src/plan/removed.c"
tap_check "a second graft" graft "$tree"
tap_is "$(diff -r "$tap_dir/first" "$tree")" "" "makes the same, without files that are no longer there"

# ---- bad input ----

cd "$tap_dir" || exit 1
PATH=$top_srcdir:$PATH
mkdir empty
tap_refuses 1 "$tap_dir/nowhere:" autogen.pl --graft "$tap_dir/nowhere"
tap_refuses 1 "$tap_dir/empty" autogen.pl --graft "$tap_dir/empty"
make_tree 3 1
tap_refuses 1 "$tree 3.1 4.1.x 5.0.x" autogen.pl --graft "$tree"
make_tree 5 0
rm -r "$tree/3rd-party/prrte/src"
tap_refuses 1 "$tree/3rd-party/prrte" autogen.pl --graft "$tree"
make_tree "${release[@]}"
mkdir "$tree/ompi/mca/fcoll/tatp"
touch "$tree/ompi/mca/fcoll/tatp/theirs.c"
tap_refuses 1 "$tree/ompi/mca/fcoll/tatp" autogen.pl --graft "$tree"
tap_check "the other component stays" test -e "$tree/ompi/mca/fcoll/tatp/theirs.c"
tap_plan
