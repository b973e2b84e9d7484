#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpirun --map-by dla: where the ranks go, what is refused and how, and that everything else
# about mapping stays as it is.

. "$top_srcdir/tests/lib/dla.sh" || exit 1

need_mapper

# ---- tools ----

# Rank r and rank r + 4 access neighbouring regions: as far from "by slot" as can be.
write_view 8 0,4,9 1,5,9 2,6,9 3,7,9 >pairs.crs

# The nodes hA to hD, as addresses of the network for documentation: names would be looked up,
# and a resolver that does not answer takes seconds. Whole words only: the name of a folder may have hA in it.
addresses() {
    printf '%s\n' "$@" | sed 's/\<hA\>/198.51.100.1/g; s/\<hB\>/198.51.100.2/g; s/\<hC\>/198.51.100.3/g; s/\<hD\>/198.51.100.4/g'
}

names() { sed 's/198\.51\.100\.1/hA/g; s/198\.51\.100\.2/hB/g; s/198\.51\.100\.3/hC/g; s/198\.51\.100\.4/hD/g'; }

# dry ARGUMENT...: the map of a job that is not started.
dry() {
    local arguments
    mapfile -t arguments < <(addresses "$@")
    launch --do-not-launch --display-map --bind-to none "${arguments[@]}" true 2>&1 | parse_map | names
}

four=hA:2,hB:2,hC:2,hD:2
pairs="0,4 1,5 2,6 3,7"

# ---- the ways to ask ----

# check_way NAME ARGUMENT...
check_way() { maps "$pairs" "$1" --host $four -np 8 "${@:2}"; }

check_way "--map-by dla:file=" --map-by dla:file=pairs.crs
if [[ $launcher == prrte ]] && ! launch -map-by slot -np 1 true 2>errors; then
    tap_skip "-map-by with one dash" "this PRRTE refuses it with every policy"
else
    check_way "-map-by with one dash" -map-by dla:file=pairs.crs
fi
check_way "--mca rmaps_base_mapping_policy dla:file=" --mca rmaps_base_mapping_policy dla:file=pairs.crs
check_way "--mca rmaps_dla_file" --mca rmaps_dla_file pairs.crs
check_way "--map-by dla with --mca rmaps_dla_file" --map-by dla --mca rmaps_dla_file pairs.crs
check_way "--mca rmaps dla with --mca rmaps_dla_file" --mca rmaps dla --mca rmaps_dla_file pairs.crs
check_way "--map-by goes before rmaps_dla_file" --mca rmaps_dla_file none.crs --map-by dla:file=pairs.crs
OMPI_MCA_rmaps_base_mapping_policy=dla:file=pairs.crs check_way "the environment, as policy"
OMPI_MCA_rmaps_base_mapping_policy=node check_way "--map-by goes before the policy in the environment" --map-by dla:file=pairs.crs
on_orte "PRRTE lets the option go before the parameter" check_way "--mca rmaps_base_mapping_policy goes before --map-by, as ever" \
    --mca rmaps_base_mapping_policy dla:file=pairs.crs --map-by node
OMPI_MCA_rmaps_dla_file=pairs.crs check_way "the environment, as file"
check_way "upper case" --map-by DLA:FILE=pairs.crs
check_way "with a method" --map-by dla:file=pairs.crs,method=setmatch
check_way "with a method by parameter" --mca rmaps_dla_file pairs.crs --mca rmaps_dla_method bisection
check_way "with a grid of the right size" --map-by dla:file=pairs.crs,cart=2x4
check_way "--rank-by does not renumber" --map-by dla:file=pairs.crs --rank-by node
check_way "an absolute name" --map-by "dla:file=$tap_dir/pairs.crs"

cp pairs.crs 'a,b:c d\e.crs'
check_way "a name with a comma, a colon, a blank and a backslash" --map-by 'dla:file=a\,b\:c d\\e.crs'
check_way "the same name as parameter" --mca rmaps_dla_file 'a,b:c d\e.crs'

{
    echo FILEVIEW
    echo "% a comment"
    sed 1d pairs.crs
    echo "SECTION of a later format"
} >recorded.crs
check_way "a file with comments and a section of a later format" --map-by dla:file=recorded.crs

# ---- what a placement is ----

# The strong pairs count alone, not the weak ring.
write_view 4 0,2,100 1,3,100 0,1,50 2,3,50 >ring.crs
maps "0,2 1,3" "only values within the threshold of the largest count" --host hA:2,hB:2 -np 4 --map-by dla:file=ring.crs
maps "0,1,2,3 4,5,6,7" "a grid keeps its outermost coordinate together" --host hA:4,hB:4 -np 8 --map-by dla:cart=2x4
maps "0,1,2,3 4,5,6,7" "a grid by parameter" --host hA:4,hB:4 -np 8 --mca rmaps_dla_cart 2x4
map=$(dry --host hA:1,hB:3,hC:2,hD:4 -np 8 --map-by dla:file=pairs.crs)
tap_is "$(by_node "$map" | awk -F'[:,]' '{ slots["hA"] = 1; slots["hB"] = 3; slots["hC"] = 2
    slots["hD"] = 4; if (NF - 1 > slots[$1]) print "over", $0; n += NF - 1 } END { print n }')" 8 \
    "unequal nodes: no node beyond its slots, no rank lost"

said=$(launch --host localhost:8 -np 8 --bind-to none --mca rmaps_dla_verbose 1 --map-by dla:file=pairs.crs true 2>&1)
tap_contains "$said" " 36 of 36 by slot, 36 of 36 placed" "the verbose line tells what it is worth"
said=$(launch --host localhost:8 -np 8 --bind-to none --map-by dla:file=pairs.crs true 2>&1)
tap_is "$(grep 'dla: ' <<<"$said" | sed 's/.*dla: //; s/:.*//')" "not placed by pairs.crs" "without being asked one line is told"
# others RECORDED...: of which of them a line says that a record is theirs and not true's
others() {
    for recorded; do
        sed "1a % view matrix\n% program: $recorded" pairs.crs >of.crs
        launch --host localhost:8 -np 8 --bind-to none --map-by dla:file=of.crs /bin/true 2>&1 | sed -n 's/.*of.crs is a record of \(.*\), which.*/\1/p'
    done | xargs
}
if [[ $OMPI_VERSION != 6.* ]]; then
    tap_is "$(others true "./other 2" truer untrue)" "truer untrue" "a record of another program: a line says so"
else
    tap_skip "a record of another program" "mpirun of Open MPI 6 does not tell the mapper which program it starts"
fi

# ---- choices ----

check_way "a method by parameter, in upper case" --mca rmaps_dla_file pairs.crs --mca rmaps_dla_method SETMATCH
check_way "the policy goes before a parameter" --map-by dla:file=pairs.crs,method=setmatch --mca rmaps_dla_method byslot
# ---- slots, hosts, application contexts ----

map=$(dry --host $four -np 12 --map-by dla:cart=12:OVERSUBSCRIBE)
tap_is "$(by_node "$map" | awk -F, '{ print NF }' | sort -u | tr '\n' ' ')" "3 " ":OVERSUBSCRIBE grows all nodes evenly"
map=$(dry --host $four -np 10 --oversubscribe --map-by dla:cart=10)
tap_is "$(by_node "$map" | awk -F, '{ print NF }' | sort -n | tr '\n' ' ')" "2 2 3 3 " \
    "--oversubscribe, not a multiple of the nodes"
addresses 'hA slots=2 max_slots=3' 'hB slots=2' >hosts
map=$(dry --hostfile hosts -np 8 --map-by dla:cart=8:OVERSUBSCRIBE)
tap_is "$(by_node "$map" | awk -F'[:,]' '{ print $1, NF - 1 }' | tr '\n' ' ')" "hA 3 hB 5 " "max_slots bounds a node also then"
# By slot as mpirun has it, of a record by which nothing is gained, and of the method.
write_view 10 </dev/null >apart.crs
for over in "--host $four" "--host hA:4,hD:1" "--host hA:1,hB:3,hC:2"; do
    read -ra over <<<"$over"
    stock=$(dry "${over[@]}" -np 10 --map-by slot:OVERSUBSCRIBE)
    for item in "" ,method=byslot; do
        tap_is "$(dry "${over[@]}" -np 10 --map-by "dla:file=apart.crs$item:OVERSUBSCRIBE")" "$stock" \
            "rank by rank as --map-by slot:OVERSUBSCRIBE: ${over[*]} ${item#,}"
    done
done
maps "0,2 1,3" "--hostfile" --hostfile hosts -np 4 --map-by dla:file=ring.crs
on_orte "a mapping policy of its own in PRRTE" tap_is "$(dry --host $four -np 4 --npernode 1 --map-by dla:cart=4 | tr -cd :)" "::::" "--npernode"
check_way ":SPAN" --map-by dla:file=pairs.crs:SPAN
maps "$pairs" "several application contexts: the matrix spans them" --host $four --map-by dla:file=pairs.crs -np 3 true : -np 5
maps "$pairs" "the policy in each application context" --host $four --map-by dla:file=pairs.crs -np 3 true : --map-by dla:file=pairs.crs -np 5
map=$(dry --map-by dla:file=pairs.crs --host hA:2,hB:2 -np 4 true : --host hC:2,hD:2 -np 4)
tap_is "$(by_node "$map" | sed -n '/h[AB]/s/.*://p' | tr ',\n' '  ' | xargs -n1 | sort | xargs)" "0 1 2 3" \
    "each application context keeps to its own hosts"

# allocated ARGUMENT...: dry in an allocation of Slurm, two nodes of two slots. There Open MPI
# leaves the number of ranks to the mapper when no -np is given.
allocated() { SLURM_JOBID=1 SLURM_NODELIST=$(addresses hA,hB) SLURM_TASKS_PER_NODE="2(x2)" dry --mca plm rsh "$@"; }

if [[ $("$OMPI_INFO" --parsable) == *mca:ras:slurm:* ]]; then
    tap_is "$(sets "$(allocated --map-by dla:file=ring.crs)")" "0,2 1,3" "an allocation, without -np: all its slots"
    tap_is "$(sets "$(allocated -np 2 --map-by dla:cart=2)")" "0,1" "an allocation, with -np"
else
    tap_skip "an allocation, without -np" "this Open MPI knows no Slurm"
fi

# ---- what is refused ----

# One block of Open MPI's help system, nothing around it.
one_block() {
    awk '/^-----*$/ { bars++; next } bars != 1 && NF { stray = 1 } END { exit !(bars == 2 && !stray) }' <<<"$1"
}

# refused 'NAME...' ARGUMENT...: a start on this machine (or $hosts) fails with one message that has each NAME, and no rank starts.
hosts="--host localhost:8"
refused() {
    local status why
    rm -f started
    # shellcheck disable=SC2086 # two words
    said=$(launch $hosts "${@:2}" touch started 2>&1)
    status=$?
    why=$(unnamed "$1" "$said")
    ((status > 0 && status != 124 && status != 137)) || why+=" status $status"
    [[ ! -e started ]] || why+=" a rank was started"
    # PRRTE 5 adds a line of its own to whatever keeps a job from being mapped
    one_block "$(grep -v 'PMIx_Spawn failed' <<<"$said")" || why+=" not one message"
    tap_lacks "refused: ${*:2}" "$why${why:+: $said}"
}

# What the readers refuse, and how: tests/unit/test_matrix.c.
sed 's/^9 9/9 x/' pairs.crs >bad.crs
write_view 16 0,15,1 >sixteen.crs
mkfifo fifo.crs
echo "localhost slots=2 max_slots=8" >limited
# What the text of a policy may have: tests/unit/test_dla_spec.c. A word that only begins like ours is Open MPI's to refuse.
while IFS='|' read -r named arguments; do
    # shellcheck disable=SC2086 # words
    refused "$named" -np $arguments </dev/null
done <<END
none.crs|8 --map-by dla:file=none.crs
none.crs|8 --mca rmaps_dla_file none.crs
bad.crs:4|8 --map-by dla:file=bad.crs
sixteen.crs 16 8|8 --map-by dla:file=sixteen.crs
fifo.crs|8 --map-by dla:file=fifo.crs
dla:foo=1 "foo=1"|8 --map-by dla:foo=1
"NOSUCH"|8 --map-by dla:file=pairs.crs:NOSUCH
threshold|8 --map-by dla:file=pairs.crs,threshold=10
rmaps_dla_method best setmatch|8 --mca rmaps_dla_file pairs.crs --mca rmaps_dla_method best
rmaps_dla_cart 4y2|8 --mca rmaps_dla_cart 4y2
3x3 9 8|8 --map-by dla:cart=3x3
3x3 9 8|8 --map-by dla:file=pairs.crs,cart=3x3
file= cart=|8 --map-by dla
file= cart=|8 --mca rmaps dla
slots 9|9 --map-by dla:cart=9
slots 9|9 --map-by dla:cart=9:NOOVERSUBSCRIBE
dlax|8 --map-by dlax
END
hosts="--hostfile limited" refused slots -np 9 --map-by dla:cart=9:OVERSUBSCRIBE

# dry_refused NAME ARGUMENT...
dry_refused() {
    tap_check_fails "not launching, $1: mpirun fails" launch --do-not-launch --host localhost:8 "${@:2}" true
}
dry_refused "a missing file" -np 8 --map-by dla:file=none.crs
dry_refused "a matrix of the wrong size" -np 4 --map-by dla:file=pairs.crs
dry_refused "more ranks than slots" -np 9 --map-by dla:cart=9

# ---- stock policies ----

for policy in slot node slot:OVERSUBSCRIBE core; do
    with=$(dry --host hA:2,hB:2 -np 4 --map-by $policy)
    without=$(OMPI_MCA_rmaps=^dla dry --host hA:2,hB:2 -np 4 --map-by $policy)
    tap_is "$with" "$without" "--map-by $policy maps as it does without the component"
done
tap_is "$(dry --host hA:2,hB:2 -np 4 --mca rmaps_dla_file none.crs --map-by node)" "hA:0,2 hB:1,3" \
    "another --map-by goes before rmaps_dla_file"
on_orte "PRRTE lets the option go before the parameter" tap_is \
    "$(dry --host hA:2,hB:2 -np 4 --mca rmaps_base_mapping_policy node --map-by dla:file=none.crs)" \
    "hA:0,2 hB:1,3" "--mca rmaps_base_mapping_policy goes before our --map-by"
tap_is "$(OMPI_MCA_rmaps_base_mapping_policy=dla:file=none.crs dry --host hA:2,hB:2 -np 4 --map-by node)" \
    "hA:0,2 hB:1,3" "another --map-by goes before our policy in the environment"

# ---- real starts ----

tap_is "$(launch --host localhost:8 -np 8 --map-by dla:file=pairs.crs sh -c "$where_am_i" | awk '{ print $1 }' | sort | xargs)" \
    "0 1 2 3 4 5 6 7" "a job on this machine"
tap_is "$(launch --host localhost:1 -np 8 --map-by dla:file=pairs.crs:OVERSUBSCRIBE sh -c "$where_am_i" | wc -l)" 8 \
    "an oversubscribed job on this machine"
tap_is "$(launch --host localhost:2 -np 2 --map-by dla:cart=2 sh -c "$where_am_i" | wc -l)" 2 \
    "a job of two ranks, which are bound to cores by default"
tap_check_fails "a binding that was asked for and cannot be had is an error" \
    launch --host localhost:999 -np 512 --bind-to core --map-by dla:cart=512 true
tap_check "and Open MPI tells it" grep -q -e "processes than cpus" -e "found no available cpus" <<<"$tap_output"

if "$MPICC" -o spawn "$top_srcdir/tests/dla/spawn.c" && "$MPICC" -o columns "$top_srcdir/tests/dla/columns.c"; then
    # PRRTE binds the children to cores, of which there may be two.
    children=$([[ $launcher == orte ]] && echo 3 || echo 1)
    said=$(launch --host localhost:8 -np 4 --bind-to none --map-by dla:file=ring.crs ./spawn "$children" 2>&1)
    tap_is "$(grep -c ^parent <<<"$said") $(grep -c ^child <<<"$said")" "4 $children" "MPI_Comm_spawn: a child job of another size"
    said=$(launch --host localhost:8 -np 4 --bind-to none --mca rmaps dla --mca rmaps_dla_file ring.crs ./spawn 3 2>&1)
    tap_is "$(grep -c ^parent <<<"$said") $(grep -c ^child <<<"$said")" "4 3" "MPI_Comm_spawn with --mca rmaps dla"
    rm -f fileview_info.out
    launch --host localhost:8 -np 8 --bind-to none --mca io ompio --mca fcoll vulcan \
        --mca io_ompio_record_file_offset_info 1 ./columns "$tap_dir/columns.out" >record.log 2>&1
    check_way "what stock Open MPI records (fileview_info.out)" --map-by dla:file=fileview_info.out
else
    tap_not_ok "the test programs compile"
fi

# ---- several daemons ----

make_agent
mkdir -p home/.openmpi/components
cp -R "$component_folder/." home/.openmpi/components

# remote ARGUMENT...: the program on four nodes (or $nodes), each with its own daemon; mpirun finds the component where a user
# installs it.
program=(sh -c "$where_am_i")
remote() {
    : >daemons
    HOME=$tap_dir/home env -u OMPI_MCA_mca_base_component_path timeout --kill-after=5 "$HANG_LIMIT" "$MPIRUN" \
        --mca plm_rsh_agent "$tap_dir/agent" --host "${nodes:-n0:2,n1:2,n2:2,n3:2}" "$@" "${program[@]}" 2>errors
}

# by_host: which ranks are together, from "RANK HOST ..." lines
by_host() {
    sort -n | awk '{ set[$2] = set[$2] (set[$2] == "" ? "" : ",") $1 } END { for (h in set) print set[h] }' |
        sort -t, -n | tr '\n' ' ' | sed 's/ $//'
}

# check_remote NAME ARGUMENT...
check_remote() { tap_is "$(remote -np 8 "${@:2}" | by_host)" "$pairs" "four daemons: $1"; }

# as_slot NAME POLICY QUALIFIER ARGUMENT...: the processors of each node are used as with --map-by slot; with $fields, by the
# same ranks.
as_slot() {
    tap_is "$(remote "${@:4}" --map-by "$2$3" | cut -d ' ' -f "${fields:-2,3}" | sort)" \
        "$(remote "${@:4}" --map-by "slot$3" | cut -d ' ' -f "${fields:-2,3}" | sort)" "$1"
}

if [[ -z $isolate ]]; then
    tap_skip "several daemons" "host names of one's own are not permitted here"
else
    check_remote "without the component: --map-by" --mca rmaps_dla_verbose 1 --map-by dla:file=pairs.crs
    tap_contains "$(cat errors)" " 0 of 36 by slot, 36 of 36 placed" "what the placement is worth, on four nodes"
    tap_is "$(grep -c 'dla:' daemons)" 0 "no daemon sees our policy"
    check_remote "the parameter for the policy" --mca rmaps_base_mapping_policy dla:file=pairs.crs
    tap_is "$(grep -c 'dla:' daemons)" 0 "no daemon sees our policy in the parameter"
    OMPI_MCA_rmaps_base_mapping_policy=dla:file=pairs.crs check_remote "the environment"
    tap_is "$(grep -c 'dla:' daemons)" 0 "no daemon sees our policy in the environment"
    check_remote "rmaps_dla_file" --mca rmaps_dla_file pairs.crs
    if [[ $OMPI_VERSION == 5.* ]]; then
        tap_skip "four daemons: two application contexts" "PRRTE 3.0.8 loses its daemons, with its own mappers too"
    else
        tap_is "$(remote --map-by dla:file=pairs.crs -np 3 "${program[@]}" : -np 5 | by_host)" "$pairs" \
            "four daemons: two application contexts"
    fi
    tap_is "$(nodes=localhost:4,n0:4,n1:4 remote -np 8 --map-by dla:cart=2x4:NOLOCAL | by_host)" \
        "0,1,2,3 4,5,6,7" ":NOLOCAL leaves mpirun's own node alone"
    fields=1-3 nodes=n0:1,n1:1 as_slot ":PE=2 does what it does with slot" dla:cart=2 :PE=2 -np 2
    if (($(nproc) < 2)); then
        tap_skip "binding on four daemons" "one processor only"
    else
        for binding in core numa; do
            as_slot "--bind-to $binding: the processors of each node are used as with --map-by slot" dla:file=pairs.crs "" -np 8 --bind-to $binding
        done
        as_slot "the default binding is that of --map-by slot" dla:file=pairs.crs "" -np 8
        as_slot "oversubscribed: as many on each node as with slot, and not bound" dla:cart=16 :OVERSUBSCRIBE -np 16
    fi
    program=(touch "$tap_dir/started")
    remote -np 8 --map-by dla:file=none.crs >output
    status=$?
    tap_is "$((status > 0 && status != 124 && status != 137)) $([[ -e started ]] && echo started)" "1 " \
        "four daemons: a missing file ends mpirun"
    tap_contains "$(cat errors)" "none.crs" "and is named"
fi

# ---- two installations of PRRTE ----

# As if the mpirun that comes first in PATH were of another release than the component was built for.
if [[ $launcher == prrte ]]; then
    echo 'const char prte_version_string[] = "9.9.1";' | "$MPICC" -shared -fPIC -x c -o other.so -
    for arguments in "" "--map-by dla:cart=1"; do
        # shellcheck disable=SC2086 # no or two words
        said=$(LD_PRELOAD=$tap_dir/other.so launch -np 1 $arguments echo started 2>&1)
        tap_contains "$said" "PRRTE 9.9.1" "another PRRTE, mpirun $arguments: both releases are named"
    done
    tap_contains "$said" "not recognized" "and the policy is refused"
fi

if [[ $launcher == prrte ]]; then
    HOME=$tap_dir/home
    "$TOOLS_DIR/dla" setup --write >output
    # the mapper that is built, not one that is installed
    sed -i "s|prte@.*|prte@$component_folder/prrte|" home/.pmix/mca-params.conf
    tap_is "$(sets "$(unset PMIX_MCA_mca_base_component_path
        dry --host $four -np 8 --map-by dla:file=pairs.crs)")" "$pairs" "the mapper is found by what dla setup --write stores"
fi

# ---- other programs ----

why="ompi_info lists nothing of PRRTE"
on_orte "$why" tap_contains "$("$OMPI_INFO" --param rmaps dla --level 9 2>/dev/null)" \
    '"rmaps_dla_file"' "ompi_info lists the parameters"
said=$(OMPI_MCA_rmaps_base_mapping_policy=dla:file=none.crs "$OMPI_INFO" --param rmaps base --level 9 --parsable 2>/dev/null)
on_orte "$why" tap_contains "$said" "mapping_policy:value:\"dla:file=none.crs\"" "ompi_info shows our policy as it was given"
on_orte "$why" tap_is "$("$OMPI_INFO" --param rmaps dla --level 9 --parsable 2>/dev/null | awk -F: '/:help:/ && $NF == ""' | wc -l)" 0 \
    "every parameter has a help text"
if [[ -x spawn ]]; then
    OMPI_MCA_rmaps_base_mapping_policy=dla:file=none.crs tap_check \
        "a program started without mpirun, which starts one of its own for its children" timeout "$HANG_LIMIT" ./spawn 1
fi

tap_plan
