/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement that changes by swaps of two ranks, or of a rank and a free slot. */
#include "swapping.h"

#include <errno.h>
#include <string.h>

int swapping_init(swapping *s, struct base_arena *arena, const affinity *ranks, size_t nodes,
                  size_t places)
{
    *s = (swapping){.ranks = ranks, .nodes = nodes, .places = places};
    s->node = base_arena_alloc(arena, places, sizeof *s->node);
    s->weight = base_arena_alloc(arena, ranks->vertices, nodes * sizeof *s->weight);
    return arena->failed ? -ENOMEM : 0;
}

void swapping_weigh(swapping *s)
{
    const affinity *g = s->ranks;
    memset(s->weight, 0, g->vertices * s->nodes * sizeof *s->weight);
    for (size_t v = 0; v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            s->weight[v * s->nodes + s->node[g->other[i]]] += g->weight[i];
}

static int64_t weight_between(const affinity *g, size_t a, size_t b)
{
    for (size_t i = g->start[a]; i < g->start[a + 1]; i++)
        if (g->other[i] == b)
            return g->weight[i];
    return 0;
}

/* An edge between the two stays cut. */
int64_t swapping_gain(const swapping *s, size_t a, size_t b)
{
    int both = a < s->ranks->vertices && b < s->ranks->vertices;
    return swapping_most_gain(s, a, b) - (both ? 2 * weight_between(s->ranks, a, b) : 0);
}

static void move_place(swapping *s, size_t place, size_t node)
{
    const affinity *g = s->ranks;
    size_t from = s->node[place];
    s->node[place] = node;
    if (place >= g->vertices)
        return;
    for (size_t i = g->start[place]; i < g->start[place + 1]; i++) {
        int64_t *weight = s->weight + g->other[i] * s->nodes;
        weight[from] -= g->weight[i];
        weight[node] += g->weight[i];
    }
}

void swapping_apply(swapping *s, size_t a, size_t b)
{
    size_t from = s->node[a];
    move_place(s, a, s->node[b]);
    move_place(s, b, from);
}
