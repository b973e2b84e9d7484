#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tatp doctor: each kind of misconfiguration, with real runs of mpirun; and that it changes nothing.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
components=${TATP_COMPONENT_PATH%%:*}
[[ -e $components/mca_fcoll_tatp.so ]] || tap_skip_all "fcoll/tatp is not built"
# A home folder without components, and a PATH in which mpirun is this Open MPI's.
export HOME=$tap_dir/home
mkdir -p "$HOME" bin
for program in "mpirun $MPIRUN" "ompi_info $OMPI_INFO"; do
    printf '#!/bin/sh\nexec "%s" "$@"\n' "${program#* }" >"bin/${program%% *}"
done
chmod +x bin/*
PATH=$tap_dir/bin:$PATH
found="OMPI_MCA_mca_base_component_path=$TATP_COMPONENT_PATH"
mapper=
for file in "$components/mca_rmaps_dla.so" "$components/prrte/prte_mca_rmaps_dla.so"; do
    [[ ! -e $file ]] || mapper=$file
done

within=() # command that runs the next ones

# doctor VARIABLE=VALUE... [-- ARGUMENT...]: sets said and status.
doctor() {
    local settings=()
    while [[ $# -gt 0 && $1 != -- ]]; do
        settings+=("$1")
        shift
    done
    said=$("${within[@]}" env "${settings[@]}" tatp doctor --limit "$HANG_LIMIT" "${@:2}" 2>&1)
    status=$?
}

# blames NAME TEXT: the last run ended with status 1 and one problem with this text, in one line.
blames() {
    tap_is "$status: $(grep -c "^problem .*$2" <<<"$said")" "1: 1" "$1: one line says so"
    grep -q "^problem .*$2" <<<"$said" || tap_diag "$said"
}

# finds NAME TEXT [SETTING...]: a run blames it
finds() {
    doctor "${@:3}"
    blames "$1" "$2"
}

# ---- nothing is wrong ----

if [[ -z $mapper ]]; then
    tap_skip "a good installation" "no mapper is built"
else
    doctor "$found" "OMPI_MCA_fcoll_tatp_record=$tap_dir/record"
    tap_is "$status: $(grep '^problem' <<<"$said")" "0: " "a good installation: usable"
    tap_contains "$said" "fcoll/tatp  usable: $components/mca_fcoll_tatp.so" "fcoll/tatp: the file that is used"
    tap_contains "$said" "rmaps/dla   usable: $mapper" "rmaps/dla: the file that is used"
    tap_contains "$said" "mca_topo_dla.so: --mca topo dla,basic" "topo/dla: the file that is used, and how"
    tap_contains "$said" "Open MPI    $OMPI_VERSION in " "the release"
    tap_is "$(sed -n 's/^\(topology\|devices\|locality\|recommended\) .*/\1/p' <<<"$said" | sort -u | xargs)" \
        "devices locality recommended topology" "a line for each"
    tap_check "nothing is recorded" test ! -e record
    doctor "$found" OMPI_MCA_fcoll_tatp_record=auto "XDG_CACHE_HOME=$tap_dir/cache"
    tap_is "$status" 0 "a site that records all programs: usable"
    tap_contains "$said" "by default  fcoll/tatp serves collective I/O" "... by default"
    tap_check "... the doctor is not recorded" test ! -e cache
    doctor "$found" -- --json .
    tap_is "$status: $("$PYTHON3" -c 'import json, sys
found = json.load(sys.stdin)
print(found["release"], *[c["usable"] for c in found["components"].values()], found["problems"])' \
        <<<"$said")" "0: $OMPI_VERSION True True []" "as JSON, with a folder"
    tap_described tatp.1 doctor "$said"
    tap_is "$(find . -name '.tatp-doctor*')" "" "no file is left in the folder"
    tap_is "$("$PYTHON3" -c 'import json, sys
folder = json.load(sys.stdin)["folder"]
print(folder["nodes"], folder["verdicts"], folder["ways"]["fsync"]["microseconds"] > 0)' <<<"$said")" "1 {} True" "costs of one node"
    mkdir full
    # shellcheck disable=SC2016 # for the script
    within=(unshare --map-root-user --mount sh -c 'mount -t tmpfs -o size=8k none full && exec "$@"' sh)
    if "${within[@]}" true 2>reason; then
        doctor "$found" -- full
        blames "a full file system" "write: .*/full/.*: No space left on device"
        within+=(sh -c 'mount -o remount,ro full && exec "$@"' sh)
        doctor "$found" -- full
        tap_is "$status: $said" "1: tatp: full: Read-only file system" "a file system that cannot be written"
    else
        tap_skip "a full file system" "$(head -n 1 reason)"
    fi
    within=()
    doctor "$found" OMPI_MCA_fcoll=vulcan
    tap_is "$status" 0 "fcoll is another component: usable"
    tap_check "fcoll is another component: told" grep -q "fcoll is vulcan (environment): .* fcoll_tatp_record .* no effect" <<<"$said"
    doctor "$found" OMPI_MCA_fcoll_tatp_priority=101
    tap_contains "$said" "by default  fcoll/tatp serves collective I/O" "a priority above all others"
fi

# ---- nodes with parameter files of their own ----

if ! "$CLUSTER" check >reason 2>&1; then
    tap_skip "nodes that differ" "$(head -n 1 reason)"
else
    nodes=doctor-$$
    trap '"$CLUSTER" down --name "$nodes"; rm -rf "$tap_dir"' EXIT
    "$CLUSTER" up --name "$nodes" --owner $$ --nodes 2 >started 2>&1
    mkdir -p "$HOME/.openmpi" second/.openmpi
    echo "mca_base_component_path = $TATP_COMPONENT_PATH" >"$HOME/.openmpi/mca-params.conf"
    cat >agent <<END
#!/bin/bash
[[ " \$* " != *" n1 "* ]] || export HOME=$tap_dir/second
exec "$top_srcdir/tests/cluster/agent" "\$@"
END
    chmod +x agent
    within=("$CLUSTER" exec --name "$nodes" env -u OMPI_MCA_mca_base_component_path "OMPI_MCA_plm_rsh_agent=$tap_dir/agent" "PRTE_MCA_plm_ssh_agent=$tap_dir/agent")
    hosts=(-- -- --hostfile "$TMPDIR/tatp-cluster-$UID/$nodes/hosts")
    printf '%s\n' "mca_base_component_path = $TATP_COMPONENT_PATH" "fcoll_tatp_priority = 70" "fcoll = ^individual" >second/.openmpi/mca-params.conf
    doctor "${hosts[@]}"
    if [[ $said == *"ranks do not find fcoll/tatp in $components"* ]]; then
        tap_contains "$said" "recommended export $found" "mpirun's file, without this path, instead of that of a node: the remedy"
        within+=("$found")
    else
        blames "nodes with other settings" "fcoll is .* n0 and ^individual on n1; fcoll_tatp_priority is 10 on n0 and 70 on n1"
        echo "mca_base_component_path = $OMPI_PKGLIBDIR" >second/.openmpi/mca-params.conf
        doctor "${hosts[@]}"
        blames "a node without the component" "fcoll/tatp .* n0 .* n1"
    fi
    cp "$HOME/.openmpi/mca-params.conf" second/.openmpi
    doctor "${hosts[@]}"
    tap_is "$(grep -c '^problem .* n1' <<<"$said")" 0 "nodes that are alike"
    tap_contains "$said" "hops between nodes" "... of which each has a rank"
    mkdir shared
    for folder in shared /dev/shm; do
        doctor -- "$folder" "${hosts[@]:1}"
        tap_is "$status: $(grep -c '^for .*coherent: nothing to set' <<<"$said") $(ls -A shared)" "0: 3 " "$folder: coherent between nodes"
    done
    within=()
    rm -r "$HOME/.openmpi"
fi

# ---- stripes, as tools of Lustre and BeeGFS print them ----

# say LUSTRE BEEGFS REMEDIES NAME: the tools print these texts, and notes have the remedies.
say() {
    printf '#!/bin/sh\ncat <<END\n%s\nEND\n' "$1" >bin/lfs
    printf '#!/bin/sh\ncat <<END\n%s\nEND\n' "$2" >bin/beegfs-ctl
    chmod +x bin/lfs bin/beegfs-ctl
    doctor "$found" -- .
    tap_is "$(grep -o 'run [lb][fe][a-z-]* -*set.* [.],' <<<"$said")" "$3" "$4"
    rm bin/lfs bin/beegfs-ctl
}

say 1 $'Stripe pattern details:\n+ Number of storage targets: desired: 1; actual: 1' \
    $'run lfs setstripe -c N -S 1M .,\nrun beegfs-ctl --setpattern --numtargets=N --chunksize=1m .,' "one stripe"
say $'1\n-1' "+ Number of storage targets: desired: 4" "" "several stripes"

# ---- copies ----

mkdir -p "$HOME/.openmpi/components"
cp "$components"/*.* "$HOME/.openmpi/components"
doctor "$found"
tap_contains "$said" "not used: $HOME/.openmpi/components/mca_fcoll_tatp.so" "two copies: which is not used"
tap_contains "$said" "usable: $components/mca_fcoll_tatp.so" "two copies: which is used"
doctor
if [[ $said == *"problem     ranks do not find fcoll/tatp"* ]]; then
    setting=$(sed -n 's/^recommended export \(OMPI_MCA_mca_base_component_path=.*\)/\1/p' <<<"$said")
    doctor "$setting"
fi
tap_contains "$said" "fcoll/tatp  usable: $HOME/.openmpi/components/mca_fcoll_tatp.so" "in the home folder, with a setting that is recommended"
rm -r "$HOME/.openmpi"
doctor
tap_check "not installed" grep -q "^problem .*fcoll/tatp" <<<"$said"
tap_is "$status" 1 "not installed: not usable"

# ---- files that cannot be used ----

mkdir gone
echo 'int gone(void) { return 0; }' | "${CC:-cc}" -shared -fPIC -x c -o gone/libgone.so -
echo 'int gone(void); int stub(void); int stub(void) { return gone(); }' |
    "${CC:-cc}" -shared -fPIC -x c -o gone/mca_fcoll_tatp.so - -Lgone -lgone
rm gone/libgone.so
finds "a missing library" "$tap_dir/gone/mca_fcoll_tatp.so .*libgone.so" "OMPI_MCA_mca_base_component_path=$tap_dir/gone:$OMPI_PKGLIBDIR"

mkdir part old
head -c 100000 "$components/mca_fcoll_tatp.so" >part/mca_fcoll_tatp.so
finds "a part of a file" "$tap_dir/part/mca_fcoll_tatp.so" "OMPI_MCA_mca_base_component_path=$tap_dir/part:$OMPI_PKGLIBDIR"
for file in "$components"/mca_*.so; do LC_ALL=C sed 's/tatp-dla [0-9]/tatp-dla 9/g' "$file" >"old/${file##*/}"; done
finds "another version" "$tap_dir/old/mca_fcoll_tatp.so .* 9.* [0-8]" "OMPI_MCA_mca_base_component_path=$tap_dir/old:$OMPI_PKGLIBDIR"
[[ $mapper != "$components"/mca_* ]] || blames "another version of the mapper" "$tap_dir/old/mca_rmaps_dla.so .* 9"
"${CC:-cc}" -shared -fPIC -x c -o other.so - <<'END'
#include <string.h>
int PMPI_Get_library_version(char *version, int *length);
int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "Open MPI v9.8.7, of another one");
    *length = (int)strlen(version);
    return 0;
}
const char prte_version_string[] = "9.8.7";
END
finds "another release" "$components/mca_fcoll_tatp.so: .* Open MPI v9.8.7" "$found" "LD_PRELOAD=$tap_dir/other.so"
[[ $mapper != */prrte/* ]] || blames "another release of PRRTE" "rmaps/dla .* PRRTE 9.8.7"

# ---- settings ----

romio=$("$OMPI_INFO" --parsable | sed -n 's/^mca:io:\(romio[0-9]*\):version.*/\1/p' | head -n 1)
if [[ -n $romio ]]; then
    finds "io is ROMIO" "io is $romio (environment), .* fcoll_tatp_record .* no effect: .* --mca io ompio" "$found" "OMPI_MCA_io=$romio"
    tap_contains "$said" "setting     io = $romio (environment)" "io is ROMIO: the setting"
else
    tap_skip "io is ROMIO" "this Open MPI has none"
fi
finds "no topology file" "fcoll_tatp_topology.* $tap_dir/none.conf " "$found" "OMPI_MCA_fcoll_tatp_topology=$tap_dir/none.conf"
echo 'SwitchName=s Nodes=elsewhere' >some.conf
finds "a topology without this host" "some.conf" "$found" "OMPI_MCA_fcoll_tatp_topology=$tap_dir/some.conf"
finds "no further components" "mca_base_component_disable_dlopen .*(environment)" "$found" OMPI_MCA_mca_base_component_disable_dlopen=1
sed -i.whole '1a case $* in *--all*) echo option:dlopen:no; exit ;; esac' bin/ompi_info
finds "--disable-dlopen" "--disable-dlopen"
if [[ -n $mapper ]]; then
    doctor "$found"
    tap_is "$status: $(grep '^problem' <<<"$said")" "0: " "--disable-dlopen, but both components serve: usable"
fi
mv bin/ompi_info.whole bin/ompi_info

# ---- mpirun ----

# fake_mpirun LINE...: one that says its version.
fake_mpirun() {
    printf '%s\n' '#!/bin/sh' "[ \"\$1\" != --version ] || { echo 'mpirun (Open MPI) $OMPI_VERSION'; exit; }" "$@" >bin/mpirun
}

fake_mpirun 'echo "no nodes today"; exit 7'
finds "mpirun fails" " 7: run: mpirun -np 3"
tap_contains "$said" "| no nodes today" "mpirun fails: what it says"
fake_mpirun 'exec sleep 10000'
said=$(tatp doctor --limit 1 2>&1)
status=$?
blames "mpirun hangs" " 1 s: .* --limit, or run: mpirun --map-by ppr:1:node"
mkdir left
# shellcheck disable=SC2016 # for the script
fake_mpirun 'for word; do :; done' '[ "${word%/}" != "$word" ] || exit 1' 'touch "$word/file"; exec sleep 10000'
said=$(tatp doctor --limit 1 left 2>&1)
tap_is "$?: $(grep -c 'did not end within 1 s' <<<"$said") $(ls -A left)" "1: 1 " "a time limit: no file is left in the folder"
tatp doctor left >interrupted 2>&1 &
until [[ -n $(find left -name file) ]]; do kill -0 $! || break; done
kill -TERM $!
wait $!
tap_is "$?: $(ls -A left)" "143: " "interrupted: no file is left in the folder"
# shellcheck disable=SC2016 # for the script
fake_mpirun 'for word do case $word in */tatp-probe) probe=$word ;; esac; done' 'exec "$probe" "$word"'
finds "ranks that do not find each other" "3 .* 1 .* $tap_dir/bin/mpirun" "$found"
fake_mpirun 'exec false'
sed -i "s/$OMPI_VERSION/9.8.7/" bin/mpirun
finds "mpirun of another release" "Open MPI 9.8.7, .* Open MPI $OMPI_VERSION"
printf '#!/bin/sh\necho HYDRA build details:\n' >bin/mpirun
finds "another MPI" "$tap_dir/bin/mpirun .* PATH"
rm bin/mpirun
said=$(PATH=$TOOLS_DIR tatp doctor 2>&1)
status=$?
blames "no mpirun in PATH" "mpirun .* PATH"

# ---- the command line ----

tap_refuses_each "the command line" "tatp doctor" <<'END'
1|"$tap_dir/none"|/none:
2|--ranks 0|--ranks
2|--limit none|--limit
2|one two|two
2|--fly|--fly
END
TATP_DOCTOR_DIR=/nonexistent tap_refuses 1 "/nonexistent/__main__.py: TATP_DOCTOR_DIR" tatp doctor
tap_plan
