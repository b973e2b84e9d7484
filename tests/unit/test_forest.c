/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of a forest: every choice is compared with all choices. */
#include <errno.h>
#include <string.h>

#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "setmatch/candidates.h"
#include "suite.h"

enum { MOST_RANKS = 13, MOST_NODES = 6, NOWHERE = 99 };

typedef struct instance {
    affinity ranks;
    site site;
    size_t slots[MOST_NODES], node[MOST_RANKS];
} instance;

static void begin_instance(instance *c, size_t ranks, int64_t (*edge)[3], size_t edges,
                           const size_t *slots, size_t nodes)
{
    graph_of_edges(&c->ranks, ranks, edge, edges);
    memcpy(c->slots, slots, nodes * sizeof *slots);
    ck_assert_int_eq(site_init(&c->site, c->slots, nodes), 0);
    for (size_t v = 0; v < MOST_RANKS; v++)
        c->node[v] = NOWHERE;
}

static void release_instance(instance *c)
{
    affinity_release(&c->ranks);
    site_release(&c->site);
}

/* Trees whose vertices have any numbers; slots that suffice, on some nodes none or to spare. */
static void draw_instance(instance *c, uint64_t *seed)
{
    int64_t edge[MOST_RANKS][3];
    size_t ranks = (size_t)pick(seed, 1, MOST_RANKS), edges = 0, number[MOST_RANKS];
    size_t slots[MOST_NODES] = {0}, nodes = (size_t)pick(seed, 1, MOST_NODES);
    for (size_t v = 0; v < ranks; v++) {
        size_t u = (size_t)pick(seed, 0, (int64_t)v);
        number[v] = v;
        number[v] = number[u];
        number[u] = v;
    }
    for (size_t v = 1; v < ranks; v++) {
        if (pick(seed, 0, 7) == 0)
            continue;
        int64_t *e = edge[edges++];
        e[0] = (int64_t)number[v];
        e[1] = (int64_t)number[pick(seed, 0, (int64_t)v - 1)];
        e[2] = pick(seed, 1, 4);
    }
    size_t all = ranks + (size_t)pick(seed, 0, 4);
    for (size_t k = 0; k < all; k++)
        slots[(size_t)pick(seed, 0, (int64_t)nodes - 1)]++;
    begin_instance(c, ranks, edge, edges, slots, nodes);
}

/* The weight of arcs from the ranks of one set to those of another, which are disjoint. */
static int64_t weight_between(const affinity *g, unsigned from, unsigned to)
{
    int64_t sum = 0;
    for (size_t v = 0; v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            if ((from >> v & 1) != 0 && (to >> g->other[i] & 1) != 0)
                sum += g->weight[i];
    return sum;
}

/* Of all sets of that number of the ranks. */
static int64_t least_cut(const affinity *g, unsigned ranks, int count)
{
    int64_t least = INT64_MAX;
    for (unsigned set = ranks;; set = (set - 1) & ranks) {
        if (__builtin_popcount(set) == count) {
            int64_t cut = weight_between(g, set, ranks & ~set);
            least = cut < least ? cut : least;
        }
        if (set == 0)
            return least;
    }
}

static unsigned ranks_on(const instance *c, size_t n)
{
    unsigned set = 0;
    for (size_t v = 0; v < c->ranks.vertices; v++)
        set |= c->node[v] == n ? 1U << v : 0;
    return set;
}

/* Each used node in turn, the smallest first, is full but for the last, and no set of as many ranks
 * has a smaller cut to those that were left. */
static void check_choices(const instance *c)
{
    unsigned left = (1U << c->ranks.vertices) - 1;
    for (size_t k = c->site.nodes; k-- > 0;) {
        size_t n = c->site.by_size[k];
        unsigned set = ranks_on(c, n);
        int count = __builtin_popcount(set), rest = __builtin_popcount(left) - count;
        if (count == 0)
            continue;
        ck_assert_uint_eq(set & ~left, 0);
        ck_assert((size_t)count == c->slots[n] || (rest == 0 && (size_t)count < c->slots[n]));
        ck_assert_int_eq(weight_between(&c->ranks, set, left & ~set),
                         least_cut(&c->ranks, left, count));
        left &= ~set;
    }
    ck_assert_uint_eq(left, 0);
}

START_TEST(each_node_takes_the_least_cut)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t state = seed;
        instance c;
        size_t work = 0;
        draw_instance(&c, &state);
        ck_assert_int_eq(place_forest(&c.ranks, &c.site, c.node, &work), 0);
        check_choices(&c);
        release_instance(&c);
    }
}
END_TEST

/* Of three nodes with 5, 3 and 4 slots, 5 and 4 suffice. A path is cut once. */
START_TEST(fewest_nodes)
{
    int64_t edge[8][3];
    const size_t slots[] = {5, 3, 4};
    instance c;
    size_t work = 0;
    for (int64_t v = 0; v < 8; v++)
        memcpy(edge[v], (int64_t[]){v, v + 1, 7}, sizeof edge[v]);
    begin_instance(&c, 9, edge, 8, slots, 3);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, c.node, &work), 0);
    ck_assert_uint_eq(ranks_on(&c, 1), 0);
    ck_assert_int_eq(affinity_cut(&c.ranks, c.node), 7);
    release_instance(&c);
}
END_TEST

START_TEST(cycles_and_empty_graphs)
{
    int64_t cycle[][3] = {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};
    const size_t slots[] = {4, 4};
    instance c;
    size_t work = 0;
    begin_instance(&c, 3, cycle, 3, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, c.node, &work), 1);
    release_instance(&c);
    begin_instance(&c, 6, cycle, 3, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, c.node, &work), 1);
    for (size_t v = 0; v < 6; v++)
        ck_assert_uint_eq(c.node[v], NOWHERE);
    release_instance(&c);
    begin_instance(&c, 0, cycle, 0, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, c.node, &work), 1);
    release_instance(&c);
    begin_instance(&c, 7, cycle, 0, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, c.node, &work), 0);
    check_choices(&c);
    release_instance(&c);
}
END_TEST

START_TEST(memory_runs_out)
{
    uint64_t state = 7;
    instance c;
    long nth = 0;
    size_t work = 0;
    draw_instance(&c, &state);
    for (int rc = -ENOMEM; rc != 0; nth++) {
        fail_allocation(nth);
        rc = place_forest(&c.ranks, &c.site, c.node, &work);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
        ck_assert_int_eq(allocations.live, 0);
    }
    ck_assert_int_gt(nth, 6);
    release_instance(&c);
}
END_TEST

static Suite *forest_suite(void)
{
    Suite *suite = suite_create("forest");
    TCase *all = tcase_create("forest");
    tcase_add_test(all, each_node_takes_the_least_cut);
    tcase_add_test(all, fewest_nodes);
    tcase_add_test(all, cycles_and_empty_graphs);
    tcase_add_test(all, memory_runs_out);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return run_suite(forest_suite());
}
