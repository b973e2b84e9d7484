#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# install-packages asks on a terminal before it uses sudo. Here all packages are missing, and sudo, apt-get and id
# are stubs.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir

command -v script >/dev/null || tap_skip_all "script is not installed (apt-get install bsdutils)"
mkdir "$tap_dir/bin"
for program in cat env rm script sh; do ln -s "$(command -v $program)" "$tap_dir/bin"; done

# stub NAME: a program that does what standard input says
stub() {
    { echo '#!/bin/sh' && cat; } >"$tap_dir/bin/$1"
    chmod +x "$tap_dir/bin/$1"
}
stub sudo <<<"echo sudo >>'$tap_dir/log'; exec \"\$@\""
stub apt-get <<<"echo apt-get \$1 >>'$tap_dir/log'"
stub apt-cache <<<'exit 0'

# run_as USER-NUMBER TERMINAL ANSWER [VARIABLE=VALUE]: sets said, and started
run_as() {
    local install="$top_srcdir/build-aux/install-packages"
    stub id <<<"echo $1"
    : >"$tap_dir/log"
    local environment=(env -i "PATH=$tap_dir/bin" "SHELL=$tap_dir/bin/sh" "${@:4}")
    case $2 in
    terminal) said=$(echo "$3" | timeout 60 "${environment[@]}" script -q -c "$install >$tap_dir/out" "$tap_dir/typescript") ;;
    *) said=$(timeout 60 "${environment[@]}" "$install" 2>&1 >"$tap_dir/out" </dev/null) ;;
    esac
    started=$(xargs <"$tap_dir/log")
}

question="Install with sudo: build-essential"
run_as 1000 terminal y
tap_contains "$said" "$question" "on a terminal: asks"
tap_is "$started" "sudo apt-get install" "yes: installs with sudo"
run_as 1000 terminal n
tap_contains "$said" "$question" "asks again"
tap_is "$started" "" "no: sudo is not used"
tap_contains "$said" "Missing (names of Debian packages): build-essential" "no: names what is missing"
run_as 1000 terminal ""
tap_is "$started" "" "no answer: sudo is not used"
run_as 1000 terminal "" CI=true
tap_is "$started" "sudo apt-get install" "with CI set: installs"
tap_is "$(grep -c "$question" <<<"$said")" 0 "with CI set: without a question"
run_as 0 terminal ""
tap_is "$started" "apt-get install" "as root: installs without sudo"
tap_is "$(grep -c "$question" <<<"$said")" 0 "as root: without a question"
run_as 1000 none ""
tap_is "$started" "sudo apt-get install" "without a terminal: installs without a question"
tap_plan
