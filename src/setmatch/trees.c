/* SPDX-License-Identifier: BSD-3-Clause */
/* The trees of a graph without cycles. */
#include "setmatch/trees.h"

#include <errno.h>
#include <string.h>

#include "base/mix.h"

/* Breadth first from `root`; returns the number of vertices that are listed then. */
static size_t list_tree(trees *t, const affinity *g, vertex root, vertex *list, size_t listed)
{
    size_t end = listed;
    list[end++] = root;
    t->parent[root] = (vertex)g->vertices;
    for (size_t at = listed; at < end; at++) {
        vertex v = list[at];
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
            vertex u = g->other[i];
            if (t->parent[u] != NO_VERTEX)
                continue;
            list[end++] = u;
            t->parent[u] = v;
            t->weight[u] = g->weight[i];
        }
    }
    return end;
}

/* Returns the number of trees, of which all edges but those to a parent are ignored. */
static size_t list_trees(trees *t, const affinity *g, size_t variant, vertex *list)
{
    size_t listed = 0, found = 0, first = variant > 0 ? base_mix(variant) % g->vertices : 0;
    memset(t->parent, 0xff, g->vertices * sizeof *t->parent);
    for (size_t k = 0; k < g->vertices; k++) {
        vertex v = (vertex)((first + k) % g->vertices);
        if (t->parent[v] != NO_VERTEX)
            continue;
        listed = list_tree(t, g, v, list, listed);
        found++;
    }
    return found;
}

/* size[v]: the vertices of the subtree of v. */
static void count_subtrees(const trees *t, size_t vertices, const vertex *list, vertex *size)
{
    for (size_t k = vertices; k-- > 0;) {
        vertex v = list[k];
        size[v]++;
        if (t->parent[v] != vertices)
            size[t->parent[v]] += size[v];
    }
}

/* Appends the children of v to the stack, that of the largest subtree first, and returns its depth
 * then. */
static size_t push_children(const trees *t, const affinity *g, const vertex *size, vertex v,
                            vertex *stack, size_t depth)
{
    size_t first = depth;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if (t->parent[u] != v)
            continue;
        stack[depth++] = u;
        if (size[u] > size[stack[first]]) {
            stack[depth - 1] = stack[first];
            stack[first] = u;
        }
    }
    return depth;
}

static void order_trees(trees *t, const affinity *g, const vertex *list, const vertex *size,
                        vertex *stack)
{
    size_t ordered = 0;
    for (size_t k = 0; k < g->vertices; k++) {
        if (t->parent[list[k]] != g->vertices)
            continue;
        stack[0] = list[k];
        for (size_t depth = 1; depth > 0;) {
            vertex v = stack[--depth];
            t->order[ordered++] = v;
            depth = push_children(t, g, size, v, stack, depth);
        }
    }
}

int trees_init(trees *t, struct base_arena *arena, const affinity *g, size_t variant)
{
    struct base_arena scratch = {0};
    vertex *list = base_arena_alloc(&scratch, g->vertices, sizeof *list);
    vertex *size = base_arena_alloc(&scratch, g->vertices, sizeof *size);
    vertex *stack = base_arena_alloc(&scratch, g->vertices, sizeof *stack);
    t->order = base_arena_alloc(arena, g->vertices, sizeof *t->order);
    t->parent = base_arena_alloc(arena, g->vertices, sizeof *t->parent);
    t->weight = base_arena_alloc(arena, g->vertices, sizeof *t->weight);
    int rc = arena->failed || scratch.failed ? -ENOMEM : 0;
    if (rc == 0 && list_trees(t, g, variant, list) + g->start[g->vertices] / 2 > g->vertices)
        rc = 1;
    if (rc == 0) {
        count_subtrees(t, g->vertices, list, size);
        order_trees(t, g, list, size, stack);
    }
    base_arena_release(&scratch);
    return rc;
}
