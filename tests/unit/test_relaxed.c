/* SPDX-License-Identifier: BSD-3-Clause */
/* Refinement for which nodes exceed their slots for a while. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "setmatch/candidates.h"
#include "suite.h"

enum { MOST_RANKS = 60, MOST_NODES = 12 };

typedef struct instance {
    affinity ranks;
    site site;
    size_t slots[MOST_NODES], nodes;
    size_t node[MOST_RANKS];
} instance;

static void release_instance(instance *c)
{
    affinity_release(&c->ranks);
    site_release(&c->site);
}

/* Random edges, from none to several a rank, so that some parts are not connected; random slots,
 * with nodes that have none, up to a few to spare; and a random placement. */
static void draw_instance(instance *c, uint64_t *seed)
{
    int64_t edge[4 * MOST_RANKS][3];
    size_t ranks = (size_t)pick(seed, 1, MOST_RANKS), edges = 0, all = 0;
    size_t wanted = (size_t)pick(seed, 0, 4) * ranks, spare = (size_t)pick(seed, 0, 3);
    *c = (instance){.nodes = (size_t)pick(seed, 1, MOST_NODES)};
    while (ranks > 1 && edges < wanted) {
        int64_t *e = edge[edges++];
        e[0] = pick(seed, 0, (int64_t)ranks - 1);
        e[1] = (e[0] + pick(seed, 1, (int64_t)(ranks < 8 ? ranks : 8) - 1)) % (int64_t)ranks;
        e[2] = pick(seed, 1, 9);
    }
    graph_of_edges(&c->ranks, ranks, edge, edges);
    for (; all < ranks + spare; all++)
        c->slots[(size_t)pick(seed, 0, (int64_t)c->nodes - 1)]++;
    size_t n = 0, used = 0;
    for (size_t v = 0; v < ranks; v++) {
        for (; used == c->slots[n]; used = 0)
            n++;
        c->node[v] = n;
        used++;
    }
    for (size_t v = ranks; v-- > 1;) {
        size_t u = (size_t)pick(seed, 0, (int64_t)v), at = c->node[v];
        c->node[v] = c->node[u];
        c->node[u] = at;
    }
    ck_assert_int_eq(site_init(&c->site, c->slots, c->nodes), 0);
}

static void check_slots(const instance *c)
{
    size_t count[MOST_NODES] = {0};
    for (size_t v = 0; v < c->ranks.vertices; v++)
        count[c->node[v]]++;
    for (size_t n = 0; n < c->nodes; n++)
        ck_assert_uint_le(count[n], c->slots[n]);
}

/* The cut is summed anew, not from the gains of moves. */
static void check_gain(const instance *c, int64_t before, int64_t gained)
{
    ck_assert_int_ge(gained, 0);
    ck_assert_int_eq(affinity_cut(&c->ranks, c->node), before - gained);
}

START_TEST(random_placements)
{
    int64_t sum = 0;
    for_random_seeds (seed, 2000) {
        uint64_t state = seed;
        instance c;
        draw_instance(&c, &state);
        size_t again[MOST_RANKS], work = 0;
        int64_t before = affinity_cut(&c.ranks, c.node), gained, same;
        memcpy(again, c.node, sizeof again);
        ck_assert_int_eq(refine_relaxed(&c.ranks, &c.site, c.node, &work, &gained), 0);
        check_slots(&c);
        check_gain(&c, before, gained);
        ck_assert_uint_ge(work, c.ranks.vertices);
        ck_assert_int_eq(refine_relaxed(&c.ranks, &c.site, again, &work, &same), 0);
        ck_assert_int_eq(same, gained);
        ck_assert_mem_eq(again, c.node, c.ranks.vertices * sizeof *again);
        sum += gained;
        release_instance(&c);
    }
    ck_assert_int_gt(sum, 0);
}
END_TEST

/* Nodes in a row: 0 1 | 2 3 | 4 5 | 6 7 and a free slot. Rank 0 belongs to node 1; ranks 2 and 4
 * are as well off one node further on, so that its slot comes from the last node. */
START_TEST(slot_of_a_distant_node)
{
    int64_t edge[][3] = {{0, 3, 10}, {2, 3, 4}, {2, 5, 4}, {4, 5, 4}, {4, 6, 4}, {6, 7, 20}};
    instance c = {.slots = {2, 2, 2, 3}, .nodes = 4};
    size_t work = 0;
    int64_t gained;
    graph_of_edges(&c.ranks, 8, edge, sizeof edge / sizeof edge[0]);
    for (size_t v = 0; v < 8; v++)
        c.node[v] = v / 2;
    ck_assert_int_eq(site_init(&c.site, c.slots, c.nodes), 0);
    int64_t before = affinity_cut(&c.ranks, c.node);
    ck_assert_int_eq(before, 18);
    ck_assert_int_eq(refine_relaxed(&c.ranks, &c.site, c.node, &work, &gained), 0);
    check_slots(&c);
    check_gain(&c, before, gained);
    ck_assert_int_eq(gained, 10);
    release_instance(&c);
}
END_TEST

START_TEST(memory_runs_out)
{
    uint64_t state = first_seed();
    instance c;
    long nth = 0;
    draw_instance(&c, &state);
    size_t node[MOST_RANKS], work = 0;
    int64_t gained;
    memcpy(node, c.node, sizeof node);
    for (int rc = -ENOMEM; rc != 0; nth++) {
        fail_allocation(nth);
        rc = refine_relaxed(&c.ranks, &c.site, c.node, &work, &gained);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
        ck_assert(rc == 0 || memcmp(node, c.node, sizeof node) == 0);
    }
    ck_assert_int_gt(nth, 6);
    release_instance(&c);
}
END_TEST

int main(void)
{
    return run_tests("relaxed", random_placements, slot_of_a_distant_node, memory_runs_out);
}
