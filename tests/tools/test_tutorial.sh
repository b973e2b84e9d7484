#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# doc/tutorial.md, word for word. Each line of its indented blocks that begins with "$ " is run, in order and in one
# shell. What the page shows below a command is what it must print, except times, and the line that names a record; "..."
# stands for any lines. The bytes that `cluster links` counts may differ by a quarter, and by what mpirun and its daemons
# send each other.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

page=$top_srcdir/doc/tutorial.md
need_component fcoll tatp
need_component rmaps dla
reason=$("$CLUSTER" check 2>&1) || tap_skip_all "$(head -n 1 <<<"$reason")"

# The reader's PATH and home folder.
mkdir "$tap_dir/bin" "$tap_dir/home"
compilers=$(dirname "$(command -v "$MPICC")")
for program in "mpicc $MPICC" "mpifort $compilers/mpifort" "python3 $PYTHON3"; do
    printf '#!/bin/sh\nexec "%s" "$@"\n' "${program#* }" >"$tap_dir/bin/${program%% *}"
done
chmod +x "$tap_dir/bin/"*
PATH=$tap_dir/bin:$TOOLS_DIR:$PATH
export HOME=$tap_dir/home
trap '"$CLUSTER" down >/dev/null 2>&1; rm -rf "$tap_dir"' EXIT

# unfit SECTION COMMAND: why a command cannot run here, or nothing.
unfit() {
    case $1 in
    *Fortran*)
        echo 'use mpi_f08; end' >"$tap_dir/empty.f90"
        mpifort -o "$tap_dir/empty" "$tap_dir/empty.f90" 2>/dev/null || echo "mpifort compiles nothing (apt-get install gfortran)"
        ;;
    *Python*)
        H5PY_ALWAYS_USE_MPI=1 python3 -c 'import mpi4py, sys
mpi4py.rc.initialize = False
import h5py
sys.exit(not h5py.get_config().mpi)' 2>/dev/null ||
            echo "Python has no mpi4py, or no h5py with MPI (apt-get install python3-mpi4py python3-h5py-mpi)"
        ;;
    esac
    case $2 in
    "tatp report "*) python3 -c 'import jinja2' 2>/dev/null || echo "python3-jinja2 is not installed" ;;
    esac
}

# The line about the record may come before or after others: it is printed on standard error.
without_times() {
    sed -E '/^\[.*\] fcoll:tatp: the accesses of .* are recorded in /d; s/^\[.*\] (dla: placed by .*:) .*/\1/; s/[0-9]*\.?[0-9]+ s\>/N s/g; s/^(time|compared): .*/\1:/'
}

# matches WANTED GOT: as the page says.
matches() {
    local pattern
    pattern=$(without_times <<<"$1" | sed 's/[][*?\\]/\\&/g; s/^\.\.\.$/*/')
    # shellcheck disable=SC2053 # a pattern
    [[ $(without_times <<<"$2") == $pattern ]]
}

near() { awk -v wanted="$1" -v got="$2" 'BEGIN { d = got - wanted; exit !(d * d < (wanted / 4 + 400000) ^ 2) }'; }

# follow SECTION COMMAND WANTED: runs the command as the reader would, and compares.
follow() {
    local name="$1: $2" status got reason
    reason=$(unfit "$1" "$2")
    if [[ -n $reason ]]; then
        tap_skip "$name" "$reason"
        return
    fi
    eval "$2" >"$tap_dir/said" 2>&1 </dev/null
    status=$?
    got=$(tr -d '\0' <"$tap_dir/said")
    if ((status != 0)); then
        tap_not_ok "$name" "status $status: $got"
    elif [[ -z $3 ]] || { [[ $2 == "cluster links"* ]] && near "$3" "$got"; } || matches "$3" "$got"; then
        tap_ok "$name"
    else
        tap_not_ok "$name" "the page: $3
here:     $got"
    fi
}

cd "$top_srcdir" || exit 1
section='' command='' wanted=''
while IFS= read -r line <&3; do
    text=${line#    }
    if [[ $command == *\\ && $line == "    "* ]]; then
        command=${command%\\}${text#"${text%%[! ]*}"}
        continue
    fi
    if [[ $line == "    "* && $text != '$ '* ]]; then
        [[ -z $command ]] || wanted+=${wanted:+$'\n'}$text
        continue
    fi
    [[ -z $command ]] || follow "$section" "$command" "$wanted"
    command='' wanted=''
    case $line in
    "#"*) section=${line##*# } ;;
    '    $ '*) command=${text#'$ '} ;;
    esac
done 3< <(cat "$page" && echo)
tap_check "the page has commands" test "$tap_count" -gt 10
cd / || exit 1
tap_plan
