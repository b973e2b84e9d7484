/* SPDX-License-Identifier: BSD-3-Clause */
/* Multilevel bisection of a graph. */
#include "setmatch/divide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setmatch/mix.h"

enum {
    FEWEST_VERTICES = 48, /* that are still worth merging */
    SEEDS = 4,            /* where a side is grown from */
    PASSES = 3,
    LEAST_PATIENCE = 32,
    MOST_OF_A_PAIR = 10, /* a pair has no more than this part of the ranks */
};

/* What is the same on all levels. */
struct division {
    two_way *t;
    const uint64_t *capacity;
    uint64_t largest; /* a pair, in ranks */
    size_t turn;
};

static uint64_t count_ranks(const affinity *g)
{
    uint64_t ranks = 0;
    for (size_t v = 0; v < g->vertices; v++)
        ranks += g->size[v];
    return ranks;
}

static vertex largest_size(const affinity *g)
{
    vertex largest = 1;
    for (size_t v = 0; v < g->vertices; v++)
        largest = g->size[v] > largest ? g->size[v] : largest;
    return largest;
}

/* ---- merging ---- */

/* The heaviest arc of v, whether or not its end is free. */
static int64_t heaviest_arc(const affinity *g, size_t v)
{
    int64_t heaviest = 0;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
        heaviest = g->weight[i] > heaviest ? g->weight[i] : heaviest;
    return heaviest;
}

/* The free neighbour bound most to v; of equals the one of fewer ranks, then the lower. One that
 * is bound to v less than half as much as its nearest, taken neighbour waits for that one. */
static vertex partner(const affinity *g, size_t v, const vertex *to, uint64_t largest)
{
    vertex best = NO_VERTEX;
    int64_t weight = (heaviest_arc(g, v) + 1) / 2;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if (to[u] != NO_VERTEX || g->weight[i] < weight ||
            (uint64_t)g->size[u] + g->size[v] > largest)
            continue;
        if (best == NO_VERTEX || g->weight[i] > weight || g->size[u] < g->size[best] ||
            (g->size[u] == g->size[best] && u < best)) {
            best = u;
            weight = g->weight[i];
        }
    }
    return best;
}

/* Visits the vertices in an order that has nothing to do with their numbers, so that merging does
 * not run through a grid in one direction. Returns how many there are afterwards. */
static size_t match(const affinity *g, const struct division *d, vertex *to)
{
    size_t count = 0, stride = mixed_stride(g->vertices, d->turn);
    for (size_t v = 0; v < g->vertices; v++)
        to[v] = NO_VERTEX;
    for (size_t k = 0, v = d->turn % g->vertices; k < g->vertices;
         k++, v = (v + stride) % g->vertices) {
        if (to[v] != NO_VERTEX)
            continue;
        vertex u = partner(g, v, to, d->largest);
        to[v] = (vertex)count++;
        if (u != NO_VERTEX)
            to[u] = to[v];
    }
    return count;
}

/* ---- growing ---- */

/* How many ranks side 0 shall have: its part by capacity. */
static uint64_t share(uint64_t ranks, const uint64_t capacity[2])
{
    unsigned __int128 both = (unsigned __int128)capacity[0] + capacity[1];
    uint64_t wanted = (uint64_t)(((unsigned __int128)ranks * capacity[0] + both / 2) / both);
    if (wanted > capacity[0])
        wanted = capacity[0];
    return ranks - wanted > capacity[1] ? ranks - capacity[1] : wanted;
}

/* What a growing side is bound by to each vertex outside; INT64_MIN: inside. */
static vertex next_to_join(const affinity *g, const int64_t *bound)
{
    vertex best = NO_VERTEX;
    for (size_t v = 0; v < g->vertices; v++)
        if (bound[v] != INT64_MIN && (best == NO_VERTEX || bound[v] > bound[best]))
            best = (vertex)v;
    return best;
}

static void join(const affinity *g, vertex v, int64_t *bound, unsigned char *side)
{
    side[v] = 0;
    bound[v] = INT64_MIN;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
        if (bound[g->other[i]] != INT64_MIN)
            bound[g->other[i]] += 2 * g->weight[i];
}

/* Grows side 0 from `seed` to `wanted` ranks, always by what makes the cut least. */
static void grow(const affinity *g, vertex seed, uint64_t wanted, int64_t *bound,
                 unsigned char *side)
{
    uint64_t size = 0;
    for (size_t v = 0; v < g->vertices; v++) {
        side[v] = 1;
        bound[v] = 0;
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            bound[v] -= g->weight[i];
    }
    for (vertex v = seed; size < wanted && v != NO_VERTEX; v = next_to_join(g, bound)) {
        if (size + g->size[v] / 2 > wanted)
            break;
        join(g, v, bound, side);
        size += g->size[v];
    }
}

static int64_t cut_of(const affinity *g, const unsigned char *side)
{
    int64_t twice = 0;
    for (size_t v = 0; v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            if (side[v] != side[g->other[i]])
                twice += g->weight[i];
    return twice / 2;
}

static uint64_t excess(const affinity *g, const two_way_limits *limits, const unsigned char *side)
{
    uint64_t size[2] = {0, 0}, sum = 0;
    for (size_t v = 0; v < g->vertices; v++)
        size[side[v]] += g->size[v];
    for (int s = 0; s < 2; s++)
        if (size[s] > limits->capacity[s] + limits->tolerance)
            sum += size[s] - limits->capacity[s] - limits->tolerance;
    return sum;
}

/* The best of several divisions that were grown from seeds far apart, and refined. */
static int divide_coarsest(two_way *t, const affinity *g, const two_way_limits *limits,
                           unsigned char *side)
{
    uint64_t least_over = UINT64_MAX, wanted = share(count_ranks(g), limits->capacity);
    int64_t least_cut = INT64_MAX, *bound = calloc(g->vertices + 1, sizeof *bound);
    unsigned char *tried = calloc(g->vertices + 1, 1);
    int rc = bound == NULL || tried == NULL ? -ENOMEM : 0;
    for (size_t k = 0; rc == 0 && k < SEEDS && k < g->vertices; k++) {
        grow(g, (vertex)(k * g->vertices / SEEDS), wanted, bound, tried);
        two_way_refine(t, g, limits, tried);
        uint64_t now_over = excess(g, limits, tried);
        int64_t cut = cut_of(g, tried);
        if (now_over < least_over || (now_over == least_over && cut < least_cut)) {
            least_over = now_over;
            least_cut = cut;
            memcpy(side, tried, g->vertices);
        }
    }
    free(bound);
    free(tried);
    return rc;
}

/* ---- levels ---- */

static two_way_limits limits_for(const affinity *g, const uint64_t capacity[2])
{
    return (two_way_limits){.capacity = {capacity[0], capacity[1]},
                            .tolerance = largest_size(g) - 1,
                            .passes = PASSES,
                            .patience = LEAST_PATIENCE + g->vertices / 16};
}

static int divide(const struct division *d, const affinity *g, unsigned char *side);

/* Divides the graph of pairs, and gives both of a pair its side. */
static int divide_pairs(const struct division *d, const affinity *g, unsigned char *side)
{
    affinity coarse = {0};
    vertex *to = calloc(g->vertices + 1, sizeof *to);
    unsigned char *coarse_side = NULL;
    if (to == NULL)
        return -ENOMEM;
    size_t count = match(g, d, to);
    int rc = count < g->vertices - g->vertices / 16 ? affinity_contract(&coarse, g, to, count) : 1;
    if (rc == 0) {
        coarse_side = calloc(count + 1, 1);
        rc = coarse_side == NULL ? -ENOMEM : divide(d, &coarse, coarse_side);
    }
    for (size_t v = 0; rc == 0 && v < g->vertices; v++)
        side[v] = coarse_side[to[v]];
    affinity_release(&coarse);
    free(coarse_side);
    free(to);
    return rc;
}

/* divide_pairs returns 1 when there are no pairs to speak of. */
static int divide(const struct division *d, const affinity *g, unsigned char *side)
{
    two_way_limits limits = limits_for(g, d->capacity);
    int rc = g->vertices > FEWEST_VERTICES ? divide_pairs(d, g, side) : 1;
    if (rc == 1)
        return divide_coarsest(d->t, g, &limits, side);
    if (rc == 0)
        two_way_refine(d->t, g, &limits, side);
    return rc;
}

int divide_in_two(two_way *t, const affinity *g, const uint64_t capacity[2], size_t turn,
                  unsigned char *side)
{
    const struct division d = {t, capacity, count_ranks(g) / MOST_OF_A_PAIR + 1, turn};
    return divide(&d, g, side);
}
