# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# TAP for shell tests. Source it, report each result, end with tap_plan:
#     . "$top_srcdir/tests/lib/tap.sh"
#     tap_check "the tool says its version" "$TOOLS_DIR/dla" --version
#     tap_is "$(sum 1 2)" 3 "sum adds"
#     tap_plan
# A script that dies before tap_plan has no plan, and counts as failed.

tap_count=0
tap_failures=0

# tap_ok NAME
tap_ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

# tap_not_ok NAME [DIAGNOSTIC]
tap_not_ok() {
    tap_count=$((tap_count + 1))
    tap_failures=$((tap_failures + 1))
    echo "not ok $tap_count - $1"
    [ -z "${2-}" ] || tap_diag "$2"
}

# tap_skip NAME REASON
tap_skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# tap_diag TEXT: each line as a comment, so that no output passes for a result.
tap_diag() { printf '%s\n' "$1" | sed 's/^/#   /'; }

# tap_check NAME COMMAND [ARGUMENT...]: ok when the command succeeds.
tap_check() {
    tap_name=$1
    shift
    if tap_output=$("$@" 2>&1); then
        tap_ok "$tap_name"
    else
        tap_not_ok "$tap_name" "status $? of: $*
$tap_output"
    fi
}

# tap_check_fails NAME COMMAND [ARGUMENT...]: ok when it exits non-zero, not by a signal.
# $tap_output holds what it wrote.
tap_check_fails() {
    tap_name=$1
    shift
    tap_output=$("$@" 2>&1)
    tap_status=$?
    if [ "$tap_status" -gt 0 ] && [ "$tap_status" -lt 124 ]; then
        tap_ok "$tap_name"
    else
        tap_not_ok "$tap_name" "status $tap_status of: $*
$tap_output"
    fi
}

# tap_refuses STATUS 'NAME...' COMMAND [ARGUMENT...]: a refusal, which says what is wrong. It ends with STATUS, and writes one line on
# standard error and nothing on standard output. The line begins with the name of COMMAND and has each NAME: a file and its line, an
# option, a value. The wording is free. Hints about usage do not count. The files out and err have what was written.
tap_refuses() {
    tap_status=$1
    tap_names=$2
    shift 2
    "$@" >out 2>err
    tap_lacks "refused: $*" "$(tap_no_refusal $? "$tap_status" "$1" "$tap_names")"
}

# tap_refuses_each NAME [COMMAND]: each line "STATUS|ARGUMENTS|NAME..." of the input is a refusal of COMMAND ARGUMENTS, which the shell
# reads. One result.
tap_refuses_each() {
    tap_lacks "$1" "$(while IFS='|' read -r tap_status tap_command tap_names; do
        tap_command="${2-}${2+ }$tap_command"
        eval "$tap_command" </dev/null >out 2>err
        tap_faults=$(tap_no_refusal $? "$tap_status" "${tap_command%% *}" "$tap_names")
        [ -z "$tap_faults" ] || printf '%s\n' "$tap_command:" "$tap_faults"
    done)"
}

# tap_no_refusal STATUS WANTED PROGRAM 'NAME...': why the files out and err are not those of a refusal, or nothing
tap_no_refusal() (
    set -f
    said=$(grep -v '^Try `\|^usage: \|^  ' err)
    [ "$1" -eq "$2" ] || echo "status $1, not $2"
    [ ! -s out ] || echo "standard output: $(head -n 3 out)"
    case $said in
    *'
'*) echo "more than one line: $said" ;;
    "${3##*/}: "* | "${3##*/} "[a-z]*": "*) ;;
    *) echo "does not begin with ${3##*/}: $said" ;;
    esac
    for name in $4; do
        case $said in
        *"$name"*) ;;
        *) echo "does not name $name: $said" ;;
        esac
    done
)

# tap_lacks NAME FAULTS: ok when there are none.
tap_lacks() { if [ -z "$2" ]; then tap_ok "$1"; else tap_not_ok "$1" "$2"; fi; }

# tap_is GOT WANTED NAME
tap_is() {
    if [ "$1" = "$2" ]; then
        tap_ok "$3"
    else
        tap_not_ok "$3" "got:    $1
wanted: $2"
    fi
}

# tap_contains TEXT PART NAME
tap_contains() {
    case $1 in
    *"$2"*) tap_ok "$3" ;;
    *) tap_not_ok "$3" "not found: $2
in: $1" ;;
    esac
}

# tap_described PAGE NAME JSON: the last item NAME of a manual page has the keys of what a program prints. Names of files
# are no keys.
tap_described() {
    tap_is "$("${PYTHON3:-/usr/bin/python3}" -c 'import json, re, sys
def keys(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {*(value if isinstance(value, dict) else ()), *(key for part in inner for key in keys(part))}
item = open(sys.argv[1]).read().rpartition(f".It Cm {sys.argv[2]}\n")[2].partition(".It Cm")[0]
named = re.findall(r"[\w/]+", " ".join(re.findall(r"^\.Li (.*)", item, re.MULTILINE)))
print(*sorted(key for key in keys(json.loads(sys.argv[3])) if key not in named and "/" not in key))' \
        "$top_srcdir/doc/man/$1" "$2" "$3")" "" "$1 describes the JSON of $2"
}

# tap_tempdir: makes a folder, $tap_dir, that goes away with the script. What the script starts keeps its
# files there too (Open MPI's sessions, clusters), apart from those of tests that run at the same time.
tap_tempdir() {
    tap_dir=$(mktemp -d) || exit 1
    export TMPDIR="$tap_dir"
    trap 'rm -rf "$tap_dir"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# tap_skip_all REASON: for a script none of whose tests can run here.
tap_skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# tap_absent WHAT: for a test that does not find what was to be built. An error where configure has found all that this
# needs, because then tests/tests.am does not list it for the test.
tap_absent() {
    case " ${CONFIGURED-} " in
    *" $1 "*)
        echo "Bail out! tests/tests.am does not list $1 for this test"
        exit 1
        ;;
    esac
}

# tap_full: whether all cases run, as in `make check-long` and by hand. `make check` sets CHECK_LEVEL=quick.
tap_full() { [ "${CHECK_LEVEL:-full}" != quick ]; }

# tap_plan: ends the script.
tap_plan() {
    echo "1..$tap_count"
    [ "$tap_failures" -eq 0 ]
    exit
}
