# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# This checkout under the unmodified Open MPI of the Debian release $suite, in its root folder: it is built there, and
# the tests below run by `make check`: the core or, with $more, others: of `files`, of the `launch`, or `more`, which is both.
# What is built stays for the next time. Sourced by test_trixie.sh.

home=/root/tatp-dla
tests=(tests/mpi/test_{conformance,views,record,reorder,reported,libraries,device,uplinks,noncollective}.sh tests/dla/test_{hostfiles,launchers}.sh)
more_files=(tests/mpi/test_{faults,large_counts,hints,settings,reuse,stripes,stats,plan,fit,fitted,aggregators,distances}.sh
    tests/mpi/test_{topology,messages,bad_input,pvars}.sh)
more_launch=(tests/faults/test_{injected,kills,losses}.sh tests/unit/test_dla_{spec,arrange,place,predict}
    tests/frame/test_install.sh tests/tools/test_{compare,dla,doctor,recorded}.sh tests/dla/test_{automatic,dla,fit,inside,qualifiers}.sh
    tests/cluster/test_{cluster,placement,slurm,srun}.sh)
# Its MPICH has the standard ABI.
[[ $suite != forky ]] || tests+=(tests/mpiio/test_abi.sh)
case $more in
files) tests=("${more_files[@]}") ;;
launch) tests=("${more_launch[@]}") ;;
more) tests=("${more_files[@]}" "${more_launch[@]}") ;;
esac

# The files of this checkout as they are, committed or not. Those that differ get the present time: what is built from
# another checkout there may be later than a file that was changed here.
copy_sources() {
    local file

    cd "$top_srcdir" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        if [[ -e $file ]] && ! cmp -s "$file" "$root$home/$file"; then
            mkdir -p "$root$home/$(dirname "$file")" && cp "$file" "$root$home/$file" || exit
        fi
    done
}

# at_home COMMAND...: with Open MPI's settings
at_home() {
    # shellcheck disable=SC2016 # for the inner shell
    in_root "$root" bash -c 'cd "$1" && . tests/env.sh && "${@:2}"' bash "$home" "$@"
}

# collect_component FOLDER RELEASE: fcoll/tatp as it was built there
collect_component() { mkdir -p "$tap_dir/foreign/$2" && cp "$1/components/mca_fcoll_tatp.so" "$tap_dir/foreign/$2"; }

# Of this machine, and of the root folders that have one.
collect_components() {
    local built

    collect_component "$top_builddir" "$OMPI_VERSION"
    for built in "$cache"/*/root/tatp-dla; do
        [[ ! -e $built/components/mca_fcoll_tatp.so ]] ||
            collect_component "$built" "$(sed -n "s/^export OMPI_VERSION='\(.*\)'/\1/p" "$built/tests/env.sh")"
    done
    rm -rf "$root$home/foreign" && cp -R "$tap_dir/foreign" "$root$home/foreign"
}

# As within a parallel make whose pipe it does not have. What the dependencies are is kept.
# shellcheck disable=SC2016 # for the inner shell
configure_anew() {
    in_root "$root" bash -c 'cd "$1" && mv src/lap/.deps src/lap/kept || exit
        MAKEFLAGS=" -j2 --jobserver-auth=3,4" ./config.status Makefile depfiles 3>/dev/null 4>/dev/null
        status=$?
        rm -rf src/lap/.deps && mv src/lap/kept src/lap/.deps && exit $status' bash "$home"
}

if [[ -n ${OPENMPI_OPTIONS-} ]]; then
    root='' suite=$OPENMPI_OPTIONS
    HOME=$cache/prefix-$(cksum <<<"$suite" | cut -d ' ' -f 1)/root
    home=$HOME/tatp-dla
else
    root_folder "$suite"
fi
tap_check "the sources are copied" copy_sources
# shellcheck disable=SC2016,SC2086 # for the inner shell; options
tap_check "$suite: build" in_root "$root" bash -c 'cd "$1" && { [ Makefile -nt /.complete ] ||
    { ./autogen.pl && ./configure --disable-sanitizers "${@:2}"; }; } && make -j2' bash "$home" ${OPENMPI_OPTIONS-}
[[ $tap_failures == 0 ]] || tap_plan
tap_diag "$(at_home ompi_info --version | head -n 1)"
tap_check "$suite: make check" in_root "$root" make --no-print-directory -C "$home" check "TESTS=${tests[*]}"
tap_diag "$(tail -n 1 <<<"$tap_output")"
if [[ -n $more ]]; then
    tap_check "$suite: bench/demo" at_home bench/demo
    tap_plan
fi
tap_check "$suite: configured anew by a parallel make" configure_anew
collect_components
tap_check "$suite opens components of other releases" at_home tests/releases/test_foreign.sh
tap_check "components of other releases are opened here" env FOREIGN="$tap_dir/foreign" "$releases/test_foreign.sh"
tap_plan
