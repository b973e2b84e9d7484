#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# --map-by dla with what else a user gives for mapping, ranking and binding: that does what it does with --map-by slot, or
# is refused with what to give instead. By mpirun, and where PRRTE launches by prterun in both personalities.

. "$top_srcdir/tests/lib/dla.sh" || exit 1

need_mapper

# Here what PRRTE binds by default counts.
unset PRTE_MCA_hwloc_default_binding_policy PRTE_MCA_bindto
write_view 8 0,4,9 1,5,9 2,6,9 3,7,9 >pairs.crs
launchers=(mpirun)
[[ $launcher == orte ]] || launchers+=(prterun "prterun --personality ompi")

# dry ARGUMENT...: on four nodes
dry() {
    launch --do-not-launch --display-map -np 8 "$@" --host 198.51.100.1:2,198.51.100.2:2,198.51.100.3:2,198.51.100.4:2 true \
        2>errors | parse_map
}

# places NAME ARGUMENT...: the pairs are together
places() { maps "0,4 1,5 2,6 3,7" "$by: $1" "${@:2}"; }

# cpus SLOTS ARGUMENT...: the processors of each rank, on this machine
cpus() { launch --host "localhost:$1" "${@:2}" sh -c "$where_am_i" 2>errors | sort -n | cut -d ' ' -f 1,3; }

# as_slot NAME SLOTS RANKS QUALIFIERS ARGUMENT...: the ranks have the processors that they have with slot
as_slot() {
    local stock
    stock=$(cpus "$2" -np "$3" --map-by "slot$4" "${@:5}")
    tap_is "$(grep -c . <<<"$stock")" "$3" "$by: $1, with slot"
    tap_is "$(cpus "$2" -np "$3" --map-by "dla:cart=$3$4" "${@:5}")" "$stock" "$by: $1"
}

# refused NAME TEXT ARGUMENT...: no rank starts, and the message has the text, which says what to give instead
refused() {
    local output status
    output=$(set -o pipefail && cpus 8 "${@:3}")
    status=$?
    if [[ $status != 0 && $status != 124 && -z $output ]] && grep -qi -e "$2" errors; then status=refused; fi
    tap_is "$status" refused "$by: $1: refused"
    [[ $status == refused ]] || tap_diag "$output$(cat errors)"
}

for by in "${launchers[@]}"; do
    # shellcheck disable=SC2206 # its words
    [[ $by == mpirun ]] || launch_by=("$(dirname "$MPIRUN")"/$by)
    for policy in slot node; do places "--rank-by $policy" --map-by dla:file=pairs.crs --rank-by $policy; done
    places ":oversubscribe in lower case" --map-by dla:file=pairs.crs:oversubscribe
    OMPI_MCA_rmaps_dla_file=pairs.crs places "the file by parameter, and a qualifier alone" --map-by :oversubscribe
    as_slot "the default binding" 2 2 ""
    for binding in none core numa; do as_slot "--bind-to $binding" 2 2 "" --bind-to $binding; done
    as_slot ":oversubscribe" 2 8 :oversubscribe
    as_slot "--oversubscribe" 2 8 "" --oversubscribe
    refused ":nooversubscribe" "add :OVERSUBSCRIBE" -np 9 --map-by dla:cart=9:nooversubscribe
    if (($(nproc) < 2)); then
        tap_skip "$by: :pe=2" "one processor only"
        continue
    fi
    as_slot ":pe=2" 1 1 :pe=2
    as_slot ":pe=2 --bind-to core" 1 1 :pe=2 --bind-to core
    # All processors for each of two ranks.
    few="as in --host .*:SLOTS"
    [[ $launcher != orte ]] || few=overload-allowed
    refused ":pe=n with too few processors" "$few" -np 2 --map-by "dla:cart=2:pe=$(nproc)"
    if [[ $launcher == orte ]]; then
        as_slot ":pe=2 --bind-to none" 1 1 :pe=2 --bind-to none
        places "--rank-by core" --map-by dla:file=pairs.crs --rank-by core
    else
        refused ":pe=2 --bind-to none" "other than .core." -np 1 --map-by dla:cart=1:pe=2 --bind-to none
        refused "--rank-by core" "Valid directives: slot:node" -np 8 --map-by dla:cart=8 --rank-by core
    fi
done
tap_plan
