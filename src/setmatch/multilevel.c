/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a placement on several levels: moves of groups of ranks first, of single ranks last.
 * Source: Walshaw, "Multilevel refinement for combinatorial optimisation problems", Annals of
 * Operations Research 131 (2004). */
#include <errno.h>

#include "setmatch/candidates.h"
#include "setmatch/matching.h"

/* Rounds of pairwise refinement on each level; a node has at least this number of groups. */
enum { ROUNDS = 2, ROUNDS_OF_MANY = 1, GROUPS_PER_NODE = 2 };

/* Of many ranks, larger groups must have gained this part of the cut for smaller ones to be tried:
 * of most graphs, groups gain next to nothing. */
enum { PART_TO_GAIN = 1000 };

struct multilevel {
    const allocation *allocation;
    const affinity *ranks;
    uint64_t largest; /* of a group, in ranks */
    size_t seed;
    size_t *work;
    int64_t cut;    /* before; -1: not yet known */
    int64_t gained; /* by all levels so far */
};

static int refine_graph(struct multilevel *m, const affinity *g, size_t *node);

static int refine_groups(struct multilevel *m, const affinity *g, size_t *node)
{
    const match_rules rules = {m->largest, m->seed, node};
    struct base_arena arena = {0};
    affinity coarse = {0};
    vertex *to = base_arena_alloc(&arena, g->vertices, sizeof *to);
    size_t *coarse_node = base_arena_alloc(&arena, g->vertices, sizeof *coarse_node);
    int rc = arena.failed ? -ENOMEM : match_and_contract(&coarse, g, &rules, to);
    for (size_t v = 0; rc == 0 && v < g->vertices; v++)
        coarse_node[to[v]] = node[v];
    if (rc == 0)
        rc = refine_graph(m, &coarse, coarse_node);
    for (size_t v = 0; rc == 0 && v < g->vertices; v++)
        node[v] = coarse_node[to[v]];
    affinity_release(&coarse);
    base_arena_release(&arena);
    return rc < 0 ? rc : 0;
}

static bool is_large(const struct multilevel *m)
{
    return m->ranks->vertices > MANY_RANKS;
}

static bool level_pays(const struct multilevel *m, const affinity *g)
{
    return !is_large(m) || g == m->ranks || m->gained >= m->cut / PART_TO_GAIN;
}

static int refine_level(struct multilevel *m, const affinity *g, size_t *node)
{
    int64_t gained;
    int rc = refine_pairs(g, m->allocation, is_large(m) ? ROUNDS_OF_MANY : ROUNDS, node, m->work,
                          &gained);
    m->gained += gained;
    return rc;
}

/* The recursion depth is the logarithm of the number of vertices. */
static int refine_graph(struct multilevel *m, const affinity *g, size_t *node)
{
    int rc = g->vertices > 1 ? refine_groups(m, g, node) : 0;
    bool is_first = m->cut < 0;
    if (is_first)
        m->cut = affinity_cut(g, node);
    return rc == 0 && (is_first || level_pays(m, g)) ? refine_level(m, g, node) : rc;
}

int refine_multilevel(const affinity *ranks, const allocation *s, size_t seed, size_t *node,
                      size_t *work)
{
    size_t most = s->nodes > 0 ? s->slots[s->by_size[0]] : 0;
    struct multilevel m = {s, ranks, most / GROUPS_PER_NODE + 1, seed, work, -1, 0};
    return refine_graph(&m, ranks, node);
}
