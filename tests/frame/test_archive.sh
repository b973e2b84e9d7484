#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# make dist: what is in the archive, and that a copy at another path, without git, packs the same bytes.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

[[ -e $top_srcdir/.git ]] || tap_skip_all "this is no git checkout"
tap_tempdir
largest=3000000
name=$(sed -n 's/^AC_INIT(\[\(.*\)\], \[\(.*\)\])/\1-\2/p' "$top_srcdir/configure.ac")
version=${name##*-}

# Tracked files that are there.
sources() { (cd "$top_srcdir" && git ls-files -z | xargs -0 ls -d 2>/dev/null); }

# copy_sources FOLDER: the files of this checkout as they are, and what autogen.pl made of them.
copy_sources() {
    git clone --quiet --no-checkout --shared "$top_srcdir" "$1" && {
        sources
        printf '%s\n' aclocal.m4 configure build-aux m4 Makefile.in
    } | tar -C "$top_srcdir" --create --files-from=- | tar -C "$1" --extract
}

# pack FOLDER: prints the name of its archive
pack() (
    cd "$1" && ./configure --quiet --disable-sanitizers --cache-file="$tap_dir/cache" &&
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u SOURCE_DATE_EPOCH "${MAKE:-make}" --silent dist >&2 && echo "$1/$name.tar.gz"
)

mkdir "$tap_dir/second"
tap_check "the sources are copied" copy_sources "$tap_dir/first"
archive=$(pack "$tap_dir/first")
tap_check "make dist" test -s "$archive"
tap_check "the archive has less than $largest bytes" test "$(stat -c %s "$archive")" -lt $largest

files=$(tar -tzf "$archive" | sed "s|^$name/||" | grep -v '/$' | sort)
wanted=$(sources | grep -v '^\.[a-z-]*$' | sort)
tap_is "$(comm -13 <(echo "$files") <(echo "$wanted"))" "" "every file of the checkout is in the archive"
tap_is "$(comm -23 <(echo "$files") <(echo "$wanted") | grep -v '^build-aux/\|^m4/l\|^aclocal.m4$\|^configure$\|^Makefile.in$')" "" \
    "what else is in it makes ./configure"
tap_is "$(tar -tvzf "$archive" --numeric-owner | awk '{ print $2, $4, $5 }' | sort -u)" \
    "0/0 $(git -C "$top_srcdir" log -1 --format=%cd --date=format-local:'%Y-%m-%d %H:%M')" "all files are root's, and as old as the commit"

tap_check "the archive is unpacked" tar -C "$tap_dir/second" --no-same-owner -xzf "$archive"
again=$(umask 077 && pack "$tap_dir/second/$name")
tap_check "a copy without git packs the same bytes" cmp "$archive" "$again"

# version_in FILE EXPRESSION: the first version there
version_in() { tap_is "$(sed -n "s/$2/\\1/p" "$top_srcdir/$1" | head -n 1)" "$version" "$1 has this version"; }
version_in src/base/version.h '^#define TATP_VERSION "\(.*\)"'
version_in CHANGELOG.md '^## \[\([0-9.]*\)\].*'
version_in debian/changelog '^tatp-dla (\(.*\)-0upstream[0-9]*).*'
version_in packaging/rpm/tatp-dla.spec '^Version: *\(.*\)'
version_in packaging/spack/spack_repo/tatp/packages/tatp_dla/package.py '^ *version("\([^"]*\)".*'
version_in "packaging/easybuild/tatp-dla-$version-gompi-2025a.eb" "^version = '\\(.*\\)'"
tap_check "the recipes are Python" "$PYTHON3" -c 'import ast, sys
for name in sys.argv[1:]: ast.parse(open(name).read())' "$top_srcdir"/packaging/*/*.{py,eb} "$top_srcdir"/packaging/spack/spack_repo/tatp/packages/*/*.py
tap_plan
