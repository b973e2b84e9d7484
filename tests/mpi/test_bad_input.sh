#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What fcoll/tatp cannot use is as if it were not given: one clear message, and the program's data are written. With
# fcoll_tatp_strict all calls fail, and files stay whole.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp

# bad NAME=VALUE [QUOTED]: the message names the parameter, and quotes its value or something else.
bad() {
    echo "$1" >>"$files/bad"
    told+="fcoll_tatp_${1%%=*} ${2-${1#*=}}"$'\n'
}

# good NAME=VALUE: so that those above are refused for their own reason.
good() { echo "accept|$1" >>"$files/good"; }

# hops NAME LINE...: a Matrix Market file.
hops() { printf '%s\n' '%%MatrixMarket matrix array real general' "${@:2}" >"$files/$1"; }

for setting in num_aggregators=abc shared_memory=maybe strategy=fastest domains=striped stripe_size=-1 \
    stripe_size=4294967297 stripe_count=-2; do
    bad $setting
done

bad topology="$files/none.mtx"
hops word.mtx '1 1' zero
bad topology="$files/word.mtx" "$files/word.mtx, line 3"
hops short.mtx '2 2' 0 2 2
bad topology="$files/short.mtx" "$files/short.mtx, line 2"
hops wide.mtx '1 2' 0 2
bad topology="$files/wide.mtx"
: >"$files/empty.mtx"
bad topology="$files/empty.mtx"
hops others.mtx '% hosts elsewhere1 elsewhere2' '2 2' 0 2 2 0
bad topology="$files/others.mtx"
printf '\nSwitchName=leaf Nodes=n[1-2,%s\n' "$(hostname)" >"$files/open.conf"
bad topology="$files/open.conf" "$files/open.conf, line 2"

mkfifo "$files/fifo"
ln -s none/view.crs "$files/dangling"
echo "a letter" >"$files/letter"
mkdir "$files/folder" "$files/kept~"
for record in "$files"/{none/view.crs,fifo,dangling,letter,folder,kept} /dev/null; do bad record="$record"; done
for stats in "$files"/{letter,folder} /dev/null; do bad stats="$stats"; done
bad stats="$files/none/%x.json" "$files/none/conformance_hints.json"

hops good.mtx "% hosts elsewhere $(hostname)" '2 2' 0 2 2 0
good topology="$files/good.mtx"
printf 'SwitchName=leaf Nodes=n[1-2],%s\n' "$(hostname)" >"$files/slurm.conf"
for setting in stats="$files/stats.json" topology="$files/slurm.conf" strategy=latp_count strategy=otp strategy=tatp; do
    good "$setting"
done

# More ranks than records: a process says once that it cannot write one.
cases=(table)
tap_is "$(stat -c %F /dev/null)" "character special file" "a device: here before"
sed 's/^/accept|/' "$files/bad" | cat - "$files/good" >"$files/table"
conform conformance_hints "the default in place of what is invalid" run_here 7 --mca fcoll tatp
tap_is "$(stat -c %F /dev/null)" "character special file" "a device: and afterwards"
tap_is "$(cat "$files/letter")" "a letter" "a file that is no record is left"
tap_is "$(sed -n 's/.*MCA parameter \(fcoll_tatp_[a-z_]*\).*/\1/; T; N; N; s/\n\n */ /p' "$tap_dir/output" | sort)" \
    "$(sort <<<"${told%?}")" "each is told once"
tap_contains "$(grep -A 3 others.mtx "$tap_dir/output")" "$(hostname)" "a host that is not in the topology is named"

# Values that are too long for anything, and that a terminal would obey; of some parameters from a file.
long=$(head -c 100000 /dev/zero | tr '\0' x)
printf 'fcoll_tatp_%s = %s\n' domains $'a\e[2Jb' topology $'\e]0;x\a' num_aggregators 99999999999999999999 "${long:0:5000}" 1 >"$files/params"
hostile() {
    OMPI_MCA_mca_base_param_files=$files/params OMPI_MCA_fcoll_tatp_strategy=$long OMPI_MCA_fcoll_tatp_record=$long \
        OMPI_MCA_fcoll_tatp_stats=$long run_here 3 --mca io ompio --mca fcoll tatp "$cube" --size=8 --verify --file="$files/cube"
}
tap_check "hostile values: the data are written" hostile
tap_is "$(tr -d '\n\t' <<<"$tap_output" | tr -cd '[:cntrl:]' | wc -c)" 0 "hostile values: nothing that a terminal obeys"
tap_is "$(grep -c 'MCA parameter.*fcoll_tatp_' <<<"$tap_output")" 7 "hostile values: one message each"

# blamed OPTION... PROGRAM...: the parameters of which it is said that they cannot be used, each time. $tap_dir/output has
# all that is said.
blamed() {
    run_here 2 "$@" >"$tap_dir/output" 2>&1
    grep -a -o 'MCA parameter fcoll_tatp_[a-z]*' "$tap_dir/output" | sed 's/.*tatp_//; /strict/d' | sort | xargs
}
program=("$cube" --size=8 --verify --file="$files/cube")
export OMPI_MCA_io=ompio OMPI_MCA_fcoll=tatp OMPI_MCA_fcoll_tatp_domains=striped
for mistake in "topology $files/none.mtx" "record $files/none/view.crs" "stats $files/none/stats.json"; do
    read -r -a options <<<"--mca fcoll_tatp_$mistake"
    tap_is "$(blamed "${options[@]}" "${program[@]}")" "$(printf '%s\n' domains "${mistake%% *}" | sort | xargs)" "once: ${options[*]}"
    options+=(--mca fcoll_tatp_strict true --mca fcoll_tatp_domains auto)
    tap_is "$(blamed "${options[@]}" "${program[@]}")" "${mistake%% *}" "once: ${options[*]}"
    tap_check "... and the calls fail" grep "^cube: .* MPI_ERR_A[CR]" "$tap_dir/output"
    tap_is "$(grep -c "continues\|not affected" "$tap_dir/output")" 0 "... of which nothing says the contrary"
done
mkdir "$files/cube.d"
for parameter in record stats; do
    tap_is "$(blamed --mca "fcoll_tatp_$parameter" "$files/%x.d/$parameter" "${program[@]}")" domains "$parameter: a folder with a pattern is not blamed"
    tap_check "... and written" test -s "$files/cube.d/$parameter"
done
# A program that uses none of it hears of none, whatever the environment has.
tap_is "$(run_here 2 --mca io ^ompio --mca fcoll_tatp_record "$files/none/view.crs" "${program[@]}" 2>&1 | grep fcoll_tatp)" "" "nothing without the component"
unset OMPI_MCA_io OMPI_MCA_fcoll OMPI_MCA_fcoll_tatp_domains

# unknown ARGUMENT...: what mpirun with these says about names of parameters that there are not
unknown() {
    run_here 2 "$@" --mca fcoll tatp "$cube" --size=8 --file="$files/cube" 2>&1 | sed -n 's/.*MCA parameter \(fcoll_tatp_[a-z]*\);.* \(fcoll_tatp[a-z_]*\).*/\1 \2/p' | sort
}
tap_is "$(unknown --mca fcoll_tatp_stat x --mca fcoll_tatp_zzzzzz x --mca fcoll_tatp_ x)" \
    "fcoll_tatp_ fcoll_tatp
fcoll_tatp_stat fcoll_tatp_stats
fcoll_tatp_zzzzzz fcoll_tatp" "unknown names: a near one is proposed, if there is one"
if [[ $OMPI_VERSION == 4.* ]]; then
    echo "fcoll_tatp_stat = x" >"$files/am"
    tap_is "$(unknown -am "$files/am")" "fcoll_tatp_stat fcoll_tatp_stats" "-am FILE: unknown names"
    echo "--mca fcoll_tatp_stat x -x OMPI_MCA_fcoll_tatp_recrod=x --mca fcoll_tatp_domains even" >"$files/tune"
    tap_is "$(unknown --tune "$files/tune")" "fcoll_tatp_recrod fcoll_tatp_record
fcoll_tatp_stat fcoll_tatp_stats" "--tune FILE: unknown names"
fi

# The file of the component, copied to a folder without any other.
mkdir "$tap_dir/alone"
cp "$top_builddir/components/mca_fcoll_tatp.so" "$tap_dir/alone"
alone() {
    OMPI_MCA_mca_base_component_path=$tap_dir/alone:$OMPI_PKGLIBDIR run_here 3 --mca io ompio --mca fcoll tatp \
        --mca fcoll_tatp_domains striped "$cube" --size=8 --verify --file="$files/cube"
}
tap_check "the component alone: the data are written" alone
tap_contains "$tap_output" "The MCA parameter fcoll_tatp_domains has the value

  striped

which cannot be used. Valid values: auto, even, stripe, fitted.
The run continues with auto." "the component alone: the whole message"

sed 's/^/refuse|/' "$files/bad" | cat - "$files/good" >"$files/table"
conform conformance_hints "strict" run_here 7 --mca fcoll tatp --mca fcoll_tatp_strict true
tap_contains "$(cat "$tap_dir/output")" "The MCA parameter fcoll_tatp_strict is set" "strict: with the reason"
tap_plan
