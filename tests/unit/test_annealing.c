/* SPDX-License-Identifier: BSD-3-Clause */
/* What annealing knows of a placement, after any swaps and moves: compared with what the placement
 * itself tells. */
#include <string.h>

#include "edges.h"
#include "seeded.h"
#include "setmatch/annealing.h"
#include "suite.h"

enum { MOST_RANKS = 14, MOST_NODES = 6, STEPS = 60, EDGES = 24 };

typedef struct instance {
    affinity ranks;
    site site;
    size_t slots[MOST_NODES], node[MOST_RANKS];
    annealing a;
} instance;

/* The fewest ranks beyond slots, whichever node each set of these sizes has: all permutations. */
static int64_t least_excess(const int32_t *count, size_t sets, const size_t *slots, size_t nodes,
                            unsigned taken)
{
    int64_t least = sets == 0 ? 0 : INT64_MAX;
    for (size_t n = 0; sets > 0 && n < nodes; n++) {
        if ((taken >> n & 1) != 0)
            continue;
        int64_t beyond = count[0] - (int64_t)slots[n];
        int64_t sum = (beyond > 0 ? beyond : 0) +
                      least_excess(count + 1, sets - 1, slots, nodes, taken | 1U << n);
        least = sum < least ? sum : least;
    }
    return least;
}

/* Vertices of one to three ranks if `grouped`, on the first node with enough slots from any. */
static bool place_vertices(instance *c, size_t nodes, bool grouped, uint64_t *seed)
{
    size_t left[MOST_NODES];
    memcpy(left, c->slots, sizeof left);
    for (size_t v = 0; v < c->ranks.vertices; v++) {
        size_t size = grouped ? (size_t)pick(seed, 1, 3) : 1;
        size_t first = (size_t)pick(seed, 0, (int64_t)nodes - 1), k = 0;
        while (k < nodes && left[(first + k) % nodes] < size)
            k++;
        if (k == nodes)
            return false;
        c->ranks.size[v] = (vertex)size;
        c->node[v] = (first + k) % nodes;
        left[c->node[v]] -= size;
    }
    return true;
}

static void draw_graph(affinity *g, size_t ranks, uint64_t *seed)
{
    int64_t edge[EDGES][3];
    size_t edges = 0;
    for (size_t k = 0; k < EDGES; k++) {
        int64_t a = pick(seed, 0, (int64_t)ranks - 1), b = pick(seed, 0, (int64_t)ranks - 1);
        if (a != b)
            memcpy(edge[edges++], (int64_t[]){a, b, pick(seed, 1, 9)}, sizeof edge[0]);
    }
    graph_of_edges(g, ranks, edge, edges);
}

/* Nodes of any slots, also none. False: the vertices do not fit as they were drawn. */
static bool draw_instance(instance *c, bool grouped, uint64_t *seed)
{
    size_t ranks = (size_t)pick(seed, 2, MOST_RANKS), nodes = (size_t)pick(seed, 1, MOST_NODES);
    *c = (instance){0};
    for (size_t n = 0; n < nodes; n++)
        c->slots[n] = (size_t)pick(seed, 0, 8);
    draw_graph(&c->ranks, ranks, seed);
    ck_assert_int_eq(site_init(&c->site, c->slots, nodes), 0);
    if (!place_vertices(c, nodes, grouped, seed))
        return false;
    const annealing_run run = {(size_t)pick(seed, 0, 9), 1 << 20, false};
    ck_assert_int_eq(annealing_init(&c->a, &c->ranks, &c->site, &run, c->node), 0);
    return true;
}

static void release_instance(instance *c)
{
    annealing_release(&c->a);
    affinity_release(&c->ranks);
    site_release(&c->site);
}

/* Sums of the scaled weights. */
static void check_weights(const annealing *a)
{
    const affinity *g = a->ranks;
    for (size_t v = 0; v < g->vertices; v++) {
        for (size_t n = 0; n < a->nodes; n++) {
            int32_t sum = 0;
            for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
                sum += a->node[g->other[i]] == n ? a->value[i] : 0;
            ck_assert_int_eq(*annealing_weight(a, n, a->place[v]), sum);
        }
        ck_assert_uint_eq(a->member[a->place[v]], v);
        ck_assert_int_eq(a->size[a->place[v]], (int32_t)g->size[v]);
    }
}

static void check_cut_edges(const annealing *a)
{
    size_t cut = 0;
    for (size_t e = 0; e < a->ranks->start[a->ranks->vertices] / 2; e++)
        cut += a->node[a->end[e][0]] != a->node[a->end[e][1]];
    ck_assert_uint_eq(a->cuts, cut);
    for (size_t k = 0; k < cut; k++)
        ck_assert_uint_ne(a->node[a->end[a->listed[k]][0]], a->node[a->end[a->listed[k]][1]]);
}

static void check_counts(const instance *c)
{
    const annealing *a = &c->a;
    int32_t count[MOST_NODES] = {0};
    for (size_t v = 0; v < c->ranks.vertices; v++)
        count[a->node[v]] += (int32_t)c->ranks.size[v];
    for (size_t n = 0; n < a->nodes; n++)
        ck_assert_int_eq(a->count[n], count[n]);
    ck_assert_int_eq(a->excess, least_excess(count, a->nodes, c->slots, c->site.listed, 0));
}

static int64_t excess_if_given(const instance *c, size_t from, size_t to, int32_t by)
{
    int32_t count[MOST_NODES];
    memcpy(count, c->a.count, c->a.nodes * sizeof *count);
    count[from] -= by;
    count[to] += by;
    return least_excess(count, c->a.nodes, c->slots, c->site.listed, 0);
}

/* Any number up to the most, or all other ranks of both. One more does not fit. */
static void check_most_given(const instance *c)
{
    const annealing *a = &c->a;
    for (size_t from = 0; from < a->nodes; from++) {
        for (size_t to = 0; to < a->nodes; to++) {
            int32_t ranks = a->count[from], others = a->count[to];
            if (from == to)
                continue;
            int32_t most = annealing_most_given(a, ranks, others);
            ck_assert_int_le(most, ranks);
            for (int32_t by = 0; by <= most; by++)
                ck_assert_int_eq(excess_if_given(c, from, to, by), 0);
            if (most < ranks)
                ck_assert_int_gt(excess_if_given(c, from, to, most + 1), 0);
        }
    }
}

/* The copy has the same sets on nodes that hold them. */
static void check_copy(instance *c)
{
    size_t used[MOST_NODES] = {0};
    annealing_copy(&c->a, c->node);
    for (size_t v = 0; v < c->ranks.vertices; v++) {
        used[c->node[v]] += c->ranks.size[v];
        for (size_t u = 0; u < v; u++)
            ck_assert_int_eq(c->node[u] == c->node[v], c->a.node[u] == c->a.node[v]);
    }
    for (size_t n = 0; n < c->site.listed; n++)
        ck_assert_uint_le(used[n], c->slots[n]);
}

/* A swap, or a move where there is a place. */
static void make_step(instance *c, uint64_t *seed)
{
    annealing *a = &c->a;
    size_t last = c->ranks.vertices - 1;
    vertex v = (vertex)pick(seed, 0, (int64_t)last), w = (vertex)pick(seed, 0, (int64_t)last);
    size_t from = a->node[v], to = a->node[w];
    if (from == to)
        return;
    bool moves = pick(seed, 0, 1) == 0 && a->frees[to] > 0;
    int64_t excess = a->excess, more = annealing_excess(a, a->count[from], a->count[to]);
    annealing_swap(a, v, to, moves ? NO_VERTEX : w);
    if (moves && !a->grouped)
        ck_assert_int_eq(a->excess, excess + more);
}

START_TEST(any_steps)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    instance c;
    for (size_t k = 0; k < random_cases(200); k++) {
        if (draw_instance(&c, _i % 2 != 0, &seed)) {
            for (size_t step = 0; step < STEPS; step++) {
                make_step(&c, &seed);
                check_weights(&c.a);
                check_cut_edges(&c.a);
                check_counts(&c);
                if (c.a.excess > 0)
                    continue;
                check_most_given(&c);
                check_copy(&c);
            }
        }
        release_instance(&c);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("annealing");
    TCase *steps = tcase_create("steps");
    tcase_add_loop_test(steps, any_steps, 0, 6);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
