/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of vertices that merge when a graph is coarsened. */
#include "setmatch/matching.h"

#include "setmatch/mix.h"

enum { BLOCK = 4096 };

static int same_place(const match_rules *m, size_t v, size_t u)
{
    return m->within == NULL || m->within[u] == m->within[v];
}

/* Whether u is a better partner than `best`, which may be none: of greater weight, on a tie of
 * fewer ranks, then the lower. */
static int is_better(const affinity *g, vertex u, int64_t weight, vertex best, int64_t best_weight)
{
    if (best == NO_VERTEX || weight != best_weight)
        return best == NO_VERTEX || weight > best_weight;
    return g->size[u] < g->size[best] || (g->size[u] == g->size[best] && u < best);
}

/* The best free neighbour of v. None if the heaviest arc of v has more than twice the weight: v
 * merges on a later level. */
static vertex find_partner(const affinity *g, const match_rules *m, size_t v, const vertex *to)
{
    vertex best = NO_VERTEX;
    int64_t weight = 0, heaviest = 0;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if (!same_place(m, v, u))
            continue;
        if (g->weight[i] > heaviest)
            heaviest = g->weight[i];
        if (to[u] == NO_VERTEX && (uint64_t)g->size[u] + g->size[v] <= m->largest &&
            is_better(g, u, g->weight[i], best, weight)) {
            best = u;
            weight = g->weight[i];
        }
    }
    return weight >= (heaviest + 1) / 2 ? best : NO_VERTEX;
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

static void match_vertex(const affinity *g, const match_rules *m, size_t v, vertex *to)
{
    if (to[v] != NO_VERTEX)
        return;
    vertex u = find_partner(g, m, v, to);
    to[v] = u == NO_VERTEX ? (vertex)v : u;
    to[to[v]] = (vertex)v;
}

/* Vertices near each other in number are so in memory, too: large graphs are visited block by
 * block. */
size_t match_vertices(const affinity *g, const match_rules *m, vertex *to)
{
    for (size_t v = 0; v < g->vertices; v++)
        to[v] = NO_VERTEX;
    for (size_t first = 0; first < g->vertices; first += BLOCK) {
        size_t count = g->vertices - first < BLOCK ? g->vertices - first : BLOCK;
        size_t stride = mixed_stride(count, m->variant);
        for (size_t k = 0, v = m->variant % count; k < count; k++, v = (v + stride) % count)
            match_vertex(g, m, first + v, to);
    }
    return number_pairs(to, g->vertices);
}
