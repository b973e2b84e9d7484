#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The component and the programs that test it under AddressSanitizer and UndefinedBehaviorSanitizer,
# and a small set under valgrind.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

# What Open MPI allocates and never frees is its own affair, and that a call which does not block has
# a stack of its own is no news.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 UBSAN_OPTIONS=halt_on_error=1
views=(--seed "${TEST_SEED:-1}" --dir "$files")
cases=(even/\* ragged/\* memory_\*/\* view_overlaps_itself/\* external32/\*
    atomic_overlap/\* outstanding/\* crossed_starts late_rank same_view_again/\* several_files/\*)

# sanitized RANKS PROGRAM ARGUMENT...
sanitized() {
    OMPI_MCA_mca_base_component_path=$top_builddir/components-sanitized:$OMPI_PKGLIBDIR \
        run_here "$1" --mca fcoll tatp "$programs/$2_sanitized" "${@:3}"
}

# under_valgrind RANKS PROGRAM ARGUMENT...: exit status 99 for an error of memory.
under_valgrind() {
    local installed=${OMPI_PKGLIBDIR%/lib/*}/share/openmpi/openmpi-valgrind.supp
    [[ -e $installed ]] || installed=/usr/share/openmpi/openmpi-valgrind.supp
    run_here "$1" --mca fcoll tatp "$VALGRIND" --quiet --error-exitcode=99 --suppressions="$installed" \
        --suppressions="$top_srcdir/tests/mpi/openmpi.supp" "$programs/$2" "${@:3}"
}

sanitizers() {
    tap_check "sanitizers, views, 4 ranks" sanitized 4 views "${views[@]}" --cases "$(random_cases 200)"
    tap_check "sanitizers, conformance, 4 ranks" sanitized 4 conformance --dir "$files" "${cases[@]}"
}

valgrind_runs() {
    tap_check "valgrind, views, 2 ranks" under_valgrind 2 views "${views[@]}" --first 200000 --cases 20 --large 0
    tap_check "valgrind, conformance, 2 ranks" under_valgrind 2 conformance --dir "$files" even/\* external32/\* outstanding/\*
}

if [[ -e $programs/views_sanitized ]]; then
    sanitizers
else
    tap_absent sanitizers
    tap_skip "sanitizers" "this compiler has none"
fi
if tap_full; then
    if [[ -x $VALGRIND ]]; then
        valgrind_runs
    else
        tap_skip "valgrind" "it is not installed"
    fi
fi
tap_plan
