#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The format of all C files and of the shell scripts, and the width of documents.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir
cd "$top_srcdir" || exit 1

# Tracked files that are there.
files() { git ls-files -z -- "$@" | xargs -0 -r ls -d 2>/dev/null; }
git ls-files --error-unmatch Makefile.am >/dev/null 2>&1 || tap_skip_all "this is no git checkout"
mapfile -t sources < <(files '*.c' '*.h')
mapfile -t openmpi < <(files {ompi,orte,opal,prte}'/*.c' {ompi,orte,opal,prte}'/*.h')
mapfile -t own < <(printf '%s\n' "${sources[@]}" | grep -v -e '^ompi/' -e '^orte/' -e '^opal/' -e '^prte/')
mapfile -t scripts < <(files '*' | xargs -r grep -l -m 1 -I -E '^(#!.*/(ba)?sh|# shellcheck shell=)')

# finds_nothing NAME COMMAND...: ok when it prints nothing. The first lines of what it prints are shown.
finds_nothing() { tap_lacks "$1" "$("${@:2}" 2>&1 | head -n 40)"; }

long_lines() { awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns" }' "$@"; }

# Tables, pictures and commands are as wide as they are.
long_prose() { LC_ALL=C.UTF-8 grep -nE '^.{121,}' "$@" | grep -vE '^[^:]*:[0-9]+:(\||!\[|    |`)'; }

# Rows that no reader shows as a table: without a head and a line of dashes directly before, or with another number of cells.
broken_tables() {
    awk '
        FNR == 1 || !/^\|/ { row = 0 }
        /^\|/ {
            line = $0
            gsub(/\\\|/, "", line)
            cells = gsub(/\|/, "", line)
            if (++row == 1) wanted = cells
            if (cells != wanted || (row == 2) != /^\|[-:| ]+$/) print FILENAME ":" FNR ": " $0
        }' "$@"
}

# comparisons PATTERN FILE...: lines of code with PATTERN; comments and strings are no code.
comparisons() {
    awk -v pattern="$1" '
        FNR == 1 { comment = 0 }
        {
            code = $0
            gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
            if (comment && !sub(/^.*\*\//, "", code)) next
            comment = 0
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", code)
            if (sub(/\/\*.*/, "", code)) comment = 1
            if (code ~ pattern) print FILENAME ":" FNR ":" $0
        }' "${@:2}"
}

finds_nothing "every file but a picture is text" comm -23 <(files . | xargs grep -LI '' | sort) <(files '*.png' | sort)
tap_check "there are C files of both kinds" test ${#openmpi[@]} -gt 10 -a ${#own[@]} -gt 100
version=$(clang-format --version 2>/dev/null)
if [[ $version == *"version 14."* ]]; then
    finds_nothing "C files are as clang-format 14 formats them" clang-format --dry-run -Werror "${sources[@]}"
else
    tap_skip "C files are as clang-format 14 formats them" "clang-format 14 is not installed (apt-get install clang-format)"
fi
finds_nothing "no C line has over 100 columns" long_lines "${sources[@]}"
mapfile -t documents < <(files '*.md')
finds_nothing "no line of a document has over 120 columns" long_prose "${documents[@]}"
finds_nothing "tables of documents are tables" broken_tables "${documents[@]}"
printf '%s\n' '| a | b |' '|---|---|' '| 1 | 2 |' '' '| 3 | 4 |' '| 5 | 6 |' '' '| a |' '|---|' '| 1 | 2 |' >"$tap_dir/split.md"
tap_is "$(broken_tables "$tap_dir/split.md" | sed 's/.*md://')" "6: | 5 | 6 |
10: | 1 | 2 |" "a table that an empty line splits is found"
finds_nothing "in Open MPI's folders NULL is on the left" comparisons '[!=]= *NULL([^A-Za-z0-9_]|$)' "${openmpi[@]}"
finds_nothing "elsewhere it is on the right" comparisons '(^|[^A-Za-z0-9_])NULL *[!=]=' "${own[@]}"
if command -v shellcheck >/dev/null; then
    finds_nothing "shellcheck finds nothing" shellcheck "${scripts[@]}"
else
    tap_skip "shellcheck finds nothing" "it is not installed (apt-get install shellcheck)"
fi
tap_plan
