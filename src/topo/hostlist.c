/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of host names as Slurm writes them. */
#include <string.h>

#include "topo/text.h"
#include "topo/network.h"

enum { LONGEST_NAME = 255 };

struct expansion {
    const char *end; /* of the item: its comma or the list's end */
    int (*take)(const char *name, void *context);
    void *context;
    matrix_error *error;
    size_t count;
    char name[LONGEST_NAME + 1];
};

static int expand_item(struct expansion *e, const char *at, size_t used);

static int too_long(const struct expansion *e)
{
    return matrix_refuse(e->error, 0, "a host name in the list has more than %d characters",
                         LONGEST_NAME);
}

/* One range of a bracket, "7" or "08-11": numbers keep the width of the first. */
typedef struct range {
    uint64_t low, high;
    int width;
} range;

static int scan_range(const char **at, range *r)
{
    const char *start = *at;
    if (!scan_number(at, UINT32_MAX, &r->low))
        return 0;
    r->width = (int)(*at - start);
    r->high = r->low;
    return !scan_text(at, "-") || (scan_number(at, UINT32_MAX, &r->high) && r->high >= r->low);
}

static int expand_range(struct expansion *e, const range *r, const char *rest, size_t used)
{
    for (uint64_t k = r->low; k <= r->high; k++) {
        size_t left = sizeof e->name - used;
        int written = snprintf(e->name + used, left, "%0*llu", r->width, (unsigned long long)k);
        if (written < 0 || (size_t)written >= left)
            return too_long(e);
        int rc = expand_item(e, rest, used + (size_t)written);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* `at` follows the '['. */
static int expand_bracket(struct expansion *e, const char *at, size_t used)
{
    const char *close = memchr(at, ']', (size_t)(e->end - at));
    range r;
    if (close == NULL)
        return matrix_refuse(e->error, 0, "'[' without ']' in a list of hosts");
    for (;;) {
        if (!scan_range(&at, &r))
            return matrix_refuse(e->error, 0,
                                 "'%.40s' where a number or a rising range is expected in a "
                                 "list of hosts",
                                 at);
        int rc = expand_range(e, &r, close + 1, used);
        if (rc != 0)
            return rc;
        if (at == close)
            return 0;
        if (!scan_text(&at, ","))
            return matrix_refuse(e->error, 0,
                                 "'%.40s' where ',' or ']' is expected in a list of hosts", at);
    }
}

/* Nothing between two separators is no name, as in Slurm. */
static int emit_name(struct expansion *e, size_t used)
{
    if (used == 0)
        return 0;
    if (e->count++ == TOPO_HOSTLIST_LIMIT)
        return matrix_refuse(e->error, 0, "a list of more than %zu hosts", TOPO_HOSTLIST_LIMIT);
    e->name[used] = '\0';
    return e->take(e->name, e->context);
}

/* Expands the rest of an item after `used` characters of the name: copies text, then iterates over
 * the next bracket. */
static int expand_item(struct expansion *e, const char *at, size_t used)
{
    for (; at < e->end && *at != '['; at++) {
        if (*at == ']')
            return matrix_refuse(e->error, 0, "']' without '[' in a list of hosts");
        if (used == LONGEST_NAME)
            return too_long(e);
        e->name[used++] = *at;
    }
    return at == e->end ? emit_name(e, used) : expand_bracket(e, at + 1, used);
}

/* Commas inside brackets separate ranges, not items. Blanks separate items as well. */
static const char *end_of_item(const char *at)
{
    for (int inside = 0; *at != '\0' && (inside || strchr(", \t", *at) == NULL); at++)
        inside = *at == '[' || (inside && *at != ']');
    return at;
}

int topo_expand_hostlist(const char *list, int (*take)(const char *name, void *context),
                         void *context, matrix_error *error)
{
    struct expansion e = {.take = take, .context = context, .error = error};
    for (;;) {
        e.end = end_of_item(list);
        int rc = expand_item(&e, list, 0);
        if (rc != 0 || *e.end == '\0')
            return rc;
        list = e.end + 1;
    }
}
