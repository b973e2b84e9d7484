/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance of two ranks of one node. */
#include "topo/local.h"

#include <string.h>

const char *const topo_locality_field[TOPO_SAME_MACHINE] = {"CR", "L2", "L3", "NM", "SK"};

/* The value of a field, up to its colon. Returns the length. */
static size_t find_field(const char *locality, const char *name, const char **value)
{
    for (const char *at = locality; at != NULL; at = strchr(at, ':')) {
        at += *at == ':';
        if (strncmp(at, name, 2) == 0) {
            *value = at + 2;
            return strcspn(at + 2, ":");
        }
    }
    return 0;
}

/* Whether both are in the same single object; not "0-1" or "0,4". */
static int shares_field(const char *a, const char *b, const char *field)
{
    const char *x = NULL, *y = NULL;
    size_t length = find_field(a, field, &x);
    return length > 0 && strspn(x, "0123456789") == length && find_field(b, field, &y) == length &&
           memcmp(x, y, length) == 0;
}

topo_level topo_locality_level(const char *a, const char *b)
{
    int level = TOPO_SAME_CORE;
    if (a == NULL || b == NULL)
        return TOPO_SAME_MACHINE;
    while (level < TOPO_SAME_MACHINE && !shares_field(a, b, topo_locality_field[level]))
        level++;
    return (topo_level)level;
}
