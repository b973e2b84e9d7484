/* SPDX-License-Identifier: BSD-3-Clause */
/* Hierarchies of switches: cycles, and trees without a common root. */
#include "base/arena.h"
#include "base/union.h"

#include <errno.h>
#include <string.h>

#include "topo/read.h"

struct forest {
    struct base_arena arena;
    size_t vertices;
    size_t *above; /* of each vertex: number of its parents */
    size_t *part;  /* of switches: union-find. A node under two switches does not join them. */
    size_t *ready; /* vertices all of whose parents have been passed */
};

static int forest_init(struct forest *t, const topo_fabric *f)
{
    size_t n = f->keys.count;
    *t = (struct forest){.vertices = n};
    t->above = base_arena_alloc(&t->arena, n, sizeof *t->above);
    t->part = base_arena_alloc(&t->arena, n, sizeof *t->part);
    t->ready = base_arena_alloc(&t->arena, n, sizeof *t->ready);
    if (t->arena.failed)
        return -ENOMEM;
    for (size_t v = 0; v < n; v++)
        t->part[v] = v;
    for (size_t i = 0; i < f->arcs; i++) {
        t->above[f->arc[i].to]++;
        if (f->vertex[f->arc[i].to].kind == KIND_SWITCH)
            t->part[base_root(t->part, f->arc[i].from)] = base_root(t->part, f->arc[i].to);
    }
    return 0;
}

/* Topological sort: the vertices left over are on or below a cycle. The roots are the first of
 * `ready`. */
static int check_cycles(struct forest *t, const topo_fabric *f, size_t *tops, matrix_error *error)
{
    size_t count = 0;
    for (size_t v = 0; v < t->vertices; v++)
        if (t->above[v] == 0)
            t->ready[count++] = v;
    *tops = count;
    for (size_t k = 0; k < count; k++)
        for (size_t i = f->first_arc[t->ready[k]]; i < f->first_arc[t->ready[k] + 1]; i++)
            if (--t->above[f->arc[i].to] == 0)
                t->ready[count++] = f->arc[i].to;
    for (size_t v = 0; count < t->vertices && v < t->vertices; v++)
        if (t->above[v] > 0 && f->vertex[v].kind == KIND_SWITCH)
            return matrix_refuse(error, f->vertex[v].first_line,
                                 "%.80s is above and below itself, or under one "
                                 "that is",
                                 fabric_key(f, v));
    return 0;
}

static int add_root(topo_fabric *f, const struct forest *t, size_t tops)
{
    static const char key[] = "the top of all";
    size_t v;
    int rc = fabric_vertex(f, key, sizeof key - 1, 0, &v);
    if (rc != 0)
        return rc;
    f->vertex[v].kind = KIND_SWITCH;
    f->joined = 1;
    for (size_t k = 0; k < tops && rc == 0; k++)
        rc = fabric_add_arc(f, (arc){.from = v, .to = t->ready[k]});
    return rc;
}

int join_trees(topo_fabric *f, matrix_error *error)
{
    struct forest t;
    size_t tops = 0, parts = 0;
    int rc = forest_init(&t, f);
    if (rc == 0)
        rc = fabric_sort_arcs(f);
    if (rc == 0)
        rc = check_cycles(&t, f, &tops, error);
    for (size_t v = 0; rc == 0 && v < t.vertices; v++)
        parts += f->vertex[v].kind == KIND_SWITCH && t.part[v] == v;
    if (rc == 0 && parts > 1)
        rc = add_root(f, &t, tops);
    base_arena_release(&t.arena);
    return rc;
}
