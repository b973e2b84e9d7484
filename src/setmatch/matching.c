/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of vertices that merge when a graph is coarsened. */
#include "setmatch/matching.h"

enum { BLOCK = 4096 };

/* A stride coprime to n, so that steps modulo n visit every number below n once; about n divided by
 * the golden ratio, less for seeds 1 .. 7. */
static size_t coprime_stride(size_t n, size_t seed)
{
    size_t stride = (size_t)((double)n * (0.6180339887498949 - 0.07 * (double)(seed % 8)));
    for (stride |= 1; n > 1; stride++) {
        size_t a = n, b = stride;
        while (b != 0) {
            size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return stride;
}

static int same_place(const match_rules *m, size_t v, size_t u)
{
    return m->within == NULL || m->within[u] == m->within[v];
}

/* The best free neighbour of v: of greatest weight, on a tie of fewest ranks, then the lowest. None
 * if the heaviest arc of v has more than twice the weight: v merges on a later level. */
static vertex find_partner(const affinity *g, const match_rules *m, size_t v, const vertex *to)
{
    uint64_t best = NO_VERTEX; /* its size and number */
    int64_t weight = 0, heaviest = 0;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if (!same_place(m, v, u))
            continue;
        if (g->weight[i] > heaviest)
            heaviest = g->weight[i];
        uint64_t rated = (uint64_t)g->size[u] << 32 | u;
        bool fits = to[u] == NO_VERTEX && (uint64_t)g->size[u] + g->size[v] <= m->largest;
        if (fits && (g->weight[i] > weight || (g->weight[i] == weight && rated < best))) {
            best = rated;
            weight = g->weight[i];
        }
    }
    return weight >= (heaviest + 1) / 2 ? (vertex)best : NO_VERTEX;
}

/* Turns partners into coarse vertices, numbered like their first members, so that what is near in
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
int match_and_contract(affinity *coarse, const affinity *g, const match_rules *m, vertex *to)
{
    for (size_t v = 0; v < g->vertices; v++)
        to[v] = NO_VERTEX;
    for (size_t first = 0; first < g->vertices; first += BLOCK) {
        size_t count = g->vertices - first < BLOCK ? g->vertices - first : BLOCK;
        size_t stride = coprime_stride(count, m->seed);
        for (size_t k = 0, v = m->seed % count; k < count;
             k++, v = v + stride - (v + stride < count ? 0 : count))
            match_vertex(g, m, first + v, to);
    }
    size_t count = number_pairs(to, g->vertices);
    return count < g->vertices - g->vertices / 16 ? affinity_contract(coarse, g, to, count) : 1;
}
