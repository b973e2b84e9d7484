#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The components' folders in the source tree of Open MPI: their Makefile.am and configure.m4 in a tree that has what
# these use of Open MPI's build, for a component of its own and for one inside the library.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

command -v autoreconf >/dev/null || tap_skip_all "autoconf is not installed"
tap_tempdir

# tree FOLDER PROJECT FRAMEWORK NAME: a package with this component alone
tree() {
    local folder=$tap_dir/tree$4
    mkdir -p "$folder/$1"
    cp "$top_srcdir/$1"/* "$folder/$1"
    cat >"$folder/configure.ac" <<END_OF_CONFIGURE
AC_INIT([openmpi], [4.1])
AC_CONFIG_AUX_DIR([config])
AC_CONFIG_MACRO_DIRS([config])
AM_INIT_AUTOMAKE([foreign subdir-objects -Wall])
AC_PROG_CC
AM_PROG_AR
LT_INIT([disable-static pic-only])
m4_include([$1/configure.m4])
MCA_$2_$3_$4_CONFIG([built=yes], [built=no])
AS_IF([test \$built = no], [AC_MSG_ERROR([$4 would not be built])])
AC_ARG_ENABLE([static-components])
AM_CONDITIONAL([MCA_BUILD_$2_$3_$4_DSO], [test "\$enable_static_components" != yes])
AC_SUBST([$2libdir], ['\${libdir}/openmpi'])
AC_SUBST([$2datadir], ['\${datadir}/openmpi'])
AC_SUBST([OMPI_TOP_BUILDDIR], ['\$(top_builddir)'])
AC_SUBST([OMPI_LIBMPI_NAME], [mpi])
AC_SUBST([ORTE_LIB_PREFIX])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END_OF_CONFIGURE
    echo "SUBDIRS = $1" >"$folder/Makefile.am"
    mkdir "$folder/config"
    cd "$folder" && autoreconf --install
}

# build FOLDER NAME TARGET CONFIGURE-ARGUMENT... -- MAKE-ARGUMENT...: as part of Open MPI's, in a folder of its own
build() {
    local folder=$1 name=$2 target=$3 options=()
    shift 3
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    mkdir -p "$tap_dir/build-$target" && cd "$tap_dir/build-$target" || return
    "$tap_dir/tree$name/configure" --quiet --with-tatp-dla="$top_builddir" "${options[@]}" CPPFLAGS="$flags" CFLAGS=-O0 &&
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" --silent -C "$folder" "$target" "${@:2}"
}

value() {
    sed -n "s/^$1 = //p" "$top_builddir/Makefile"
}
flags="$(value OMPI_CPPFLAGS) $(value HWLOC_CFLAGS)"
[[ -e $top_builddir/src/plan/plan.h ]] || tap_skip_all "built in a folder of its own"

for component in ompi/fcoll/tatp orte/rmaps/dla; do
    IFS=/ read -r project framework name <<<"$component"
    folder=$project/mca/$framework/$name
    tap_check "$name: autoreconf" tree "$folder" "$project" "$framework" "$name"
    tap_check_fails "$name: configure without the project's libraries" "$tap_dir/tree$name/configure" --quiet
    # Installed libraries have no .la to link with, or to depend on.
    tap_check "$name: a component of its own" build "$folder" "$name" "mca_${framework}_$name.la" -- \
        "mca_${framework}_${name}_la_LIBADD=\$(${framework}_${name}_LIBS) -lmca_common_ompio $(value OMPI_LIBS)" \
        "mca_${framework}_${name}_la_DEPENDENCIES="
    tap_contains "$(nm -D "$tap_dir/build-mca_${framework}_$name.la/$folder/.libs/mca_${framework}_$name.so")" \
        "D mca_${framework}_${name}_component" "$name: it has the component's struct"
    tap_check "$name: inside the library" build "$folder" "$name" "libmca_${framework}_$name.la" --enable-static-components --
done
tap_plan
