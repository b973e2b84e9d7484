#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A PRRTE that is not as the one that the mapper was built for: mpirun says so once, and starts programs without
# the mapper. A library that is loaded before PRRTE's stands in for the difference. configure refuses other headers.

. "$top_srcdir/tests/lib/dla.sh" || exit 1

[[ $launcher == prrte ]] || tap_skip_all "no mapper for PRRTE is built"

write_view 4 0,2,9 1,3,9 >pairs.crs

# differing NAME REASON: with a library of the C source on standard input
differing() {
    local name=$1 reason=$2 said status=0

    "${CC:-cc}" -shared -fPIC -x c -o other.so -
    said=$(LD_PRELOAD=$tap_dir/other.so launch --host localhost:4 -np 4 --bind-to none true 2>&1) || status=$?
    tap_is "$status" 0 "$name: programs start"
    tap_is "$(grep -c 'rmaps:dla:' <<<"$said")" 1 "$name: one message"
    tap_contains "$said" "$reason" "$name: the reason"
    tap_contains "$said" "not used; build it for this one, or use dla map --format seq or rankfile" "$name: what to do"
    LD_PRELOAD=$tap_dir/other.so launch --host localhost:4 -np 4 --bind-to none --map-by dla:file=pairs.crs true 2>&1 &&
        status=0 || status=$?
    tap_check_fails "$name: --map-by dla is refused" test "$status" = 0
}

differing "another release" ", but this is PRRTE 9.8.7: " <<'END'
const char prte_version_string[] = "9.8.7";
END

differing "a struct of another size" " differs in prte_schizo_base_t: " <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    static ElfW(Sym) symbol = {.st_size = 1};
    (void)flags;
    *extra = &symbol;
    return dladdr(address, info);
}
END

if [[ $OMPI_VERSION == 5.* ]]; then
    tap_skip "a function that differs" "the headers of this PRRTE are installed"
else
    differing "a function that differs" " differs in the keys of attributes: " <<'END'
const char *prte_attr_key_to_str(unsigned short key);
const char *prte_attr_key_to_str(unsigned short key)
{
    (void)key;
    return "JOB-OTHER";
}
END
fi

# ---- configure ----

# A copy: a source folder that was configured does not let itself be configured elsewhere.
mkdir -p source/tests source/src/plan work
cp -r "$top_srcdir"/{configure,Makefile.in,build-aux,ompi,prte} source
cp "$top_srcdir/tests/env.sh.in" source/tests
cp "$top_srcdir/src/plan/plan.h" source/src/plan

configure() (
    cd work && ../source/configure --quiet --disable-sanitizers --cache-file=cache "$@"
)

mkdir -p other/src/mca/rmaps
touch other/src/mca/rmaps/rmaps.h
printf '%s\n' major=9 minor=8 release=7 greek=rc1 >other/VERSION
tap_check_fails "--with-prrte: sources of another release" configure --with-prrte="$tap_dir/other"
tap_contains "$tap_output" "PRRTE 9.8.7rc1" "... is named"
tap_check_fails "--with-prrte: a folder without headers" configure --with-prrte="$tap_dir/nowhere"
tap_contains "$tap_output" "rmaps.h" "... is named"

tap_plan
