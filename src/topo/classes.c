/* SPDX-License-Identifier: BSD-3-Clause */
/* Node classes, and shortest paths between them. */
#include "base/arena.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/hosts.h"

/* ---- node classes ---- */

static int compare_numbers(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The neighbours of a host, ascending, without duplicates. */
static int list_host_neighbours(const topo_fabric *f, size_t host, size_t **list, size_t *capacity,
                                size_t *count)
{
    size_t v = f->of_host[host], links = f->first_arc[v + 1] - f->first_arc[v];
    int rc = base_reserve(list, capacity, links, sizeof **list);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < links; i++)
        (*list)[i] = f->arc[f->first_arc[v] + i].to;
    qsort(*list, links, sizeof **list, compare_numbers);
    *count = 0;
    for (size_t i = 0; i < links; i++)
        if (*count == 0 || (*list)[*count - 1] != (*list)[i])
            (*list)[(*count)++] = (*list)[i];
    return 0;
}

static int classify_node(job_hosts *s, size_t n, name_table *known, size_t **list, size_t *capacity,
                         matrix_error *error)
{
    size_t count;
    int rc = list_host_neighbours(s->fabric, s->host[n], list, capacity, &count);
    if (rc != 0)
        return rc;
    if (count == 0)
        return REFUSE_HOST(error, "host %.150s has no link", s->names[n]);
    rc = name_table_add(known, *list, count * sizeof **list, &s->class[n]);
    if (rc == 0 && s->class[n] == s->classes)
        s->sample[s->classes++] = n;
    return rc;
}

int hosts_check_classes(size_t classes, matrix_error *error)
{
    if (classes <= HOSTS_MOST_CLASSES)
        return 0;
    return matrix_refuse(error, 0, "hosts at more than %d places of the network",
                         HOSTS_MOST_CLASSES);
}

int hosts_find_classes(job_hosts *s, matrix_error *error)
{
    name_table known = {0};
    size_t capacity = 0, *list = NULL;
    s->class = calloc(s->nodes | 1, sizeof *s->class);
    s->sample = base_arena_alloc(&s->arena, s->nodes, sizeof *s->sample);
    int rc = s->class == NULL || s->sample == NULL
                 ? -ENOMEM
                 : base_reserve(&list, &capacity, 1, sizeof *list);
    for (size_t n = 0; rc == 0 && n < s->nodes; n++)
        rc = classify_node(s, n, &known, &list, &capacity, error);
    free(list);
    name_table_release(&known);
    return rc == 0 ? hosts_check_classes(s->classes, error) : rc;
}

/* ---- shortest paths ---- */

/* Breadth-first search from up to 64 classes at a time, one bit each (Then et al., The More the
 * Merrier: Efficient Multi-Source Graph Traversal, VLDB 2014). */
struct hop_search {
    const job_hosts *hosts;
    struct base_arena arena;
    size_t base;              /* the class of bit 0 */
    uint64_t *seen;           /* of each vertex: classes that have reached it */
    uint64_t *now;            /* ... with the last step, of an active one */
    uint64_t *next;           /* ... with this step */
    size_t *active, *reached; /* vertices reached with the last step, or with this one */
    size_t active_count, reached_count;
    size_t *target; /* of each vertex: 1 + the class whose sample it is; 0: none */
};

/* Those classes go on from a vertex. */
static void leave_vertex(struct hop_search *x, size_t v, uint64_t classes)
{
    const topo_fabric *f = x->hosts->fabric;
    for (size_t i = f->first_arc[v]; i < f->first_arc[v + 1]; i++) {
        size_t to = f->arc[i].to;
        uint64_t first = classes & ~x->seen[to];
        if (first != 0 && x->next[to] == 0)
            x->reached[x->reached_count++] = to;
        x->next[to] |= first;
    }
}

/* Notes distances; the vertices reached become the active ones. */
static void end_step(struct hop_search *x, uint16_t hops)
{
    for (size_t k = 0; k < x->reached_count; k++) {
        size_t v = x->reached[k], q = x->target[v];
        for (uint64_t left = q != 0 ? x->next[v] : 0; left != 0; left &= left - 1) {
            size_t p = x->base + (size_t)__builtin_ctzll(left);
            x->hosts->between[p * x->hosts->classes + q - 1] = hops;
        }
        x->seen[v] |= x->next[v];
        x->now[v] = x->next[v];
        x->next[v] = 0;
    }
    size_t *swap = x->active;
    x->active = x->reached;
    x->active_count = x->reached_count;
    x->reached = swap;
    x->reached_count = 0;
}

static size_t sample_vertex(const job_hosts *s, size_t p)
{
    return s->fabric->of_host[s->host[s->sample[p]]];
}

/* The first step leaves the classes' samples, all others leave switches. A sample itself counts as
 * not seen: the path back to it is as long as that to another node of the class. */
static void search_batch(struct hop_search *x)
{
    const topo_fabric *f = x->hosts->fabric;
    memset(x->seen, 0, f->keys.count * sizeof *x->seen);
    x->active_count = x->reached_count = 0;
    for (size_t p = x->base; p < x->hosts->classes && p < x->base + 64; p++)
        leave_vertex(x, sample_vertex(x->hosts, p), UINT64_C(1) << (p - x->base));
    for (uint16_t hops = 1; x->reached_count > 0 && hops < TOPO_UNREACHED; hops++) {
        end_step(x, hops);
        for (size_t k = 0; k < x->active_count; k++)
            if (f->vertex[x->active[k]].kind == KIND_SWITCH)
                leave_vertex(x, x->active[k], x->now[x->active[k]]);
    }
}

static int hop_search_init(struct hop_search *x)
{
    size_t vertices = x->hosts->fabric->keys.count;
    x->seen = base_arena_alloc(&x->arena, vertices, sizeof *x->seen);
    x->now = base_arena_alloc(&x->arena, vertices, sizeof *x->now);
    x->next = base_arena_alloc(&x->arena, vertices, sizeof *x->next);
    x->active = base_arena_alloc(&x->arena, vertices, sizeof *x->active);
    x->reached = base_arena_alloc(&x->arena, vertices, sizeof *x->reached);
    x->target = base_arena_alloc(&x->arena, vertices, sizeof *x->target);
    if (x->arena.failed)
        return -ENOMEM;
    for (size_t p = 0; p < x->hosts->classes; p++)
        x->target[sample_vertex(x->hosts, p)] = p + 1;
    return 0;
}

int hosts_count_hops(job_hosts *s)
{
    struct hop_search x = {.hosts = s};
    s->between = base_alloc(s->classes, s->classes * sizeof *s->between);
    int rc = s->between == NULL ? -ENOMEM : hop_search_init(&x);
    if (rc == 0) {
        memset(s->between, 0xff, s->classes * s->classes * sizeof *s->between);
        for (x.base = 0; x.base < s->classes; x.base += 64)
            search_batch(&x);
    }
    base_arena_release(&x.arena);
    return rc;
}

/* ---- checks ---- */

static int check_pair(const job_hosts *s, size_t from, size_t to, matrix_error *error)
{
    if (s->between[s->class[from] * s -> classes + s -> class[to]] != TOPO_UNREACHED)
        return 0;
    return REFUSE_HOST(error, "no way from host %.80s to host %.80s", s->names[from], s->names[to]);
}

int hosts_check_reached(const job_hosts *s, matrix_error *error)
{
    int rc = 0;
    for (size_t n = 0; rc == 0 && n < s->nodes; n++)
        if (s->sample[s->class[n]] != n)
            rc = check_pair(s, s->sample[s->class[n]], n, error);
    for (size_t p = 0; rc == 0 && p < s->classes; p++)
        for (size_t q = 0; rc == 0 && q < s->classes; q++)
            if (p != q)
                rc = check_pair(s, s->sample[p], s->sample[q], error);
    return rc;
}
