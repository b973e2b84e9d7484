/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983) for a smaller cut: ranks, or
 * groups of ranks, move to nodes of their neighbours, and what fits best there takes their place.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/chance.h"

enum {
    STEPS_PER_TEMPERATURE = 64,
    MOST_SCANNED = 64,
    MOST_WEIGHTS = 1 << 22, /* in memory */
    LARGEST_WEIGHT = 1 << 28
};

/* A gain and the number of a place in one value; a node has fewer places. */
#define GAIN_UNIT ((int64_t)1 << 32)

/* Work in parts of a visit. */
enum { PARTS = 64, WEIGHTS_PER_PART = 16, DRAW = 3, LOOK = 8, CORRECT_ARC = 2, SWAP_ARC = 8 };

/* Nodes with ranks are numbered consecutively; the others take no part. A place is a slot. */
struct annealing {
    struct base_arena arena;
    chance chance;
    const affinity *ranks;
    size_t nodes, places;
    size_t all_ranks;  /* that the vertices stand for */
    size_t *home;      /* by number: the node */
    size_t *number;    /* by node: number + 1; 0: none */
    size_t *first;     /* by number, and one more: the first place of the node */
    size_t *next;      /* by number: the first place that no rank has entered yet */
    vertex *member;    /* by place: the vertex; NO_VERTEX: none */
    int32_t *size;     /* by place: of the vertex there, 0: none */
    int32_t *room;     /* by number of the node: its free slots */
    vertex *place;     /* by rank */
    vertex *node;      /* by rank: the number of its node */
    int32_t *value;    /* by arc: the weight, small enough for sums and gains */
    int32_t *total;    /* by rank: of all its arcs */
    int32_t *weight;   /* weight[n * places + p]: of the arcs of the rank in place p to node n */
    vertex *border;    /* the ranks with neighbours on other nodes, in no order */
    vertex *in_border; /* by rank: its index there + 1; 0: none */
    size_t borders;    /* their number */
    size_t work;       /* in parts */
};

/* ---- memory ---- */

/* Numbers the nodes with ranks; returns their slots, of each at most as many as there are ranks. */
static size_t number_nodes(struct annealing *a, const site *s, const size_t *node)
{
    size_t ranks = a->ranks->vertices, places = 0;
    for (size_t v = 0; v < ranks; v++) {
        size_t n = node[v], slots = s->slots[n] < ranks ? s->slots[n] : ranks;
        if (a->number[n] != 0)
            continue;
        a->home[a->nodes] = n;
        a->room[a->nodes] = (int32_t)(s->slots[n] < a->all_ranks ? s->slots[n] : a->all_ranks);
        a->number[n] = ++a->nodes;
        a->first[a->nodes] = places += slots;
    }
    return places;
}

/* Returns 1 if that takes too much memory. */
static int init_annealing(struct annealing *a, const affinity *ranks, const site *s, size_t variant,
                          const size_t *node)
{
    size_t count = ranks->vertices;
    *a = (struct annealing){.ranks = ranks};
    chance_init(&a->chance, variant);
    a->home = base_arena_alloc(&a->arena, s->nodes, sizeof *a->home);
    a->number = base_arena_alloc(&a->arena, s->listed, sizeof *a->number);
    a->first = base_arena_alloc(&a->arena, s->nodes + 1, sizeof *a->first);
    a->next = base_arena_alloc(&a->arena, s->nodes, sizeof *a->next);
    a->room = base_arena_alloc(&a->arena, s->nodes, sizeof *a->room);
    if (a->arena.failed)
        return -ENOMEM;
    for (size_t v = 0; v < count; v++)
        a->all_ranks += ranks->size[v];
    a->places = number_nodes(a, s, node);
    if (a->places > MOST_WEIGHTS / (a->nodes | 1))
        return 1;
    a->member = base_arena_alloc(&a->arena, a->places, sizeof *a->member);
    a->size = base_arena_alloc(&a->arena, a->places, sizeof *a->size);
    a->place = base_arena_alloc(&a->arena, count, sizeof *a->place);
    a->node = base_arena_alloc(&a->arena, count, sizeof *a->node);
    a->value = base_arena_alloc(&a->arena, ranks->start[count], sizeof *a->value);
    a->total = base_arena_alloc(&a->arena, count, sizeof *a->total);
    a->weight = base_arena_alloc(&a->arena, a->places, a->nodes * sizeof *a->weight);
    a->border = base_arena_alloc(&a->arena, count, sizeof *a->border);
    a->in_border = base_arena_alloc(&a->arena, count, sizeof *a->in_border);
    return a->arena.failed ? -ENOMEM : 0;
}

/* The largest weight of all arcs of a rank becomes small; weights stay at least 1. */
static void scale_weights(struct annealing *a)
{
    const affinity *g = a->ranks;
    unsigned shift = 0;
    for (size_t v = 0; v < g->vertices; v++) {
        int64_t total = 0;
        size_t arcs = g->start[v + 1] - g->start[v];
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            total += g->weight[i];
        while ((size_t)(total >> shift) + arcs > LARGEST_WEIGHT)
            shift++;
    }
    for (size_t i = 0; i < g->start[g->vertices]; i++) {
        int64_t value = g->weight[i] >> shift;
        a->value[i] = value > 0 ? (int32_t)value : 1;
    }
}

static int32_t *weight_at(const struct annealing *a, size_t node, size_t place)
{
    return a->weight + node * a->places + place;
}

/* Adds or subtracts the weights of the arcs of a rank where they are for a place. */
static void add_weights(const struct annealing *a, vertex v, size_t place, int sign)
{
    const affinity *g = a->ranks;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
        *weight_at(a, a->node[g->other[i]], place) += sign * a->value[i];
}

/* Whether a rank has neighbours on other nodes. */
static void update_border(struct annealing *a, vertex v)
{
    bool borders = *weight_at(a, a->node[v], a->place[v]) != a->total[v];
    vertex at = a->in_border[v];
    if (borders == (at != 0))
        return;
    if (borders) {
        a->border[a->borders++] = v;
        a->in_border[v] = (vertex)a->borders;
    } else {
        vertex last = a->border[--a->borders];
        a->border[at - 1] = last;
        a->in_border[last] = at;
        a->in_border[v] = 0;
    }
}

static void set_placement(struct annealing *a, const size_t *node)
{
    const affinity *g = a->ranks;
    a->work += a->nodes * a->places / WEIGHTS_PER_PART + SWAP_ARC * g->start[g->vertices];
    memset(a->member, 0xff, a->places * sizeof *a->member);
    memcpy(a->next, a->first, a->nodes * sizeof *a->next);
    for (size_t v = 0; v < g->vertices; v++) {
        size_t n = a->number[node[v]] - 1, p = a->next[n]++;
        a->member[p] = (vertex)v;
        a->size[p] = (int32_t)g->size[v];
        a->room[n] -= (int32_t)g->size[v];
        a->place[v] = (vertex)p;
        a->node[v] = (vertex)n;
    }
    for (size_t v = 0; v < g->vertices; v++) {
        add_weights(a, (vertex)v, a->place[v], 1);
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            a->total[v] += a->value[i];
        update_border(a, (vertex)v);
    }
}

/* ---- swaps ---- */

/* A rank with neighbours on other nodes, and the node of one of its neighbours. False: that is its
 * own. */
static bool draw_move(struct annealing *a, vertex *v, size_t *to)
{
    const affinity *g = a->ranks;
    uint64_t drawn = chance_draw(&a->chance);
    *v = a->border[chance_below(a->borders, drawn, 0)];
    size_t begin = g->start[*v], arcs = g->start[*v + 1] - begin;
    *to = a->node[g->other[begin + chance_below(arcs, drawn, 1)]];
    a->work += DRAW;
    return *to != a->node[*v];
}

/* The edges between v and ranks on node `to` stay cut by a swap: twice their weight is added where
 * the gain of these ranks is read. */
static void correct_neighbours(const struct annealing *a, vertex v, size_t to, int32_t sign)
{
    const affinity *g = a->ranks;
    int32_t *weight = weight_at(a, a->node[v], 0);
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
        if (a->node[g->other[i]] == to)
            weight[a->place[g->other[i]]] += sign * 2 * a->value[i];
}

/* A place, and what the move of its rank gains. */
struct partner {
    size_t place;
    int32_t gain;
};

/* Places of a node: what the move of the vertex there gains on the other node, and loses, and its
 * size, which has limits: if the swap is to fit, it is at least `least`, and at most `range` more.
 */
struct look {
    const int32_t *gained, *lost, *size;
    uint32_t least, range;
};

/* A gain and the number of the place in one value. Which of equal gains is larger depends on
 * `mask`.
 */
static int64_t rate_place(const struct look *l, size_t at, size_t mask)
{
    return (int64_t)(l->gained[at] - l->lost[at]) * GAIN_UNIT + (int64_t)(at ^ mask);
}

/* The best of some places, and `best`. Without branches, which would be mispredicted. */
static int64_t best_of_places(const struct look *l, size_t begin, size_t end, size_t mask,
                              int64_t best)
{
    for (size_t at = begin; at < end; at++) {
        int64_t rate = rate_place(l, at, mask);
        best = rate > best ? rate : best;
    }
    return best;
}

/* The same of those that fit. */
static int64_t best_of_fitting(const struct look *l, size_t begin, size_t end, size_t mask,
                               int64_t best)
{
    for (size_t at = begin; at < end; at++) {
        int64_t rate = rate_place(l, at, mask);
        int64_t fits = (uint32_t)l->size[at] - l->least <= l->range ? rate : INT64_MIN;
        best = fits > best ? fits : best;
    }
    return best;
}

/* The place on node `to`, of those that follow a random one, whose move to the node of v seems to
 * gain most. */
static struct partner find_partner(struct annealing *a, vertex v, size_t to, uint64_t drawn)
{
    size_t slots = a->first[to + 1] - a->first[to], mask = drawn >> 58;
    size_t begin = slots > MOST_SCANNED ? chance_below(slots, drawn, 0) : 0;
    size_t end = slots > MOST_SCANNED ? begin + MOST_SCANNED : slots;
    size_t from = a->node[v], first = a->first[to];
    int32_t size = a->size[a->place[v]];
    int32_t least = size > a->room[to] ? size - a->room[to] : 0;
    const struct look l = {weight_at(a, from, first), weight_at(a, to, first), a->size + first,
                           (uint32_t)least, (uint32_t)(size + a->room[from] - least)};
    if (size + a->room[from] < least)
        return (struct partner){first, INT32_MIN};
    bool grouped = a->all_ranks > a->ranks->vertices;
    int64_t (*const best_of)(const struct look *, size_t, size_t, size_t, int64_t) =
        grouped ? best_of_fitting : best_of_places;
    int64_t best = best_of(&l, begin, end < slots ? end : slots, mask, INT64_MIN);
    if (end > slots)
        best = best_of(&l, 0, end - slots, mask, best);
    a->work += LOOK + ((end - begin) << grouped);
    int64_t at = best & (GAIN_UNIT - 1);
    return (struct partner){first + ((size_t)at ^ mask), (int32_t)((best - at) / GAIN_UNIT)};
}

/* find_partner with the loss of neighbours of v in mind. */
static struct partner find_true_partner(struct annealing *a, vertex v, size_t to, uint64_t drawn)
{
    correct_neighbours(a, v, to, -1);
    struct partner p = find_partner(a, v, to, drawn);
    correct_neighbours(a, v, to, 1);
    a->work += CORRECT_ARC * (a->ranks->start[v + 1] - a->ranks->start[v]);
    return p;
}

/* Moves a rank to a node, but not yet to a place there. */
static void change_node(struct annealing *a, vertex v, size_t from, size_t to)
{
    const affinity *g = a->ranks;
    a->node[v] = (vertex)to;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        *weight_at(a, from, a->place[u]) -= a->value[i];
        *weight_at(a, to, a->place[u]) += a->value[i];
        if (a->node[u] == from || a->node[u] == to)
            update_border(a, u);
    }
    a->work += SWAP_ARC * (g->start[v + 1] - g->start[v]);
}

static void enter_place(struct annealing *a, vertex v, size_t place)
{
    a->member[place] = v;
    a->size[place] = v == NO_VERTEX ? 0 : (int32_t)a->ranks->size[v];
    if (v == NO_VERTEX)
        return;
    a->place[v] = (vertex)place;
    add_weights(a, v, place, 1);
    update_border(a, v);
}

/* With the rank in a place of node `to`, or a free one. */
static void swap_ranks(struct annealing *a, vertex v, size_t to, size_t place)
{
    vertex w = a->member[place];
    size_t left = a->place[v], from = a->node[v];
    int32_t more = a->size[left] - a->size[place];
    a->room[from] += more;
    a->room[to] -= more;
    change_node(a, v, from, to);
    if (w != NO_VERTEX)
        change_node(a, w, to, from);
    add_weights(a, v, left, -1);
    if (w != NO_VERTEX)
        add_weights(a, w, place, -1);
    enter_place(a, v, place);
    enter_place(a, w, left);
}

/* ---- annealing ---- */

static int32_t gain_of_place(const struct annealing *a, size_t place, size_t from, size_t to)
{
    return *weight_at(a, to, place) - *weight_at(a, from, place);
}

/* By how much the swap of random ranks increases the cut. */
static double mean_swap_cost(struct annealing *a)
{
    double sum = 0;
    for (size_t k = 0; k < CHANCE_SAMPLE; k++) {
        uint64_t drawn = chance_draw(&a->chance);
        size_t v = chance_below(a->ranks->vertices, drawn, 0);
        size_t w = chance_below(a->ranks->vertices, drawn, 1);
        int64_t gain = (int64_t)gain_of_place(a, a->place[v], a->node[v], a->node[w]) +
                       gain_of_place(a, a->place[w], a->node[w], a->node[v]);
        sum += gain < 0 ? -(double)gain : 0;
    }
    return sum / CHANCE_SAMPLE;
}

static void keep_placement(struct annealing *a, size_t *node)
{
    for (size_t v = 0; v < a->ranks->vertices; v++)
        node[v] = a->home[a->node[v]];
    a->work += a->ranks->vertices;
}

/* The gain of the best swap of v to node `to`, and its place there; or of no swap, where a first
 * look shows that no gain exceeds `least`. */
static bool find_swap(struct annealing *a, vertex v, size_t to, double least, struct partner *p)
{
    uint64_t drawn = chance_draw(&a->chance);
    int32_t gain = gain_of_place(a, a->place[v], a->node[v], to);
    if ((double)gain + find_partner(a, v, to, drawn).gain <= least)
        return false;
    *p = find_true_partner(a, v, to, drawn);
    if ((double)gain + p->gain <= least)
        return false;
    p->gain += gain;
    return true;
}

/* Replaces node[] by the best placement of a run that starts from it. The temperature falls to zero
 * as the work is done. */
static void run_annealing(struct annealing *a, double initial, size_t most_work, size_t *node)
{
    double temperature = 0;
    int64_t gained = 0, kept = 0;
    for (size_t k = 0; a->work < most_work && a->borders > 0; k++) {
        size_t to;
        vertex v;
        struct partner p;
        if (k % STEPS_PER_TEMPERATURE == 0)
            temperature = initial * (1 - (double)a->work / (double)most_work);
        if (!draw_move(a, &v, &to) ||
            !find_swap(a, v, to, -chance_loss(&a->chance, temperature), &p))
            continue;
        if (p.gain < 0 && gained > kept) {
            keep_placement(a, node);
            kept = gained;
        }
        swap_ranks(a, v, to, p.place);
        gained += p.gain;
    }
    if (gained > kept)
        keep_placement(a, node);
}

int anneal_placement(const affinity *ranks, const site *s, size_t variant, size_t most_work,
                     size_t *node, size_t *work)
{
    struct annealing a;
    int rc = init_annealing(&a, ranks, s, variant, node);
    if (rc == 0) {
        scale_weights(&a);
        set_placement(&a, node);
        run_annealing(&a, chance_initial_share(variant) * mean_swap_cost(&a), PARTS * most_work,
                      node);
        *work += a.work / PARTS;
    }
    base_arena_release(&a.arena);
    return rc;
}
