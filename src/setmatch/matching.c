/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of vertices that merge when a graph is coarsened. */
#include "setmatch/matching.h"

#include "setmatch/mix.h"

static int same_place(const match_rules *m, size_t v, size_t u)
{
    for (size_t k = 0; k < 2; k++)
        if (m->within[k] != NULL && m->within[k][u] != m->within[k][v])
            return 0;
    return 1;
}

/* The weight of the heaviest arc of v to a vertex of the same place, free or merged. */
static int64_t heaviest_arc(const affinity *g, const match_rules *m, size_t v)
{
    int64_t heaviest = 0;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
        if (g->weight[i] > heaviest && same_place(m, v, g->other[i]))
            heaviest = g->weight[i];
    return heaviest;
}

/* The free neighbour of v of greatest weight; on a tie the one of fewer ranks, then the lower. None
 * if the heaviest arc of v has more than twice that weight: v merges on a later level. */
static vertex find_partner(const affinity *g, const match_rules *m, size_t v, const vertex *to)
{
    vertex best = NO_VERTEX;
    int64_t weight = (heaviest_arc(g, m, v) + 1) / 2;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if (to[u] != NO_VERTEX || g->weight[i] < weight || !same_place(m, v, u) ||
            (uint64_t)g->size[u] + g->size[v] > m->largest)
            continue;
        if (best == NO_VERTEX || g->weight[i] > weight || g->size[u] < g->size[best] ||
            (g->size[u] == g->size[best] && u < best)) {
            best = u;
            weight = g->weight[i];
        }
    }
    return best;
}

/* From partners to coarse vertices, numbered like their first members, so that what is near in
 * memory stays so. */
static size_t number_pairs(vertex *to, size_t vertices)
{
    size_t count = 0;
    for (size_t v = 0; v < vertices; v++)
        to[v] = to[v] < v ? to[to[v]] : (vertex)count++;
    return count;
}

size_t match_vertices(const affinity *g, const match_rules *m, vertex *to)
{
    size_t stride = mixed_stride(g->vertices, m->variant);
    for (size_t v = 0; v < g->vertices; v++)
        to[v] = NO_VERTEX;
    for (size_t k = 0, v = m->variant % g->vertices; k < g->vertices;
         k++, v = (v + stride) % g->vertices) {
        if (to[v] != NO_VERTEX)
            continue;
        vertex u = find_partner(g, m, v, to);
        to[v] = u == NO_VERTEX ? (vertex)v : u;
        to[to[v]] = (vertex)v;
    }
    return number_pairs(to, g->vertices);
}
