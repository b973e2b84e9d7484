#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ThreadSanitizer: the shared windows of the engine, and the component in programs whose threads open, access
# and close files at the same time, and whose non-blocking calls make progress in any of them.
#
# Open MPI itself is not built for ThreadSanitizer: what it synchronises is not seen, and only accesses of
# the component's own code are looked at. A report that does not name the component is not ours.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

# Reports of all ranks go to files of this prefix.
reports=$tap_dir/report
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=0 log_path=$reports"
export OMPI_MCA_mca_base_component_path=$top_builddir/components-tsan:$OMPI_PKGLIBDIR

# check_threads RANKS CASE...
check_threads() {
    local output
    rm -f "$reports".*
    output=$(run_here "$1" --mca fcoll tatp --mca fcoll_tatp_stats "$tap_dir/stats.json" \
        "$programs/conformance_tsan" --threads --limit "$HANG_LIMIT" --dir "$files" "${@:2}" 2>&1)
    tap_contains "$output" "ok threads" "$1 ranks: the results are right"
    tap_is "$(cat "$reports".* 2>/dev/null | grep -c fcoll_tatp)" 0 "$1 ranks: no data races in ${*:2}"
    cat "$reports".* 2>/dev/null | grep -A 3 -E '(Write|Read|Previous|Atomic).* by ' | sed 's/^/#   /' | head -n 100
}

tap_check "shared windows: no data races" env TSAN_OPTIONS=exitcode=66 "$top_builddir/tests/exchange/threads_tsan"
for ranks in 1 2 4; do check_threads "$ranks" threads 'outstanding/*' many_in_turn; done
tap_plan
