# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Debian packages and an .rpm from the archive, for the Debian release $suite: built in a root folder, and installed in
# a fresh one, where a plain user does two runs (debian/tests). Sourced by test_trixie.sh.

# make_archive FOLDER: as `make dist` does, but for the times of the files
make_archive() {
    local name

    name=$(sed -n 's/^AC_INIT(\[\(.*\)\], \[\(.*\)\])/\1-\2/p' "$top_srcdir/configure.ac")
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --silent -C "$top_builddir" distdir "distdir=$tap_dir/$name" &&
        tar --create --gzip --directory="$tap_dir" --file="$1/$name.tar.gz" "$name"
}

# steps FOLDER STEP...: each in the root folder, as long as none fails
steps() {
    local step

    for step in "${@:2}"; do
        tap_check "$suite: $step" in_root "$1" /srv/package "$step"
        [[ $tap_failures == 0 ]] || tap_plan
    done
}

root_folder "$suite" plain
plain=$root
fresh=${plain%-plain}-fresh
root_folder "$suite" build
rm -rf "$root/srv" "$fresh" && mkdir "$root/srv"
tap_check "the archive is made" make_archive "$root/srv"
cp "$releases/package" "$root/srv"
steps "$root" build_deb build_rpm lint_deb
cp --archive --reflink=auto "$plain" "$fresh"
cp --recursive "$root/srv/." "$fresh/srv"
steps "$fresh" install_deb prepare use_deb remove_deb install_rpm use_rpm remove_rpm autopkgtest_deb
tap_plan
