#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A 3-D array written and read by 16 ranks, over every process grid and placement, is the array
# that one rank writes.
. "$top_srcdir/tests/mpi/lib.sh" || exit 1

[[ $FCOLL != tatp ]] || need_component fcoll tatp

# write_serially SIZE
write_serially() {
    tap_check "$1: one rank writes it" \
        run_here 1 "$cube" --size "$1" --verify --write-only --file "$files/serial"
}

# Sets mapping for a placement; for dla it needs what the run by slot recorded.
choose_mapping() {
    case $1 in
    dla) mapping=(--map-by "dla:file=$files/view.crs") ;;
    *) mapping=(--map-by "$1") ;;
    esac
}

# check_placement SIZE GRID PLACEMENT
check_placement() {
    local what="$1 over $2 by $3" record=()
    if [[ $3 == dla && ! -s $files/view.crs ]]; then
        tap_skip "$what" "no recorded view or no component rmaps/dla"
        return
    fi
    choose_mapping "$3"
    [[ $3 != slot || $FCOLL != tatp ]] || ! has_component rmaps dla ||
        record=(--mca fcoll_tatp_record "$files/view.crs")
    rm -f "$files/parallel"
    tap_check "$what: written" run -np 16 "${mapping[@]}" --mca fcoll "$FCOLL" "${record[@]}" \
        "$cube" --size "$1" --grid "$2" --verify --write-only --file "$files/parallel"
    tap_check "$what: the file is the serial one" cmp "$files/serial" "$files/parallel"
    tap_check "$what: read" run -np 16 "${mapping[@]}" --mca fcoll "$FCOLL" \
        "$cube" --size "$1" --grid "$2" --verify --read-only --file "$files/serial"
}

sizes=(33x19x21) grids=(4x2x2 1x4x4)
! tap_full || sizes+=(32x24x40) grids+=(2x2x4 16x1x1)
start_cluster
for size in "${sizes[@]}"; do
    write_serially "$size"
    for grid in "${grids[@]}"; do
        rm -f "$files/view.crs"
        for placement in slot node dla; do
            check_placement "$size" "$grid" "$placement"
        done
    done
done
tap_plan
