/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of ranks that are merged, and their placement on nodes. */
#include "setmatch/pack.h"

#include <errno.h>

int sets_init(sets_graph *s, const affinity *ranks, const allocation *nodes, size_t *node)
{
    size_t n = ranks->vertices;
    *s = (sets_graph){.node = node};
    s->first = base_arena_alloc(&s->arena, n, sizeof *s->first);
    s->last = base_arena_alloc(&s->arena, n, sizeof *s->last);
    s->next = base_arena_alloc(&s->arena, n, sizeof *s->next);
    s->merged_first = base_arena_alloc(&s->arena, n, sizeof *s->merged_first);
    s->merged_last = base_arena_alloc(&s->arena, n, sizeof *s->merged_last);
    int rc = s->arena.failed ? -ENOMEM
                             : free_nodes_init(&s->free, &s->arena, nodes->slots, nodes->listed);
    for (size_t v = 0; rc == 0 && v < n; v++) {
        s->first[v] = s->last[v] = (vertex)v;
        s->next[v] = NO_VERTEX;
        node[v] = SIZE_MAX;
    }
    return rc == 0 ? affinity_contract(&s->g, ranks, s->first, n) : rc;
}

void sets_release(sets_graph *s)
{
    affinity_release(&s->g);
    base_arena_release(&s->arena);
}

static void swap_lists(vertex **a, vertex **b)
{
    vertex *other = *a;
    *a = *b;
    *b = other;
}

int sets_merge(sets_graph *s, const vertex *to, size_t count, const vertex *order, size_t ordered)
{
    affinity coarse;
    vertex *first = s->merged_first, *last = s->merged_last;
    int rc = affinity_contract(&coarse, &s->g, to, count);
    if (rc != 0)
        return rc;
    affinity_release(&s->g);
    s->g = coarse;
    for (size_t c = 0; c < count; c++)
        first[c] = NO_VERTEX;
    for (size_t k = 0; k < ordered; k++) {
        vertex old = order != NULL ? order[k] : (vertex)k, c = to[old];
        if (c == NO_VERTEX)
            continue;
        if (first[c] == NO_VERTEX)
            first[c] = s->first[old];
        else
            s->next[last[c]] = s->first[old];
        last[c] = s->last[old];
    }
    swap_lists(&s->first, &s->merged_first);
    swap_lists(&s->last, &s->merged_last);
    return 0;
}

void sets_place(sets_graph *s, vertex c, size_t count, size_t node)
{
    size_t placed = 0;
    for (; placed < count && s->g.size[c] > 0; placed++) {
        s->node[s->first[c]] = node;
        s->first[c] = s->next[s->first[c]];
        s->g.size[c]--;
    }
    free_nodes_occupy(&s->free, node, placed);
}

/* ---- packing ---- */

/* The weights between a set and the nodes. */
struct node_weights {
    int64_t *weight; /* by node */
    size_t *touched, count;
};

static void sum_node_weights(const sets_graph *s, const affinity *ranks, vertex c,
                             struct node_weights *b)
{
    for (vertex v = s->first[c]; v != NO_VERTEX; v = s->next[v]) {
        for (size_t i = ranks->start[v]; i < ranks->start[v + 1]; i++) {
            size_t node = s->node[ranks->other[i]];
            if (node == SIZE_MAX)
                continue;
            if (b->weight[node] == 0)
                b->touched[b->count++] = node;
            b->weight[node] += ranks->weight[i];
        }
    }
}

/* The node of greatest weight with `slots` free slots, the lower index on a tie, or
 * FREE_NODES_NONE. Clears the weights. */
static size_t heaviest_node(const sets_graph *s, struct node_weights *b, size_t slots)
{
    size_t best = FREE_NODES_NONE;
    int64_t weight = 0;
    for (size_t k = 0; k < b->count; k++) {
        size_t node = b->touched[k];
        if (s->free.node[node].free >= slots &&
            (b->weight[node] > weight || (b->weight[node] == weight && node < best))) {
            best = node;
            weight = b->weight[node];
        }
    }
    while (b->count > 0)
        b->weight[b->touched[--b->count]] = 0;
    return best;
}

static void pack_set(sets_graph *s, const affinity *ranks, vertex c, struct node_weights *b)
{
    while (s->g.size[c] > 0) {
        if (ranks != NULL)
            sum_node_weights(s, ranks, c, b);
        size_t node = heaviest_node(s, b, s->g.size[c]);
        if (node == FREE_NODES_NONE)
            node = free_nodes_fewest(&s->free, s->g.size[c]);
        if (node == FREE_NODES_NONE)
            node = free_nodes_most(&s->free);
        sets_place(s, c, s->free.node[node].free, node);
    }
}

/* Sets by decreasing size, equal ones by number: a counting sort. */
static vertex *sort_sets_by_size(const affinity *g, struct base_arena *arena)
{
    vertex largest = 0;
    for (size_t c = 0; c < g->vertices; c++)
        largest = g->size[c] > largest ? g->size[c] : largest;
    size_t *place = base_arena_alloc(arena, (size_t)largest + 2, sizeof *place);
    vertex *sorted = base_arena_alloc(arena, g->vertices, sizeof *sorted);
    if (arena->failed)
        return NULL;
    for (size_t c = 0; c < g->vertices; c++)
        place[largest - g->size[c] + 1]++;
    for (size_t k = 1; k <= largest; k++)
        place[k] += place[k - 1];
    for (size_t c = 0; c < g->vertices; c++)
        sorted[place[largest - g->size[c]]++] = (vertex)c;
    return sorted;
}

int sets_pack(sets_graph *s, const affinity *ranks)
{
    size_t nodes = s->free.nodes;
    struct node_weights b = {base_arena_alloc(&s->arena, nodes, sizeof *b.weight),
                             base_arena_alloc(&s->arena, nodes, sizeof *b.touched), 0};
    vertex *sorted = sort_sets_by_size(&s->g, &s->arena);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t k = 0; k < s->g.vertices; k++)
        pack_set(s, ranks, sorted[k], &b);
    return 0;
}
