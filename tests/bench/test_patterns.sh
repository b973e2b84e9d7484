#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs that write and read access patterns: with fcoll/tatp and without, every byte checked.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

# pattern RANKS PROGRAM ARGUMENT...: what tatp writes by collective calls each rank reads run by run, and back.
pattern() {
    local program=("$BENCH_DIR/$2" "${@:3}" --verify --csv --file "$files/$2")
    tap_check "$2 ${*:3}: fcoll/tatp" run_here "$1" --mca fcoll tatp "${program[@]}"
    tap_contains "$tap_output" ",yes" "it says so"
    tap_check "$2 ${*:3}: read run by run" run_here "$1" "${program[@]}" --variant simple --read-only
    tap_check "$2 ${*:3}: written run by run" run_here "$1" "${program[@]}" --variant simple --fresh --write-only
    tap_check "$2 ${*:3}: read by fcoll/tatp" run_here "$1" --mca fcoll tatp "${program[@]}" --read-only
    rm -f "$files/$2"
}

pattern 9 btio --size 12 --steps 3
pattern 4 btio --size 13 --element 3
pattern 8 tile --size 7x5 --element 10
pattern 6 tile --size 7x5 --element 10 --reorder
pattern 8 lattice --size 6 --element 24
pattern 5 dump --size 40 --steps 2
pattern 6 cube --size 17x13x7

tap_check "a wrong file" run_here 4 "$BENCH_DIR/btio" --size 12 --file "$files/spoiled"
printf x | dd of="$files/spoiled" bs=1 seek=777 conv=notrunc status=none
tap_check_fails "is seen" run_here 4 "$BENCH_DIR/btio" --size 12 --file "$files/spoiled" --read-only --verify

tap_check_fails "a number of ranks that is not square" run_here 3 "$BENCH_DIR/btio" --file "$files/none"
tap_is "$(grep -c '^btio: --size' <<<"$tap_output")" 1 "is told once"
tap_check_fails "a grid of another number of ranks" run_here 4 "$BENCH_DIR/tile" --grid 3x2 --file "$files/none"
tap_check_fails "no such variant" run_here 4 "$BENCH_DIR/btio" --variant epio --file "$files/none"
tap_plan
