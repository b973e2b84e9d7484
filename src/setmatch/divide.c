/* SPDX-License-Identifier: BSD-3-Clause */
/* Multilevel bisection of a graph. */
#include "setmatch/divide.h"

#include <errno.h>
#include <string.h>

#include "setmatch/gains.h"
#include "setmatch/matching.h"

enum {
    PASSES = 3,
    LEAST_PATIENCE = 12,
    MOST_PATIENCE = 1000,
    PARTS_PER_GRAPH = 10, /* a pair has at most one of as many parts of the ranks */
};

struct division_depth {
    size_t coarsest;        /* graphs up to this number of vertices are not coarsened */
    size_t seeds;           /* vertices from which a side is grown */
    size_t coarsest_passes; /* from each of them */
    size_t all_listed;      /* as in two_way_limits */
    size_t patience_part;   /* so many parts of the vertices may move without gain */
};

/* Where many ranks leave little time, passes try less, and more of the smallest divisions are
 * compared, which costs little and gains more than it loses. */
static const struct division_depth thorough = {48, 2, PASSES, TWO_WAY_ALL_LISTED, 16};
static const struct division_depth quick = {16, 4, 2, TWO_WAY_FEW_LISTED, 32};

/* The same on all levels. */
struct division {
    two_way *t;
    const uint64_t *capacity;
    const struct division_depth *depth;
    match_rules rules;
};

static vertex largest_size(const affinity *g)
{
    vertex largest = 1;
    for (size_t v = 0; v < g->vertices; v++)
        largest = g->size[v] > largest ? g->size[v] : largest;
    return largest;
}

/* ---- growing ---- */

/* The ranks of side 0 in proportion to the capacities. */
static uint64_t share_of_side(uint64_t ranks, const uint64_t capacity[2])
{
    unsigned __int128 both = (unsigned __int128)capacity[0] + capacity[1];
    uint64_t wanted = (uint64_t)(((unsigned __int128)ranks * capacity[0] + both / 2) / both);
    if (wanted > capacity[0])
        wanted = capacity[0];
    return ranks - wanted > capacity[1] ? ranks - capacity[1] : wanted;
}

/* The gain of a vertex is twice the weight of its arcs to side 0, less that of all. */
static void join_side(const affinity *g, vertex v, gains *outside, unsigned char *side)
{
    side[v] = TWO_WAY_NEAR;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        if ((side[u] & TWO_WAY_SIDE) == 0)
            continue;
        outside->vertices[u].gain += 2 * g->weight[i];
        gains_grew(outside, u);
    }
}

/* All vertices, the seed at the top. */
static gains fill_outside(two_way *t, const affinity *g, vertex seed, unsigned char *side)
{
    gains outside = {.heap = t->heap[0], .vertices = t->vertices};
    for (size_t v = 0; v < g->vertices; v++) {
        int64_t weight = 0;
        side[v] = 1 | TWO_WAY_NEAR;
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            weight += g->weight[i];
        outside.vertices[v].gain = v == seed ? INT64_MAX : -weight;
        gains_append(&outside, (vertex)v);
    }
    gains_build(&outside, outside.heap, outside.count);
    return outside;
}

/* Grows side 0 greedily from `seed` to `target` ranks. Any vertex may be near the other side. */
static void grow_side(two_way *t, const affinity *g, vertex seed, uint64_t target,
                      unsigned char *side)
{
    uint64_t size = 0;
    gains outside = fill_outside(t, g, seed, side);
    for (vertex v; size < target && (v = gains_top(&outside)) != NO_VERTEX; size += g->size[v]) {
        if (size + g->size[v] / 2 > target)
            break;
        gains_remove_top(&outside);
        join_side(g, v, &outside, side);
    }
}

/* Without edges all divisions cut the same. */
static void divide_in_order(const affinity *g, uint64_t target, unsigned char *side)
{
    uint64_t size = 0;
    for (size_t v = 0; v < g->vertices; v++) {
        side[v] = size + g->size[v] / 2 >= target;
        size += side[v] == 0 ? g->size[v] : 0;
    }
}

static int64_t cut_between_sides(const affinity *g, const unsigned char *side)
{
    int64_t twice = 0;
    for (size_t v = 0; v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            if (((side[v] ^ side[g->other[i]]) & TWO_WAY_SIDE) != 0)
                twice += g->weight[i];
    return twice / 2;
}

static uint64_t total_excess(const affinity *g, const two_way_limits *limits,
                             const unsigned char *side)
{
    uint64_t size[2] = {0, 0}, sum = 0;
    for (size_t v = 0; v < g->vertices; v++)
        size[side[v] & TWO_WAY_SIDE] += g->size[v];
    for (int s = 0; s < 2; s++)
        if (size[s] > limits->capacity[s] + limits->tolerance)
            sum += size[s] - limits->capacity[s] - limits->tolerance;
    return sum;
}

/* The best of several refined divisions, grown from seeds far apart. */
static int divide_coarsest(const struct division *d, const affinity *g,
                           const two_way_limits *limits, unsigned char *side)
{
    size_t seeds = d->depth->seeds < g->vertices ? d->depth->seeds : g->vertices;
    uint64_t least_excess = UINT64_MAX;
    uint64_t target = share_of_side(affinity_ranks(g), limits->capacity);
    int64_t least_cut = INT64_MAX;
    struct base_arena arena = {0};
    unsigned char *trial = base_arena_alloc(&arena, g->vertices, 1);
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t k = 0; rc == 0 && k < seeds; k++) {
        grow_side(d->t, g, (vertex)(k * g->vertices / seeds), target, trial);
        two_way_refine(d->t, g, limits, trial);
        uint64_t excess = total_excess(g, limits, trial);
        int64_t cut = cut_between_sides(g, trial);
        if (excess < least_excess || (excess == least_excess && cut < least_cut)) {
            least_excess = excess;
            least_cut = cut;
            memcpy(side, trial, g->vertices);
        }
    }
    base_arena_release(&arena);
    return rc;
}

/* ---- levels ---- */

static two_way_limits limits_for(const struct division *d, const affinity *g)
{
    size_t part = g->vertices / d->depth->patience_part;
    size_t patience = part < MOST_PATIENCE ? part : MOST_PATIENCE;
    return (two_way_limits){.capacity = {d->capacity[0], d->capacity[1]},
                            .tolerance = largest_size(g) - 1,
                            .all_listed = d->depth->all_listed,
                            .max_passes = PASSES,
                            .patience = LEAST_PATIENCE + patience};
}

static int divide_graph(const struct division *d, const affinity *g, unsigned char *side);

/* Divides the coarse graph, and projects its sides. Returns 1 if there are few pairs to merge. */
static int divide_pairs(const struct division *d, const affinity *g, unsigned char *side)
{
    struct base_arena arena = {0};
    affinity coarse = {0};
    vertex *to = base_arena_alloc(&arena, g->vertices, sizeof *to);
    unsigned char *coarse_side = base_arena_alloc(&arena, g->vertices, 1);
    int rc = arena.failed ? -ENOMEM : match_and_contract(&coarse, g, &d->rules, to);
    if (rc == 0)
        rc = divide_graph(d, &coarse, coarse_side);
    for (size_t v = 0; rc == 0 && v < g->vertices; v++)
        side[v] = coarse_side[to[v]];
    affinity_release(&coarse);
    base_arena_release(&arena);
    return rc;
}

static int divide_graph(const struct division *d, const affinity *g, unsigned char *side)
{
    if (g->start[g->vertices] == 0) {
        divide_in_order(g, share_of_side(affinity_ranks(g), d->capacity), side);
        return 0;
    }
    two_way_limits limits = limits_for(d, g);
    int rc = g->vertices > d->depth->coarsest ? divide_pairs(d, g, side) : 1;
    if (rc == 1) {
        limits.max_passes = d->depth->coarsest_passes;
        return divide_coarsest(d, g, &limits, side);
    }
    if (rc == 0)
        two_way_refine(d->t, g, &limits, side);
    return rc;
}

int divide_in_two(two_way *t, const affinity *g, const uint64_t capacity[2],
                  const divide_rules *rules, unsigned char *side)
{
    const struct division d = {
        t,
        capacity,
        rules->is_large ? &quick : &thorough,
        {.largest = affinity_ranks(g) / PARTS_PER_GRAPH + 1, .seed = rules->seed}};
    return divide_graph(&d, g, side);
}
