#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# configure says what is missing and what to install.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir

# A copy: a source folder that was configured does not let itself be configured elsewhere.
source=$tap_dir/source
mkdir -p "$source/tests" "$source/src/plan" "$tap_dir/work" "$tap_dir/home"
for part in configure Makefile.in build-aux mpi ompi prte; do cp -r "$top_srcdir/$part" "$source"; done
cp "$top_srcdir/tests/env.sh.in" "$source/tests"
cp "$top_srcdir/src/plan/plan.h" "$source/src/plan"

# A home folder without components: ompi_info would list those that are installed.
HOME=$tap_dir/home
export HOME

# It is to find these by itself. OMPI_INFO and MPIRUN stay set: they may be another build's.
openmpi=$MPICC
info=$OMPI_INFO
unset MPICC VALGRIND PYTHON3

# configure ARGUMENT...; what it says of the compiler is the same each time, hence the cache
configure() (
    cd "$tap_dir/work" && "$source/configure" --quiet --disable-sanitizers --cache-file=cache "$@"
)

# fake_openmpi VERSION-TEXT: makes $tap_dir/fake, an installation that has no headers
fake_openmpi() {
    mkdir -p "$tap_dir/fake/bin" "$tap_dir/fake/include"
    cat >"$tap_dir/fake/bin/mpicc" <<END
#!/bin/sh
case \$1 in
--showme:version) echo '$1' ;;
--showme:incdirs) echo '$tap_dir/fake/include' ;;
esac
END
    cat >"$tap_dir/fake/bin/ompi_info" <<END
#!/bin/sh
case \$* in
*--path*incdir) echo "path:incdir:$tap_dir/fake/include" ;;
*) exec '$info' "\$@" ;;
esac
END
    touch "$tap_dir/fake/bin/mpirun"
    chmod +x "$tap_dir/fake/bin/"*
}

# refuses NAME 'NAMED...' ARGUMENT...: configure fails, and its message names each of the words
refuses() {
    local named
    tap_check_fails "$1: refused" configure "${@:3}"
    tap_lacks "$1: says what is wrong" "$(for named in $2; do [[ $tap_output == *"$named"* ]] || echo "does not name $named: $tap_output"; done)"
}

refuses "a relative component folder" some/where --with-component-dir=some/where
refuses "no Open MPI" "apt-get libopenmpi-dev openmpi-bin" --with-openmpi="$tap_dir/nowhere"

fake_openmpi "gcc version 12.2.0"
refuses "another MPI" "$tap_dir/fake/bin/mpicc" --with-openmpi="$tap_dir/fake"

for version in 4.0.6 5.1.0 7.0.0; do
    fake_openmpi "mpicc: Open MPI $version (Language: C)"
    refuses "Open MPI $version" "$tap_dir/fake/bin/mpicc $version 4.1.x 5.0.x 6.0.x" --with-openmpi="$tap_dir/fake"
done

fake_openmpi "mpicc: Open MPI 4.1.99 (Language: C)"
refuses "mpicc and ompi_info of two releases" "$tap_dir/fake/bin/ompi_info 4.1.99" --with-openmpi="$tap_dir/fake"

fake_openmpi "$("$openmpi" --showme:version)"
sed -i "1a case \$* in *--config*) echo option:dlopen:no; exit ;; esac" "$tap_dir/fake/bin/ompi_info"
refuses "Open MPI with --disable-dlopen" "--disable-dlopen ./autogen.pl --graft" --with-openmpi="$tap_dir/fake"
sed -i "1a case \$* in --parsable) echo mca:fcoll:tatp:version:api; exit ;; esac" "$tap_dir/fake/bin/ompi_info"
tap_check "Open MPI with --disable-dlopen and the components inside" configure --with-openmpi="$tap_dir/fake"
tap_is "$(grep -c '^am__append_[0-9]* = components/' "$tap_dir/work/Makefile")" 0 "... no component is built"

fake_openmpi "$("$openmpi" --showme:version)"
refuses "no development headers" "ompi/mca/fcoll/fcoll.h apt-get libopenmpi-dev" --with-openmpi="$tap_dir/fake"

# The same on another system.
mkdir "$tap_dir/programs"
ln -s /usr/bin/* /bin/* "$tap_dir/programs" 2>/dev/null
rm -f "$tap_dir/programs/apt-get"
for manager in dnf zypper; do
    printf '#!/bin/sh\n' >"$tap_dir/programs/$manager"
    chmod +x "$tap_dir/programs/$manager"
    tap_contains "$(PATH=$tap_dir/programs "$source/build-aux/install-line" libopenmpi-dev check)" \
        "$manager install openmpi" "what to type with $manager"
    rm "$tap_dir/programs/$manager"
done
tap_contains "$(PATH=$tap_dir/programs "$source/build-aux/install-line" check)" "(by Debian's names): check" \
    "what to type with neither"

# Sources of Open MPI, made of the installed headers.
headers=$("$info" --parsable --path incdir | cut -d : -f 3)
sources=$tap_dir/openmpi
refuses "no sources" "--with-openmpi-source" --with-openmpi="$tap_dir/fake" --with-openmpi-source="$tap_dir"
mkdir -p "$sources/opal/include" "$sources/orte/include" "$sources/ompi/include"
cp -r "$headers/openmpi/ompi" "$headers/openmpi/opal" "$sources"
! [ -d "$headers/openmpi/orte" ] || cp -r "$headers/openmpi/orte" "$sources"
cp "$headers/openmpi"/*.h "$sources"
mv "$sources/opal_config.h" "$sources/opal/include"
printf 'major=9\nminor=0\nrelease=0\ngreek=\n' >"$sources/VERSION"
refuses "sources of another release" "--with-openmpi-source 9.0.0" --with-openmpi="$tap_dir/fake" --with-openmpi-source="$sources"
"$info" --version |
    sed -n 's/^Open MPI v\([0-9]*\)[.]\([0-9]*\)[.]\([0-9]*\)\(.*\)/major=\1\nminor=\2\nrelease=\3\ngreek=\4/p' >"$sources/VERSION"
sed -i.first 's/\(#define OPAL_ENABLE_DEBUG\) 0/\1 1/' "$sources/opal/include/opal_config.h"
refuses "sources with another option" "--enable-debug option:debug:no" --with-openmpi="$tap_dir/fake" --with-openmpi-source="$sources"
rm "$sources/opal/include/opal_config.h"
refuses "sources without opal_config.h" "opal/include/opal_config.h $sources ./configure" --with-openmpi="$tap_dir/fake" --with-openmpi-source="$sources"
mkdir -p "$tap_dir/built/opal/include"
mv "$sources/opal/include/opal_config.h.first" "$tap_dir/built/opal/include/opal_config.h"
echo "abs_top_srcdir = $sources" >"$tap_dir/built/Makefile"
ln -s "$headers"/mpi*.h "$tap_dir/fake/include"
rm "$tap_dir/work/cache"
tap_check "configures by sources that were configured elsewhere" configure --with-openmpi="$tap_dir/fake" --with-openmpi-source="$tap_dir/built"
tap_contains "$(grep '^OMPI_CPPFLAGS = ' "$tap_dir/work/Makefile" | sed "s|-isystem $tap_dir/||g")" \
    "built built/opal/include openmpi openmpi/opal/include" "the headers are those of both folders"

# The header of this Open MPI, changed into another release's.
mkdir "$tap_dir/other"
sed 's/^\( *# *define OMPI_MINOR_VERSION\) .*/\1 9/' "$headers/mpi.h" >"$tap_dir/other/mpi.h"
rm "$tap_dir/work/cache"
refuses "headers of another release" "$headers" MPICC="$openmpi" CPPFLAGS="-I$tap_dir/other"

# This Open MPI under another prefix, while PATH has it too.
mkdir -p "$tap_dir/second/bin"
for program in mpicc ompi_info mpirun; do
    ln -s "$(command -v "$(dirname "$openmpi")/$program")" "$tap_dir/second/bin"
done
rm "$tap_dir/work/cache"
tap_check "configures for an Open MPI under another prefix" configure --with-openmpi="$tap_dir/second"
tap_is "$(sed -n 's/^\(MPICC\|MPIRUN\|OMPI_INFO\) = //p' "$tap_dir/work/Makefile" | sort -u | xargs)" \
    "$tap_dir/second/bin/mpicc $tap_dir/second/bin/mpirun $tap_dir/second/bin/ompi_info" "all of its programs are those"

rm "$tap_dir/work/cache"
tap_check "configures with defaults" configure MPICC="$openmpi"
tap_check "components go to the user's own folder" \
    grep -qx "componentdir = $tap_dir/home/.openmpi/components" "$tap_dir/work/Makefile"
tap_check "configures for the folders of Open MPI" configure --with-component-dir=system MPICC="$openmpi"
tap_check "components go to Open MPI's own folder" grep -qx "componentdir = $OMPI_PKGLIBDIR" "$tap_dir/work/Makefile"
tap_plan
