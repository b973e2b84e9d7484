#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tests/cluster/cluster, which many tests run on: ranks stand on its nodes, bytes between them are counted, and nothing of it
# is left.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

tap_tempdir
name=test-$$
trap '"$CLUSTER" down --name "$name" >/dev/null 2>&1; rm -rf "$tap_dir"' EXIT

reason=$("$CLUSTER" check 2>&1) || tap_skip_all "$(head -n 1 <<<"$reason")"
cluster() { timeout --kill-after=5 "$HANG_LIMIT" "$CLUSTER" "$1" --name "$name" "${@:2}"; }

tap_check "a cluster is made" cluster up
tap_check_fails "once for a name" cluster up
tap_contains "$("$CLUSTER" status)" "$name: up, 4 nodes of 4 slots" "it has four nodes of four slots"
cluster exec sh -c 'exit 7'
tap_is "$?" 7 "the status of a command comes through"
if ! command -v mpirun >/dev/null || ! mpicc -O2 -o "$tap_dir/send" "$top_srcdir/tests/cluster/send.c"; then
    tap_skip "runs" "mpirun or mpicc is not installed"
else
    # PRRTE 3 may wait for ever for ranks that end before it knows that all have begun.
    tap_is "$(cluster run -np 16 sh -c 'hostname; sleep 0.5' | sort | uniq -c | xargs)" "4 n0 4 n1 4 n2 4 n3" "four ranks stand on each node"
    cluster links --reset
    tap_check "bytes are sent from a node to one on another leaf" cluster run --host n1:1,n2:1 -np 2 --map-by node "$tap_dir/send" 20000000
    # 5 % for headers and acknowledgements, and 250 kB for launching
    tap_is "$(cluster links --csv | awk -F, '{ passed[$1] = $3 >= 20000000 && $3 <= 21250000; idle[$1] = $3 <= 250000 }
        END { print passed["n1"], passed["leaf0-spine"], idle["n0"], idle["n3"] }')" "1 1 1 1" "they are counted at each link of their way"
fi
tap_check "the cluster is ended" cluster down
tap_is "$("$CLUSTER" status | grep -c "^$name:")" 0 "nothing of it is left"
tap_plan
