/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances along actual routes: forwarding tables and traces. */
#include "base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/site.h"
#include "topo/text.h"

/* ---- forwarding tables ---- */

/* Steps from a switch to one local address. ON_THE_WAY: being computed, which detects cycles. */
enum { NOT_KNOWN = 0, ON_THE_WAY = TOPO_UNREACHED - 1 };

struct table_walk {
    site *site;
    struct base_arena arena;
    size_t *first_lid; /* of each vertex, in lid_of: its addresses up to the next vertex's */
    size_t *lid_of;
    uint16_t *steps; /* of each vertex, for one address */
    size_t *passed;  /* vertices whose steps are set or being found */
    size_t passed_count;
    uint16_t *column; /* of a node: hops to it from each class */
};

static int compare_owners(const void *a, const void *b)
{
    const lid_owner *x = a, *y = b;
    if (x->lid != y->lid)
        return x->lid < y->lid ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Sorts the owners and removes duplicates; the file gives an address at both ends of a link. */
static int sort_owners(const topo_fabric *f, lid_owner *owner, size_t *count, matrix_error *error)
{
    size_t kept = 0;
    if (f->lids > 0)
        memcpy(owner, f->lid, f->lids * sizeof *owner);
    qsort(owner, f->lids, sizeof *owner, compare_owners);
    for (size_t i = 0; i < f->lids; i++) {
        if (kept > 0 && owner[kept - 1].lid == owner[i].lid &&
            owner[kept - 1].vertex != owner[i].vertex)
            return matrix_refuse(error, owner[i].line,
                                 "local address %zu is here of %.40s, but of %.40s on line %zu",
                                 owner[i].lid, fabric_key(f, owner[i].vertex),
                                 fabric_key(f, owner[kept - 1].vertex), owner[kept - 1].line);
        if (kept == 0 || owner[kept - 1].lid != owner[i].lid)
            owner[kept++] = owner[i];
    }
    *count = kept;
    return 0;
}

static int list_lids(struct table_walk *w, matrix_error *error)
{
    const topo_fabric *f = w->site->fabric;
    size_t vertices = f->keys.count, count = 0;
    lid_owner *owner = base_arena_alloc(&w->arena, f->lids, sizeof *owner);
    int rc = owner == NULL ? -ENOMEM : sort_owners(f, owner, &count, error);
    if (rc != 0)
        return rc;
    /* Counting sort: first_lid[v + 1] is the position of the next address of v, finally the end. */
    for (size_t i = 0; i < count; i++)
        w->first_lid[owner[i].vertex + 2]++;
    for (size_t v = 0; v < vertices; v++)
        w->first_lid[v + 2] += w->first_lid[v + 1];
    for (size_t i = 0; i < count; i++)
        w->lid_of[w->first_lid[owner[i].vertex + 1]++] = owner[i].lid;
    return 0;
}

/* The neighbour at that port; NO_INDEX: none. */
static size_t behind_port(const topo_fabric *f, size_t v, unsigned port)
{
    size_t low = f->first_arc[v], high = f->first_arc[v + 1], end = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->arc[middle].from_port < port)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && f->arc[low].from_port == port ? f->arc[low].to : NO_INDEX;
}

static size_t next_switch(const topo_fabric *f, size_t v, size_t lid)
{
    if (f->vertex[v].table == NO_INDEX)
        return NO_INDEX;
    const forwarding_table *table = &f->table[f->vertex[v].table];
    unsigned port = lid < table->lids ? table->port[lid] : NO_PORT;
    return port == NO_PORT || port == 0 ? NO_INDEX : behind_port(f, v, port);
}

/* Follows the tables from v to the owner of the address, and sets the steps of all it passes. */
static uint16_t follow_tables(struct table_walk *w, size_t v, size_t lid, size_t owner)
{
    const topo_fabric *f = w->site->fabric;
    size_t start = w->passed_count;
    while (v != NO_INDEX && v != owner && w->steps[v] == NOT_KNOWN &&
           f->vertex[v].kind == KIND_SWITCH) {
        w->steps[v] = ON_THE_WAY;
        w->passed[w->passed_count++] = v;
        v = next_switch(f, v, lid);
    }
    uint16_t steps = v == owner                                  ? 0
                     : v == NO_INDEX || w->steps[v] == NOT_KNOWN ? TOPO_UNREACHED
                                                                 : w->steps[v];
    for (size_t k = w->passed_count; k > start; k--) {
        steps = steps < ON_THE_WAY - 1 ? (uint16_t)(steps + 1) : TOPO_UNREACHED;
        w->steps[w->passed[k - 1]] = steps;
    }
    return steps;
}

static void walk_reset(struct table_walk *w)
{
    while (w->passed_count > 0)
        w->steps[w->passed[--w->passed_count]] = NOT_KNOWN;
}

/* Fewest hops from the adapters of a class's sample over their links to one address. */
static uint16_t hops_from(struct table_walk *w, size_t class, size_t lid, size_t owner)
{
    const topo_fabric *f = w->site->fabric;
    size_t host = w->site->host[w->site->sample[class]];
    uint16_t least = TOPO_UNREACHED;
    for (size_t k = f->first_adapter[host]; k < f->first_adapter[host + 1]; k++)
        for (size_t i = f->first_arc[f->adapter[k]]; i < f->first_arc[f->adapter[k] + 1]; i++) {
            uint16_t steps = follow_tables(w, f->arc[i].to, lid, owner);
            if (steps < ON_THE_WAY - 1 && steps + 1 < least)
                least = (uint16_t)(steps + 1);
        }
    return least;
}

static void find_column(struct table_walk *w, size_t node)
{
    const topo_fabric *f = w->site->fabric;
    size_t host = w->site->host[node], classes = w->site->classes;
    memset(w->column, 0xff, classes * sizeof *w->column);
    for (size_t k = f->first_adapter[host]; k < f->first_adapter[host + 1]; k++) {
        size_t v = f->adapter[k];
        for (size_t i = w->first_lid[v]; i < w->first_lid[v + 1]; i++) {
            for (size_t p = 0; p < classes; p++) {
                uint16_t hops = hops_from(w, p, w->lid_of[i], v);
                w->column[p] = hops < w->column[p] ? hops : w->column[p];
            }
            walk_reset(w);
        }
    }
}

/* Splits classes whose nodes have different columns. The key of a new class in `columns` is its old
 * number and its column. */
static int split_classes(struct table_walk *w, name_table *columns, size_t *class, size_t *sample,
                         matrix_error *error)
{
    site *s = w->site;
    size_t bytes = s->classes * sizeof *w->column;
    unsigned char *key = base_arena_alloc(&w->arena, bytes + sizeof(size_t), 1);
    int rc = key == NULL ? -ENOMEM : 0;
    for (size_t n = 0; rc == 0 && n < s->nodes; n++) {
        size_t known = columns->count;
        find_column(w, n);
        memcpy(key, &s->class[n], sizeof(size_t));
        memcpy(key + sizeof(size_t), w->column, bytes);
        rc = name_table_add(columns, key, bytes + sizeof(size_t), &class[n]);
        if (rc == 0 && class[n] == known)
            sample[known] = n;
        if (rc == 0)
            rc = site_check_classes(columns->count, error);
    }
    return rc;
}

static int fill_split(site *s, const name_table *columns, const size_t *class, const size_t *sample)
{
    size_t classes = columns->count, pairs;
    if (__builtin_mul_overflow(classes, classes, &pairs))
        return -ENOMEM;
    uint16_t *between = calloc(pairs | 1, sizeof *between);
    if (between == NULL)
        return -ENOMEM;
    for (size_t q = 0; q < classes; q++) {
        const char *column = name_table_get(columns, q) + sizeof(size_t);
        for (size_t p = 0; p < classes; p++)
            memcpy(&between[p * classes + q], column + s->class[sample[p]] * sizeof *between,
                   sizeof *between);
    }
    free(s->between);
    s->between = between;
    memcpy(s->class, class, s->nodes * sizeof *class);
    memcpy(s->sample, sample, classes * sizeof *sample);
    s->classes = classes;
    return 0;
}

static int walk_init(struct table_walk *w, matrix_error *error)
{
    const topo_fabric *f = w->site->fabric;
    w->first_lid = base_arena_alloc(&w->arena, f->keys.count + 2, sizeof *w->first_lid);
    w->lid_of = base_arena_alloc(&w->arena, f->lids, sizeof *w->lid_of);
    w->steps = base_arena_alloc(&w->arena, f->keys.count, sizeof *w->steps);
    w->passed = base_arena_alloc(&w->arena, f->keys.count, sizeof *w->passed);
    w->column = base_arena_alloc(&w->arena, w->site->classes, sizeof *w->column);
    return w->arena.failed ? -ENOMEM : list_lids(w, error);
}

int site_follow_tables(site *s, matrix_error *error)
{
    struct table_walk w = {.site = s};
    name_table columns = {0};
    size_t *class = base_arena_alloc(&w.arena, s->nodes, sizeof *class);
    size_t *sample = base_arena_alloc(&w.arena, s->nodes, sizeof *sample);
    int rc = walk_init(&w, error);
    if (rc == 0)
        rc = split_classes(&w, &columns, class, sample, error);
    if (rc == 0)
        rc = fill_split(s, &columns, class, sample);
    base_arena_release(&w.arena);
    name_table_release(&columns);
    return rc;
}

/* ---- traces ---- */

/* The node of each of the fabric's hosts; NO_INDEX: not of this job. */
static size_t *nodes_of_hosts(const site *s)
{
    size_t hosts = s->fabric->hosts.count;
    size_t *node = calloc(hosts | 1, sizeof *node);
    for (size_t h = 0; node != NULL && h < hosts; h++)
        node[h] = NO_INDEX;
    for (size_t n = 0; node != NULL && n < s->nodes; n++)
        node[s->host[n]] = n;
    return node;
}

static void apply_traces(const site *s, const size_t *node, uint16_t *hops)
{
    const topo_fabric *f = s->fabric;
    for (size_t k = 0; k < f->traces; k++) {
        size_t from = f->vertex[f->trace[k].from].host, to = f->vertex[f->trace[k].to].host;
        if (from == NO_INDEX || to == NO_INDEX || node[from] == NO_INDEX || node[to] == NO_INDEX)
            continue;
        uint16_t *h = &hops[node[from] * s->nodes + node[to]];
        *h = f->trace[k].hops < *h ? f->trace[k].hops : *h;
    }
}

/* A pair traced in one direction only has these hops in both; one without a trace keeps those of
 * the links. */
static int fill_gaps(const site *s, uint16_t *hops, matrix_error *error)
{
    for (size_t n = 0; n < s->nodes; n++)
        for (size_t m = 0; m < n; m++) {
            uint16_t *there = &hops[n * s->nodes + m], *back = &hops[m * s->nodes + n];
            if (*there == TOPO_UNREACHED && *back == TOPO_UNREACHED && !s->fabric->all_links) {
                matrix_refuse(error, 0, "no trace between host %.70s and host %.70s", s->names[m],
                              s->names[n]);
                return -ENXIO;
            }
            if (*there == TOPO_UNREACHED)
                *there = *back != TOPO_UNREACHED
                             ? *back
                             : s->between[s->class[n] * s -> classes + s -> class[m]];
            if (*back == TOPO_UNREACHED)
                *back = *there;
        }
    return 0;
}

int site_apply_traces(site *s, matrix_error *error)
{
    int rc = site_check_classes(s->nodes, error);
    if (rc != 0)
        return rc;
    size_t pairs = s->nodes * s->nodes;
    uint16_t *hops = calloc(pairs | 1, sizeof *hops);
    size_t *node = nodes_of_hosts(s);
    rc = hops == NULL || node == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        memset(hops, 0xff, pairs * sizeof *hops);
        apply_traces(s, node, hops);
        rc = fill_gaps(s, hops, error);
    }
    free(node);
    if (rc != 0) {
        free(hops);
        return rc;
    }
    free(s->between);
    s->between = hops;
    for (size_t n = 0; n < s->nodes; n++)
        s->class[n] = s->sample[n] = n;
    s->classes = s->nodes;
    return 0;
}
