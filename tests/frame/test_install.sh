#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# make install, what Open MPI sees of it, and make uninstall.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir

# A make of its own: not part of the one that runs this test.
run_make() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -C "$top_builddir" DESTDIR="$tap_dir" "$@"; }

# The value of a variable of the Makefile, with its ${prefix} and the like replaced.
made_with() {
    sed "s/^$1 = //p; d" "$top_builddir/Makefile" | sed "s#\${prefix}#$(sed 's/^prefix = //p; d' "$top_builddir/Makefile")#"
}

files_under() { (cd "$tap_dir" && find . ! -type d) | sort; }

# parameters FRAMEWORK COMPONENT: "NAME:help:TEXT" of each parameter, from the installed files
parameters() {
    OMPI_MCA_mca_base_component_path="$components:$OMPI_PKGLIBDIR" \
        "$OMPI_INFO" --parsable --param "$1" "$2" --level 9 2>"$tap_dir/errors" |
        sed -n "s/^mca:$1:$2:param:\($1_$2_[a-z_]*:help:\)/\1/p"
}

# check_parameters FRAMEWORK COMPONENT NAME...: each NAME is listed, and nothing has an empty help
check_parameters() {
    prefix=$1_$2
    listed=$(parameters "$1" "$2")
    shift 2
    for name do
        tap_contains "$listed" "${prefix}_$name:help:" "ompi_info lists ${prefix}_$name"
    done
    tap_is "$(echo "$listed" | grep -c ':help:$')" 0 "each parameter of $prefix has a help text"
    for name in $(echo "$listed" | sed 's/:.*//'); do
        tap_check "$name is in the manual" grep -q "$name" "$top_srcdir/doc/man/$prefix.7"
    done
}

components=$tap_dir$(made_with componentdir)
# What version 2.0.0 had.
mkdir -p "$components"
touch "$components/help-fcoll-tatp.txt"
tap_check "make install" run_make install

if [ -e "$top_builddir/components/mca_rmaps_dla.so" ]; then
    wanted="mca_fcoll_tatp.so mca_rmaps_dla.so mca_topo_dla.so"
elif [ -e "$top_builddir/components/prrte" ]; then
    wanted="mca_fcoll_tatp.so mca_topo_dla.so prrte prrte/prte_mca_rmaps_dla.so prrte/prte_mca_schizo_dla.so"
else
    wanted="mca_fcoll_tatp.so mca_topo_dla.so"
fi
installed=$(cd "$components" && find . -mindepth 1 | sed 's/^..//' | sort | xargs)
tap_is "$installed" "$wanted" "the component folder holds the DSOs"
for file in lib/tatp-dla/libtatp-mpiio.so bin/dla bin/dla-pingpong bin/tatp bin/tatp-cube bin/tatp-probe bin/tatp-simulate share/man/man1/dla.1 share/man/man1/tatp.1 \
    share/bash-completion/completions/dla share/bash-completion/completions/tatp share/zsh/site-functions/_tatp \
    share/man/man5/tatp_stats.5 share/man/man7/fcoll_tatp.7 share/man/man7/rmaps_dla.7 \
    share/tatp-dla/compare/agent share/tatp-dla/doctor/__main__.py share/tatp-dla/examples/pvars.c share/tatp-dla/report/__main__.py share/tatp-dla/report/page.html; do
    tap_check "$file is installed" test -f "$tap_dir$(made_with prefix)/$file"
done

# Their size without symbols, and what they export.
for dso in $(cd "$components" && find . -name '*.so' | sed 's/^..//' | sort); do
    name=$(basename "$dso" .so)
    tap_is "$(nm -D --defined-only "$components/$dso" | sed 's/.* //')" "${name}_component" "$name exports one symbol"
    strip -o "$tap_dir/stripped" "$components/$dso"
    tap_check "$name has less than 430,000 bytes" test "$(stat -c %s "$tap_dir/stripped")" -lt 430000
    rm "$tap_dir/stripped"
done

check_parameters fcoll tatp priority strategy topology num_aggregators cycle_buffer_size record romio_ranks stats stats_level
# ompi_info lists nothing of PRRTE
[ ! -e "$components/mca_rmaps_dla.so" ] ||
    check_parameters rmaps dla file cart order method objective numa topology verbose priority
tap_is "$(cat "$tap_dir/errors")" "" "Open MPI opens the components without complaint"
rm -f "$tap_dir/errors"
tap_contains "$(OMPI_MCA_mca_base_component_path="$components:$OMPI_PKGLIBDIR" LD_BIND_NOW=1 \
    "$OMPI_INFO" --parsable --param fcoll tatp --level 9 2>&1)" fcoll_tatp_priority "fcoll/tatp lacks no symbol"

tap_check "make uninstall" run_make uninstall
tap_is "$(files_under)" "" "make uninstall leaves no file behind"
tap_check "the empty component folder goes too" test ! -d "$components"
tap_check "and the folder of its data" test ! -d "$tap_dir$(made_with prefix)/share/tatp-dla"

# ---- what make install says of it ----

# Its folder of components is that in which they were built.
built=$(cd "$top_builddir" && pwd)/components
tap_check "make install, where the components stay" run_make install DESTDIR= prefix="$tap_dir/prefix" componentdir="$built"
tap_contains "$tap_output" "export PATH=$tap_dir/prefix/bin:" "the folder of programs is not in PATH"
tap_check "... and they are still there" test -f "$built/mca_fcoll_tatp.so"
PATH=$tap_dir/prefix/bin:$PATH run_make install DESTDIR= prefix="$tap_dir/prefix" componentdir="$built" >"$tap_dir/said" 2>&1
tap_is "$(grep -c 'export PATH' "$tap_dir/said")" 0 "the folder of programs is in PATH"
rm -rf "$tap_dir/prefix" "$tap_dir/said"

# says FOLDER: of the components in the folder
says() { (cd "$top_builddir" && HOME=$tap_dir "$top_srcdir/build-aux/check-install" "$@" 2>&1); }

default=$tap_dir/home/.openmpi/components
other=$tap_dir/other
mkdir -p "$default" "$other" "$tap_dir/empty"
cp -R "$top_builddir/components/." "$default"
cp -R "$top_builddir/components/." "$other"
# The program that tells the mapper's setting knows the folder of this build only.
if [ -e "$other/prrte" ]; then
    PMIX_MCA_mca_base_component_path="$(made_with PMIX_PKGLIBDIR);prte@$other/prrte"
    export PMIX_MCA_mca_base_component_path
fi
setting="export OMPI_MCA_mca_base_component_path='$other:$OMPI_PKGLIBDIR'"
tap_contains "$(says "$other")" "    $setting" "a folder that Open MPI does not look into: the setting"
tap_is "$(eval "$setting" && says "$other" | grep -c "$other.$\|export")" 1 "with that setting they are found"
mkdir -p "$tap_dir/home/.cache/openmpi-tatp"
printf '%s\n' '# fcoll = tatp' 'fcoll = tatp' 'io = ompio' 'rmaps_dla_file=auto' >"$tap_dir/home/.openmpi/mca-params.conf"
tap_is "$(XDG_CACHE_HOME='' OMPI_MCA_fcoll=tatp says --removed "$default" | sed '1d; s/.*conf://; s/.* in /in /' | xargs)" \
    "2:fcoll = tatp 4:rmaps_dla_file=auto OMPI_MCA_fcoll=tatp in $tap_dir/home/.cache/openmpi-tatp." "what make uninstall leaves is named"
rm -r "$tap_dir/home/.cache" "$tap_dir/home/.openmpi/mca-params.conf"
# A parameter file of PMIx, as Debian 13 has one, hides no folder of Open MPI.
if [ -e "$default/prrte" ]; then
    mkdir "$tap_dir/home/.pmix"
    echo "mca_base_component_path = $(made_with PMIX_PKGLIBDIR)" >"$tap_dir/home/.pmix/mca-params.conf"
fi
tap_is "$(says "$default" | grep -c "$default.$\|export")" 1 "the default folder: without a setting"
tap_contains "$(says "$tap_dir/empty")" "fcoll/tatp" "no components"
tap_plan
