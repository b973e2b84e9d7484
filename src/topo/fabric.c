/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a network. */
#define _GNU_SOURCE /* memmem */
#include "topo/fabric.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int fabric_vertex(topo_fabric *f, const char *key, size_t length, size_t line, size_t *v)
{
    size_t known = f->keys.count;
    int rc = base_reserve(&f->vertex, &f->vertex_capacity, known + 1, sizeof *f->vertex);
    if (rc == 0)
        rc = name_table_add(&f->keys, key, length, v);
    if (rc == 0 && *v == known)
        f->vertex[known] = (vertex){.first_line = line, .host = NO_INDEX};
    return rc;
}

int fabric_vertex_of_guid(topo_fabric *f, uint64_t guid, size_t line, size_t *v)
{
    char key[17];
    snprintf(key, sizeof key, "%016" PRIx64, guid);
    return fabric_vertex(f, key, 16, line, v);
}

const char *fabric_key(const topo_fabric *f, size_t v)
{
    return name_table_get(&f->keys, v);
}

int fabric_add_arc(topo_fabric *f, arc a)
{
    int rc = base_reserve(&f->arc, &f->arc_capacity, f->arcs + 1, sizeof *f->arc);
    if (rc == 0 && a.from != a.to)
        f->arc[f->arcs++] = a;
    return rc;
}

static int begins_with_host(const char *description, size_t length, size_t first_word)
{
    static const char *const set_by_installers[] = {"localhost", "localhost.localdomain", "ubuntu",
                                                    "(none)"};
    static const char maker[] = "Mellanox Technologies", sharp[] = "Aggregation Node";
    if (first_word == 0 || memmem(description, length, maker, sizeof maker - 1) != NULL ||
        memmem(description, length, sharp, sizeof sharp - 1) != NULL)
        return 0;
    for (size_t k = 0; k < sizeof set_by_installers / sizeof *set_by_installers; k++)
        if (strlen(set_by_installers[k]) == first_word &&
            strncasecmp(description, set_by_installers[k], first_word) == 0)
            return 0;
    return 1;
}

static int name_host(topo_fabric *f, size_t v, const char *name, size_t length)
{
    f->vertex[v].kind = KIND_ADAPTER;
    return name_table_add(&f->hosts, name, length, &f->vertex[v].host);
}

/* The key includes the NUL, which no name of a switch has. */
int fabric_host(topo_fabric *f, const char *name, size_t line, size_t *v)
{
    int rc = fabric_vertex(f, name, strlen(name) + 1, line, v);
    return rc == 0 ? name_host(f, *v, name, strlen(name)) : rc;
}

int fabric_name_adapter(topo_fabric *f, size_t v, const char *description, size_t length)
{
    size_t first_word = 0;
    while (length > 0 && *description == ' ') {
        description++;
        length--;
    }
    while (first_word < length && description[first_word] != ' ' && description[first_word] != '\t')
        first_word++;
    f->vertex[v].kind = KIND_ADAPTER;
    if (!begins_with_host(description, length, first_word))
        return 0;
    return name_host(f, v, description, first_word);
}

int fabric_add_trace(topo_fabric *f, trace t)
{
    int rc = base_reserve(&f->trace, &f->trace_capacity, f->traces + 1, sizeof *f->trace);
    if (rc == 0)
        f->trace[f->traces++] = t;
    return rc;
}

/* ---- finishing ---- */

static int add_reversed(topo_fabric *f)
{
    size_t read = f->arcs;
    for (size_t i = 0; i < read; i++) {
        arc a = f->arc[i];
        int rc = fabric_add_arc(f, (arc){a.to, a.from, a.line, a.to_port, a.from_port});
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int sign(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_arcs(const void *a, const void *b)
{
    const arc *x = a, *y = b;
    int order = sign(x->from, y->from);
    if (order == 0)
        order = sign(x->from_port, y->from_port);
    if (order == 0)
        order = sign(x->to, y->to);
    if (order == 0)
        order = sign(x->to_port, y->to_port);
    return order != 0 ? order : sign(x->line, y->line);
}

int fabric_sort_arcs(topo_fabric *f)
{
    size_t vertices = f->keys.count;
    if (f->arcs > 0)
        qsort(f->arc, f->arcs, sizeof *f->arc, compare_arcs);
    free(f->first_arc);
    f->first_arc = calloc(vertices + 2, sizeof *f->first_arc);
    if (f->first_arc == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < f->arcs; i++)
        f->first_arc[f->arc[i].from + 1]++;
    for (size_t v = 0; v <= vertices; v++)
        f->first_arc[v + 1] += f->first_arc[v];
    return 0;
}

/* Without ports, two lines that name one link mean one cable. */
static int same_arc(const arc *x, const arc *y)
{
    return x->from == y->from && x->to == y->to && x->from_port == y->from_port &&
           x->to_port == y->to_port;
}

static int refuse_port(const topo_fabric *f, const arc *one, const arc *other, matrix_error *error)
{
    const arc *early = one->line < other->line ? one : other, *late = early == one ? other : one;
    return matrix_refuse(error, late->line,
                         "port %u of %.40s leads to %.40s, but to %.40s by line %zu",
                         late->from_port, fabric_key(f, late->from), fabric_key(f, late->to),
                         fabric_key(f, early->to), early->line);
}

static int drop_repeated(topo_fabric *f, matrix_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->arcs; i++) {
        const arc *a = &f->arc[i], *last = kept > 0 ? &f->arc[kept - 1] : NULL;
        if (last != NULL && same_arc(last, a))
            continue;
        if (last != NULL && last->from == a->from && last->from_port == a->from_port &&
            a->from_port != 0)
            return refuse_port(f, last, a, error);
        f->arc[kept++] = *a;
    }
    f->arcs = kept;
    return 0;
}

/* The nearest of several adapters of a host counts. A host whose adapters another name has taken
 * gets a vertex without arcs. */
static int join_adapters(topo_fabric *f)
{
    f->of_host = base_alloc(f->hosts.count, sizeof *f->of_host);
    if (f->of_host == NULL)
        return -ENOMEM;
    for (size_t h = 0; h < f->hosts.count; h++)
        f->of_host[h] = f->keys.count;
    for (size_t v = 0; v < f->keys.count; v++)
        if (f->vertex[v].host != NO_INDEX)
            f->of_host[f->vertex[v].host] = v;
    for (size_t i = 0; i < f->arcs; i++) {
        size_t from = f->vertex[f->arc[i].from].host, to = f->vertex[f->arc[i].to].host;
        if (from != NO_INDEX)
            f->arc[i].from = f->of_host[from];
        if (to != NO_INDEX)
            f->arc[i].to = f->of_host[to];
    }
    return fabric_sort_arcs(f);
}

int fabric_finish(topo_fabric *f, matrix_error *error)
{
    int rc = add_reversed(f);
    if (rc == 0)
        rc = fabric_sort_arcs(f);
    if (rc == 0)
        rc = drop_repeated(f, error);
    return rc == 0 ? join_adapters(f) : rc;
}

void topo_fabric_free(topo_fabric *f)
{
    if (f == NULL)
        return;
    name_table_release(&f->keys);
    name_table_release(&f->hosts);
    matrix_release(&f->hops);
    free(f->vertex);
    free(f->arc);
    free(f->first_arc);
    free(f->of_host);
    free(f->trace);
    free(f);
}

/* ---- summary ---- */

void topo_fabric_summary(const topo_fabric *f, topo_summary *summary)
{
    *summary = (topo_summary){.format = f->format,
                              .hosts = f->hosts.count,
                              .links = f->arcs / 2,
                              .traces = f->traces,
                              .rows = f->hops.rows,
                              .joined = f->joined};
    for (size_t v = 0; v < f->keys.count; v++) {
        summary->switches += f->vertex[v].kind == KIND_SWITCH;
        summary->unnamed += f->vertex[v].kind == KIND_ADAPTER && f->vertex[v].host == NO_INDEX;
    }
}

size_t topo_fabric_hosts(const topo_fabric *f)
{
    return f->hosts.count;
}

const char *topo_fabric_host(const topo_fabric *f, size_t host)
{
    return name_table_get(&f->hosts, host);
}
