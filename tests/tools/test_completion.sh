#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Completion of the programs in bash: its function is called as bash does. Values are those that the programs take.
. "$top_srcdir/tests/lib/tools.sh" || exit 1

completion=$top_srcdir/tools/completion

# completes WORD...: what is offered for the last word.
completes() (
    . "$top_srcdir/tools/completion/tatp"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _tatp_dla "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
    echo "${COMPREPLY[*]}"
)

tap_is "$(bash -c '. "$1"; complete -p tatp dla' bash "$completion/dla" | xargs)" \
    "complete -F _tatp_dla tatp complete -F _tatp_dla dla" "both programs are completed"
for tool in tatp dla; do
    commands=$(completes $tool "")
    for file in "$top_srcdir/tools/$tool"_*.c; do
        name=$(basename "$file" .c)
        grep -q "^int $name(int argc, char \*\*argv)" "$file" || continue
        tap_contains " $commands " " ${name#*_} " "$tool: command ${name#*_}"
    done
    tap_is "$(completes $tool --ver)" "--version" "$tool: options without a command"
    for command in $commands; do
        tap_contains "$(completes $tool "$command" --)" "--help" "$tool $command: options"
    done
done
tap_is "$(completes tatp pl) $(completes tatp help pl)" "plan plan" "a part of a command"
tap_is "$(completes tatp plan --t)" "--topology" "options of a command"
tap_is "$(completes tatp doctor --l)" "--limit" "options of a command that is a program in Python"
tap_is "$(completes tatp report --t) $(completes tatp report --table --c)" "--table --topology --csv" "options of the report"
tap_is "$(COLUMNS=80 tatp report --help | sed -n 's/^  *\(-[^ ]* *[^ ]*, \)\{0,1\}\(--[a-z-]*\)[^ ]*  *\([A-Z].*\)\{0,1\}$/\2/p' | xargs)" \
    "--view --topology --output --table --csv" "options of the report, as zsh reads them"
tap_is "$(completes dla map --method b)" "bisection byslot bynode" "values"
tap_is "$(completes dla map --method = b)" "bisection byslot bynode" "values behind an equals sign"
tap_is "$(completes dla map --objective "")" "auto neighbours profile" "values of an option"
tap_is "$(completes dla map --cart "")" "" "no values of a number"
mkdir cache
mkdir -m 700 cache/openmpi-tatp
touch cache/openmpi-tatp/{0123456789abcdef-0{0,1}000000,123456789abcdef0-00000000}.crs
export XDG_CACHE_HOME=$PWD/cache
tap_is "$(completes dla forget 01 | xargs -n 1 | sort | xargs)" "0123456789abcdef-00000000 0123456789abcdef-01000000" "keys of records"
touch view.crs
mkdir views
tap_is "$(completes dla show vi | xargs -n 1 | LC_ALL=C sort | xargs)" "view.crs views" "files"
tap_is "$(completes dla map --file view.)" "view.crs" "a file as a value"

# --- each value is one that the program takes ---

printf '%%%%MatrixMarket matrix array integer general\n2 2\n1\n0\n0\n1\n' >two.mtx
# takes PROGRAM OPTION COMMAND...: the command with each value of the option.
takes() {
    local value
    for value in $(completes "$1" "$3" "$2" ""); do tap_check "$1 $3 $2 $value" "$1" "${@:3}" "$2" "$value"; done
}
takes tatp --strategy plan --requests two.mtx --hosts a,b
for name in $(tatp plan --help | sed -n '/^Strategies:/,/^$/s/^  \([a-z_]*\)  .*/\1/p') \
    $(tatp assign --help | sed -n '/^Solvers:/,/^$/s/^  \([a-z_]*\)  .*/\1/p'); do
    tap_contains " $(completes tatp plan --strategy "") $(completes tatp assign --solver "") " " $name " "$name is offered"
done
takes tatp --workload plan --requests two.mtx --hosts a,b
printf '%s\n' FILEVIEW '0 2' '' '' '1 1' 'ACCESS 1 0 1 1 1 1 a' '0 1 0 1' >profile.crs
takes dla --objective map --file profile.crs --nodes a
for option in --method --order --format; do takes dla $option map --cart 2 --nodes a,b; done
takes dla --to convert two.mtx
if command -v zsh >/dev/null; then
    tap_check "zsh: the syntax" zsh -n "$completion/_tatp"
else
    tap_skip "zsh: the syntax" "zsh is not installed"
fi
tap_plan
