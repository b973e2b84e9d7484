/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a placement pair by pair of nodes, on several levels: moves of groups of ranks first, of
 * single ranks last. Source: Walshaw, "Multilevel refinement for combinatorial optimisation
 * problems", Annals of Operations Research 131 (2004). */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "setmatch/candidates.h"
#include "setmatch/matching.h"
#include "setmatch/two_way.h"

/* Work: visits of vertices before refinement ends. Ample for grids; limits the time where every
 * node is adjacent to every other. READS_PER_ARC does where some vertices have very many arcs,
 * which are read for each pair of their node. */
enum { PASSES = 1, WORK_PER_RANK = 40, LEAST_WORK = 4000, READS_PER_ARC = 100 };

/* Arcs that are read in the time of a visit. */
enum { READS_PER_VISIT = 32 };

/* Moves without gain that end a pass: at least, and as a part of the vertices; with many ranks,
 * fewer. */
enum { LEAST_PATIENCE = 24, PATIENCE_PART = 8, LEAST_OF_MANY = 8, PART_OF_MANY = 32 };

struct node_pair {
    size_t a, b;
    int64_t weight;
};

struct refinement {
    struct base_arena arena;
    const affinity *ranks;
    const allocation *allocation;
    size_t *node;
    vertex *first, *next; /* the ranks of each node, as lists that end with NO_VERTEX */
    size_t *changed;      /* by node: the last round that moved its ranks */
    size_t round, max_work;
    size_t read, max_read; /* arcs */
    bool is_large;         /* there are many ranks */
    struct node_pair *pair;
    size_t pairs, pair_capacity;

    /* The current pair. */
    two_way t;
    vertex *rank; /* of each vertex of its graph */
    unsigned char *side;
    vertex *to; /* for affinity_extract */
};

static void release_refinement(struct refinement *r)
{
    free(r->pair);
    base_arena_release(&r->arena);
}

static void list_rank(struct refinement *r, vertex rank)
{
    size_t n = r->node[rank];
    r->next[rank] = r->first[n];
    r->first[n] = rank;
}

static void list_ranks(struct refinement *r)
{
    for (size_t n = 0; n < r->allocation->listed; n++)
        r->first[n] = NO_VERTEX;
    for (size_t v = r->ranks->vertices; v-- > 0;)
        list_rank(r, (vertex)v);
}

/* The greatest number of ranks on two nodes. */
static size_t max_pair_ranks(const affinity *ranks, const allocation *s)
{
    size_t slots[2] = {0, 0}, all = ranks->vertices;
    for (size_t k = 0; k < s->nodes && k < 2; k++)
        slots[k] = s->slots[s->by_size[k]];
    return slots[0] >= all || slots[1] >= all - slots[0] ? all : slots[0] + slots[1];
}

/* Release with release_refinement, also after an error. */
static int init_refinement(struct refinement *r, const affinity *ranks, const allocation *s,
                           size_t *node)
{
    size_t nodes = s->listed, pair_ranks = max_pair_ranks(ranks, s);
    *r = (struct refinement){.ranks = ranks,
                             .allocation = s,
                             .node = node,
                             .is_large = affinity_ranks(ranks) > MANY_RANKS};
    r->first = base_arena_alloc(&r->arena, nodes, sizeof *r->first);
    r->next = base_arena_alloc(&r->arena, ranks->vertices, sizeof *r->next);
    r->changed = base_arena_alloc(&r->arena, nodes, sizeof *r->changed);
    r->to = base_arena_alloc(&r->arena, ranks->vertices, sizeof *r->to);
    r->rank = base_arena_alloc(&r->arena, pair_ranks, sizeof *r->rank);
    r->side = base_arena_alloc(&r->arena, pair_ranks, sizeof *r->side);
    if (two_way_init(&r->t, &r->arena, pair_ranks) != 0)
        return -ENOMEM;
    list_ranks(r);
    for (size_t v = 0; v < ranks->vertices; v++)
        r->to[v] = NO_VERTEX;
    return 0;
}

/* ---- one pair ---- */

/* Lists the ranks of node n as vertices from `first` on. Returns the number of all vertices. */
static size_t list_side(struct refinement *r, size_t n, unsigned char side, size_t first)
{
    for (vertex v = r->first[n]; v != NO_VERTEX; v = r->next[v]) {
        r->rank[first] = v;
        r->side[first++] = side | TWO_WAY_NEAR;
        r->read += r->ranks->start[v + 1] - r->ranks->start[v];
    }
    return first;
}

static void apply_sides(struct refinement *r, const struct node_pair *pair, size_t vertices)
{
    r->first[pair->a] = r->first[pair->b] = NO_VERTEX;
    for (size_t k = vertices; k-- > 0;) {
        vertex v = r->rank[k];
        r->node[v] = (r->side[k] & TWO_WAY_SIDE) == 0 ? pair->a : pair->b;
        list_rank(r, v);
    }
}

/* Sets *gained to the reduction of the cut. Arcs to ranks on other nodes stay cut. */
static int refine_pair(struct refinement *r, const struct node_pair *pair, int64_t *gained)
{
    affinity g;
    size_t vertices = list_side(r, pair->b, 1, list_side(r, pair->a, 0, 0));
    const two_way_limits limits = {
        .capacity = {r->allocation->slots[pair->a], r->allocation->slots[pair->b]},
        .max_passes = PASSES,
        .patience = r->is_large ? LEAST_OF_MANY + vertices / PART_OF_MANY
                                : LEAST_PATIENCE + vertices / PATIENCE_PART,
        .all_listed = r->is_large ? TWO_WAY_FEW_LISTED : TWO_WAY_ALL_LISTED};
    int rc = affinity_extract(&g, r->ranks, r->rank, vertices, r->to);
    if (rc != 0)
        return rc;
    *gained = two_way_refine(&r->t, &g, &limits, r->side);
    affinity_release(&g);
    apply_sides(r, pair, vertices);
    return 0;
}

/* ---- rounds ---- */

static int compare_node_pairs(const void *x, const void *y)
{
    const struct node_pair *p = x, *q = y;
    if (p->weight != q->weight)
        return p->weight > q->weight ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* Drops pairs of less than the mean weight, of which few gain. */
static void drop_light_pairs(struct refinement *r)
{
    size_t kept = 0, all = r->pairs;
    double sum = 0;
    for (size_t k = 0; k < all; k++)
        sum += (double)r->pair[k].weight;
    for (size_t k = 0; k < all; k++)
        if ((double)r->pair[k].weight * (double)all >= sum)
            r->pair[kept++] = r->pair[k];
    r->pairs = kept;
}

/* The pairs of adjacent nodes, the greatest weight first. */
static int list_node_pairs(struct refinement *r)
{
    affinity nodes;
    vertex *to = calloc(r->ranks->vertices + 1, sizeof *to);
    if (to == NULL)
        return -ENOMEM;
    for (size_t v = 0; v < r->ranks->vertices; v++)
        to[v] = (vertex)r->node[v];
    int rc = affinity_contract(&nodes, r->ranks, to, r->allocation->listed);
    free(to);
    if (rc != 0)
        return rc;
    r->pairs = 0;
    rc =
        base_reserve(&r->pair, &r->pair_capacity, nodes.start[nodes.vertices] / 2, sizeof *r->pair);
    for (size_t a = 0; rc == 0 && a < nodes.vertices; a++)
        for (size_t i = nodes.start[a]; i < nodes.start[a + 1]; i++)
            if (a < nodes.other[i])
                r->pair[r->pairs++] = (struct node_pair){a, nodes.other[i], nodes.weight[i]};
    affinity_release(&nodes);
    if (r->is_large)
        drop_light_pairs(r);
    if (r->pairs > 1)
        qsort(r->pair, r->pairs, sizeof *r->pair, compare_node_pairs);
    return rc;
}

static bool has_worked_enough(const struct refinement *r)
{
    return r->t.work >= r->max_work || r->read > r->max_read;
}

/* Skips pairs of which neither node has changed since they were refined. Sets *gained. */
static int refine_round(struct refinement *r, int64_t *gained)
{
    int rc = list_node_pairs(r);
    *gained = 0;
    r->round++;
    for (size_t k = 0; rc == 0 && k < r->pairs && !has_worked_enough(r); k++) {
        const struct node_pair *pair = &r->pair[k];
        int64_t now = 0;
        if (r->changed[pair->a] + 1 < r->round && r->changed[pair->b] + 1 < r->round)
            continue;
        rc = refine_pair(r, pair, &now);
        if (now > 0)
            r->changed[pair->a] = r->changed[pair->b] = r->round;
        *gained += now;
    }
    return rc;
}

/* Refines pairs of nodes, for `rounds` rounds or until no pair gains. Never increases the cut; sets
 * *gained to its reduction. Adds the number of visited ranks to *work. */
static int refine_pairs(const affinity *ranks, const allocation *s, size_t rounds, size_t *node,
                        size_t *work, int64_t *gained)
{
    struct refinement r;
    int64_t now = 1;
    int rc = init_refinement(&r, ranks, s, node);
    r.max_work = LEAST_WORK + WORK_PER_RANK * ranks->vertices;
    r.max_read = READS_PER_ARC * ranks->start[ranks->vertices];
    *gained = 0;
    for (size_t k = 0; rc == 0 && now > 0 && k < rounds; k++) {
        rc = refine_round(&r, &now);
        *gained += now;
    }
    *work += r.t.work + r.read / READS_PER_VISIT;
    release_refinement(&r);
    return rc;
}

/* ---- levels ---- */

/* Rounds of pairwise refinement on each level; a node has at least this number of groups. */
enum { ROUNDS = 2, ROUNDS_OF_MANY = 1, GROUPS_PER_NODE = 2 };

/* With many ranks, larger groups must have gained this part of the cut for smaller ones to be
 * tried: in most graphs, groups gain next to nothing. */
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
