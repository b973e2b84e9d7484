/* SPDX-License-Identifier: BSD-3-Clause */
/* Refines a placement pair by pair of nodes. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/candidates.h"
#include "setmatch/two_way.h"

/* How many vertices are looked at before refinement ends: by far enough for grids, and what keeps
 * it short where every node is bound to every other. */
enum { PASSES = 3, LEAST_PATIENCE = 24, WORK_A_RANK = 40, LEAST_WORK = 4000 };

/* Two nodes and the weight between their ranks. */
struct node_pair {
    size_t a, b;
    int64_t weight;
};

struct refinement {
    const affinity *ranks;
    const site *site;
    size_t *node;
    vertex *first, *next; /* the ranks of each node, as lists that end with NO_VERTEX */
    size_t *count;        /* how many they are */
    size_t *changed;      /* by node: the last round in which ranks came or went */
    size_t round, most_work;
    struct node_pair *pair;
    size_t pairs;
    /* the pair in work */
    two_way t;
    affinity local;
    size_t arc_room;
    vertex *rank, *local_of;
    unsigned char *side;
};

static void release(struct refinement *r)
{
    free(r->first);
    free(r->next);
    free(r->count);
    free(r->changed);
    free(r->pair);
    two_way_release(&r->t);
    affinity_release(&r->local);
    free(r->rank);
    free(r->local_of);
    free(r->side);
}

static void list_rank(struct refinement *r, vertex rank)
{
    size_t n = r->node[rank];
    r->next[rank] = r->first[n];
    r->first[n] = rank;
}

static void list_ranks(struct refinement *r)
{
    for (size_t n = 0; n < r->site->listed; n++) {
        r->first[n] = NO_VERTEX;
        r->count[n] = 0;
    }
    for (size_t v = r->ranks->vertices; v-- > 0;) {
        r->count[r->node[v]]++;
        list_rank(r, (vertex)v);
    }
}

static size_t arcs_of_node(const struct refinement *r, size_t n)
{
    size_t arcs = 0;
    for (vertex v = r->first[n]; v != NO_VERTEX; v = r->next[v])
        arcs += r->ranks->start[v + 1] - r->ranks->start[v];
    return arcs;
}

/* The most that two nodes can hold and be bound by; ranks come and go, so arcs are checked again.
 */
static size_t pair_room(const struct refinement *r)
{
    size_t most[2] = {0, 0}, ranks = r->ranks->vertices;
    for (size_t k = 0; k < r->site->nodes && k < 2; k++)
        most[k] = r->site->slots[r->site->by_size[k]];
    return most[0] >= ranks || most[1] >= ranks - most[0] ? ranks : most[0] + most[1];
}

static int init(struct refinement *r, const affinity *ranks, const site *s, size_t *node)
{
    size_t nodes = s->listed, room;
    *r = (struct refinement){.ranks = ranks,
                             .site = s,
                             .node = node,
                             .first = calloc(nodes + 1, sizeof *r->first),
                             .next = calloc(ranks->vertices + 1, sizeof *r->next),
                             .count = calloc(nodes + 1, sizeof *r->count),
                             .changed = calloc(nodes + 1, sizeof *r->changed),
                             .local_of = calloc(ranks->vertices + 1, sizeof *r->local_of)};
    room = pair_room(r);
    r->rank = calloc(room + 1, sizeof *r->rank);
    r->side = calloc(room + 1, 1);
    if (r->first == NULL || r->next == NULL || r->count == NULL || r->changed == NULL ||
        r->local_of == NULL || r->rank == NULL || r->side == NULL ||
        two_way_init(&r->t, room) != 0 || affinity_allocate(&r->local, room, 0) != 0) {
        release(r);
        return -ENOMEM;
    }
    list_ranks(r);
    for (size_t v = 0; v < ranks->vertices; v++)
        r->local_of[v] = NO_VERTEX;
    return 0;
}

/* ---- one pair ---- */

static void number_ranks(struct refinement *r, size_t n, unsigned char side)
{
    for (vertex v = r->first[n]; v != NO_VERTEX; v = r->next[v]) {
        size_t local = r->local.vertices++;
        r->rank[local] = v;
        r->local_of[v] = (vertex)local;
        r->local.size[local] = r->ranks->size[v];
        r->side[local] = side;
    }
}

static int make_arc_room(struct refinement *r, size_t arcs)
{
    if (arcs <= r->arc_room)
        return 0;
    vertex *other = realloc(r->local.other, arcs * sizeof *other);
    if (other == NULL)
        return -ENOMEM;
    r->local.other = other;
    int64_t *weight = realloc(r->local.weight, arcs * sizeof *weight);
    if (weight == NULL)
        return -ENOMEM;
    r->local.weight = weight;
    r->arc_room = arcs;
    return 0;
}

/* What binds these ranks to others stays cut on either side, and is left out. */
static void collect_arcs(struct refinement *r)
{
    const affinity *g = r->ranks;
    size_t arcs = 0;
    for (size_t local = 0; local < r->local.vertices; local++) {
        vertex v = r->rank[local];
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
            if (r->local_of[g->other[i]] == NO_VERTEX)
                continue;
            r->local.other[arcs] = r->local_of[g->other[i]];
            r->local.weight[arcs++] = g->weight[i];
        }
        r->local.start[local + 1] = arcs;
    }
}

static void put_back(struct refinement *r, const struct node_pair *pair)
{
    r->first[pair->a] = r->first[pair->b] = NO_VERTEX;
    r->count[pair->a] = r->count[pair->b] = 0;
    for (size_t local = r->local.vertices; local-- > 0;) {
        vertex v = r->rank[local];
        r->node[v] = r->side[local] == 0 ? pair->a : pair->b;
        r->count[r->node[v]]++;
        r->local_of[v] = NO_VERTEX;
        list_rank(r, v);
    }
}

/* Sets *gained to how much less is cut. */
static int refine_pair(struct refinement *r, const struct node_pair *pair, int64_t *gained)
{
    const two_way_limits limits = {.capacity = {r->site->slots[pair->a], r->site->slots[pair->b]},
                                   .passes = PASSES,
                                   .patience = LEAST_PATIENCE +
                                               (r->count[pair->a] + r->count[pair->b]) / 2};
    if (make_arc_room(r, arcs_of_node(r, pair->a) + arcs_of_node(r, pair->b)) != 0)
        return -ENOMEM;
    r->local.vertices = 0;
    number_ranks(r, pair->a, 0);
    number_ranks(r, pair->b, 1);
    collect_arcs(r);
    *gained = two_way_refine(&r->t, &r->local, &limits, r->side);
    put_back(r, pair);
    return 0;
}

/* ---- rounds ---- */

static int compare_pairs(const void *x, const void *y)
{
    const struct node_pair *p = x, *q = y;
    if (p->weight != q->weight)
        return p->weight > q->weight ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* The pairs of nodes whose ranks are bound to each other, the most bound first. */
static int list_pairs(struct refinement *r)
{
    affinity nodes;
    vertex *to = calloc(r->ranks->vertices + 1, sizeof *to);
    if (to == NULL)
        return -ENOMEM;
    for (size_t v = 0; v < r->ranks->vertices; v++)
        to[v] = (vertex)r->node[v];
    int rc = affinity_contract(&nodes, r->ranks, to, r->site->listed);
    free(to);
    if (rc != 0)
        return rc;
    free(r->pair);
    r->pairs = 0;
    r->pair = calloc(nodes.start[nodes.vertices] / 2 + 1, sizeof *r->pair);
    for (size_t a = 0; r->pair != NULL && a < nodes.vertices; a++)
        for (size_t i = nodes.start[a]; i < nodes.start[a + 1]; i++)
            if (a < nodes.other[i])
                r->pair[r->pairs++] = (struct node_pair){a, nodes.other[i], nodes.weight[i]};
    affinity_release(&nodes);
    if (r->pair == NULL)
        return -ENOMEM;
    qsort(r->pair, r->pairs, sizeof *r->pair, compare_pairs);
    return 0;
}

/* Pairs of which neither node has changed since their last turn are left out. Sets *gained. */
static int run_round(struct refinement *r, int64_t *gained)
{
    int rc = list_pairs(r);
    *gained = 0;
    r->round++;
    for (size_t k = 0; rc == 0 && k < r->pairs && r->t.work < r->most_work; k++) {
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

int refine_pairs(const affinity *ranks, const site *s, size_t rounds, const bool *touched,
                 size_t *node, size_t *work)
{
    struct refinement r;
    int64_t gained = 1;
    int rc = init(&r, ranks, s, node);
    if (rc != 0)
        return rc;
    r.round = touched != NULL; /* as if a round had changed those */
    for (size_t n = 0; n < s->listed && touched != NULL; n++)
        r.changed[n] = touched[n];
    r.most_work = LEAST_WORK + WORK_A_RANK * ranks->vertices;
    for (size_t k = 0; rc == 0 && gained > 0 && k < rounds; k++)
        rc = run_round(&r, &gained);
    *work += r.t.work;
    release(&r);
    return rc;
}
