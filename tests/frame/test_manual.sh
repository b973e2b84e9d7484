#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What users can set and read is in the manual: parameters, hints, keys of statistics, performance variables, options.
. "$top_srcdir/tests/lib/tap.sh" || exit 1

src=$top_srcdir
manual=$src/doc/man/fcoll_tatp.7

# all WHAT PAGE NAME...: each NAME is documented there
all() {
    local what=$1 page=$2 name missing=
    shift 2
    tap_check "there are $what" test $# -gt 0
    for name; do sed 's/fcoll_tatp_//g' "$page" | grep -Eq "^\..*(Cm|Fl|Ql) .*\<$name\>" || missing+=" $name"; done
    tap_is "${missing# }" "" "$what are in ${page##*/}"
}

# rows PREFIX FILE: the first string of each row [PREFIX...] = {"...", of a table, which may be on the next line
rows() { tr -d '\n' <"$2" | grep -oE "\[$1[A-Z_]*\] = *\{\"[a-z_]*\"" | sed 's/.*{"\(.*\)"/\1/'; }

mapfile -t parameters < <(rows PARAMETER_ "$src/src/collective/parameters.c")
all "parameters" "$manual" "${parameters[@]}"
mapfile -t hints < <(rows COLL_HINT_ "$src/src/collective/hints.c")
all "hints" "$manual" "${hints[@]}"
# Second arguments of json_put_* and json_begin_*.
mapfile -t statistics < <(grep -hoE 'json_(put|begin)_[a-z0-9]+\([a-z&.>-]+, "[a-z0-9_]+"' "$src"/src/collective/stats*.c |
    sed 's/.*"\(.*\)"/\1/' | sort -u)
all "keys of statistics" "$src/doc/man/tatp_stats.5" "${statistics[@]}"
mapfile -t variables < <(sed -n '/variables\[\]/,/^};/s/^ *{"\([a-z_0-9]*\)",.*/\1/p' \
    "$src/ompi/mca/fcoll/tatp/fcoll_tatp_pvars.c" | grep -v '^st[2-4]$') # "st1 to st5"
all "performance variables" "$manual" "${variables[@]}"

# options PROGRAM COMMAND...
options() {
    local program=$1 command names
    shift
    for command; do
        mapfile -t names < <("$TOOLS_DIR/$program" "$command" --help | grep -oE -- '--[a-z-]+' | sed 's/^--//' | sort -u |
            grep -vxE 'help|usage|version|mca|')
        [[ ${#names[@]} -eq 0 ]] || all "options of $program $command" "$src/doc/man/$program.1" "${names[@]}"
    done
}
commands() { "$TOOLS_DIR/$1" --help | sed -n '/^ *Commands:/,/^.*COMMAND --help/s/^  *\([a-z]*\)  .*/\1/p'; }
# shellcheck disable=SC2046 # a word each
for program in tatp dla; do
    tap_check "$program has commands" test "$(commands $program | wc -l)" -gt 5
    options $program $(commands $program | grep -vx report)
done

tap_is "$(cd "$src" && grep -rnE '"[^"]*doc/[a-z-]+\.md' src mpi ompi orte prte tools --include='*.[ch]' --include='*.py' | grep -v ':[0-9]*: \*')" "" \
    "no message names a page that is not installed"
tap_check "the section that messages name is there" grep -qx '.Sh CALLS THAT ARE NOT COLLECTIVE' "$manual"
command -v mandoc >/dev/null || { tap_skip "the pages as printed" "mandoc is not installed (apt-get install mandoc)" && tap_plan; }
# The sources have long lines, as all documents do, and which other manuals there are depends on the machine. What a macro
# does to one word too many is valid: it becomes an option.
for page in "$src"/doc/man/*; do
    tap_is "$(grep "^\.Bl.*'" "$page")" "" "${page##*/}: groff can measure the columns"
    tap_is "$(mandoc -T lint -W style "$page" 2>/dev/null | grep -v ': input text line longer than 80\|: referenced manual not found')" "" \
        "mandoc has no remarks on ${page##*/}"
    printed=$(mandoc -T ascii "$page" | col -bx)
    tap_is "$(grep '.\{81\}' <<<"$printed"; tr -s ' \n' ' ' <<<"$printed" | grep -oE -- ' -[a-z]+ -[a-z]+ -[a-z]+')" "" \
        "${page##*/}: lines fit into 80 columns, and words are no options"
done
tap_plan
