/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983) by swaps. */
#include <errno.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/cost.h"
#include "setmatch/mix.h"
#include "setmatch/swapping.h"

/* The initial temperature is a share of the mean cost of a random swap: more leads too far away,
 * less nowhere. Which is best depends on the graph, so runs differ. */
static const double initial_share[] = {.02, .1, .2, .05, .3};

enum {
    SHARES = sizeof initial_share / sizeof initial_share[0],
    SAMPLE = 200,
    STEPS_PER_TEMPERATURE = 256,
    QUANTILES = 256,
    MOST_TRIES = 4,
    SLOTS_PER_TRY = 8
};

/* Nodes with ranks, or with hops all nodes, are numbered consecutively; the others take no part. */
struct annealing {
    struct base_arena arena;
    swapping s;
    const annealing_rules *rules;
    size_t *home, *slots; /* by number: the node, its slots */
    size_t *number;       /* by node: number + 1; 0: none */
    size_t *first;        /* by number: of its places in member[] */
    size_t *member;       /* places node by node */
    size_t *position;     /* by place: its index in member[] */
    double quantile[QUANTILES];
    uint64_t state;
};

/* Returns the number of places there. */
static size_t number_node(struct annealing *a, const site *s, size_t ranks, size_t n, size_t *nodes)
{
    size_t slots = s->slots[n] < ranks ? s->slots[n] : ranks;
    if (a->number[n] != 0)
        return 0;
    a->home[*nodes] = n;
    a->slots[*nodes] = slots;
    a->number[n] = ++*nodes;
    return slots;
}

/* Sets the number of nodes that take part; returns the number of places there. */
static size_t number_nodes(struct annealing *a, const site *s, const size_t *node, size_t ranks,
                           size_t *nodes)
{
    size_t places = 0;
    *nodes = 0;
    for (size_t v = 0; v < ranks; v++)
        places += number_node(a, s, ranks, node[v], nodes);
    for (size_t k = 0; a->rules->hops != NULL && k < s->nodes; k++)
        places += number_node(a, s, ranks, s->by_size[k], nodes);
    return places;
}

/* Those of the exponential distribution: the expected values of QUANTILES sorted samples. */
static void set_quantiles(struct annealing *a)
{
    double sum = 0;
    for (size_t k = QUANTILES; k-- > 0;)
        a->quantile[k] = sum += 1 / (double)(k + 1);
}

static int init_annealing(struct annealing *a, const affinity *ranks, const site *s,
                          const annealing_rules *rules, const size_t *node)
{
    size_t count = ranks->vertices, nodes;
    *a = (struct annealing){.rules = rules, .state = mixed(rules->variant) | 1};
    a->home = base_arena_alloc(&a->arena, s->nodes, sizeof *a->home);
    a->slots = base_arena_alloc(&a->arena, s->nodes, sizeof *a->slots);
    a->number = base_arena_alloc(&a->arena, s->listed, sizeof *a->number);
    a->first = base_arena_alloc(&a->arena, s->nodes, sizeof *a->first);
    if (a->arena.failed)
        return -ENOMEM;
    size_t places = number_nodes(a, s, node, count, &nodes);
    a->member = base_arena_alloc(&a->arena, places, sizeof *a->member);
    a->position = base_arena_alloc(&a->arena, places, sizeof *a->position);
    set_quantiles(a);
    return swapping_init(&a->s, &a->arena, ranks, nodes, places, rules->hops == NULL);
}

static void append_place(struct annealing *a, size_t place, size_t n, size_t *next)
{
    a->s.node[place] = n;
    a->position[place] = next[n];
    a->member[next[n]++] = place;
}

/* Starts from the placement: ranks first, then the free slots of the nodes. */
static void set_placement(struct annealing *a, const size_t *node)
{
    swapping *s = &a->s;
    size_t ranks = s->ranks->vertices, place = ranks, *next = a->first;
    for (size_t n = 0, at = 0; n < s->nodes; at += a->slots[n++])
        next[n] = at;
    for (size_t v = 0; v < ranks; v++)
        append_place(a, v, a->number[node[v]] - 1, next);
    for (size_t n = 0, end = 0; n < s->nodes; n++)
        for (end += a->slots[n]; next[n] < end;)
            append_place(a, place++, n, next);
    for (size_t n = 0; n < s->nodes; n++)
        a->first[n] -= a->slots[n];
    if (a->rules->hops == NULL)
        swapping_weigh(s);
}

/* ---- gains ---- */

/* In hops there and back. */
static double distance_between(const struct annealing *a, size_t m, size_t n)
{
    return m == n ? 0 : hops_between_nodes(a->rules->hops, a->home[m], a->home[n]);
}

/* Of moving a place, if the place `partner` moves the other way. */
static double gain_in_hops(const struct annealing *a, size_t place, size_t to, size_t partner)
{
    const affinity *g = a->s.ranks;
    size_t from = a->s.node[place];
    double gain = 0;
    if (place >= g->vertices)
        return 0;
    for (size_t i = g->start[place]; i < g->start[place + 1]; i++) {
        size_t n = a->s.node[g->other[i]];
        if (g->other[i] != partner)
            gain +=
                (double)g->weight[i] * (distance_between(a, from, n) - distance_between(a, to, n));
    }
    return gain;
}

static double gain_of_swap(const struct annealing *a, size_t v, size_t w)
{
    if (a->rules->hops == NULL)
        return (double)swapping_gain(&a->s, v, w);
    return gain_in_hops(a, v, a->s.node[w], w) + gain_in_hops(a, w, a->s.node[v], v);
}

/* An upper bound that is faster to compute. */
static double most_gain_of_swap(const struct annealing *a, size_t v, size_t w)
{
    return a->rules->hops == NULL ? (double)swapping_most_gain(&a->s, v, w) : gain_of_swap(a, v, w);
}

static size_t size_of_place(const struct annealing *a, size_t place)
{
    return place < a->s.ranks->vertices ? a->s.ranks->size[place] : 0;
}

/* Whether both have room where the other is. */
static bool swap_fits(const struct annealing *a, size_t v, size_t w)
{
    const size_t *room = a->rules->room;
    return room == NULL || (size_of_place(a, v) <= room[a->home[a->s.node[w]]] &&
                            size_of_place(a, w) <= room[a->home[a->s.node[v]]]);
}

/* ---- swaps ---- */

/* Pseudo-random: xorshift64 (Marsaglia 2003), which takes a few cycles. */
static uint64_t draw_number(struct annealing *a)
{
    a->state ^= a->state << 13;
    a->state ^= a->state >> 7;
    a->state ^= a->state << 17;
    return a->state;
}

/* A number below n (small), from the k-th 21 bits of a drawn number. */
static size_t number_below(size_t n, uint64_t drawn, unsigned k)
{
    return (size_t)(((drawn >> 21 * k) & 0x1fffff) * n >> 21);
}

static void apply_swap(struct annealing *a, size_t v, size_t w)
{
    size_t position = a->position[v];
    swapping_apply(&a->s, v, w);
    a->position[v] = a->position[w];
    a->position[w] = position;
    a->member[a->position[v]] = v;
    a->member[a->position[w]] = w;
}

/* The best of some places on node n to swap with v. On a large node few are worth a swap. */
static size_t draw_partner(struct annealing *a, size_t v, size_t n, uint64_t drawn)
{
    const size_t *member = a->member + a->first[n];
    size_t best = member[number_below(a->slots[n], drawn, 2)];
    size_t tries = a->slots[n] / SLOTS_PER_TRY;
    double most = tries > 0 ? most_gain_of_swap(a, v, best) : 0;
    for (size_t k = 0; k < tries && k < MOST_TRIES; k++) {
        size_t w = member[number_below(a->slots[n], draw_number(a), 0)];
        double gain = most_gain_of_swap(a, v, w);
        if (gain > most) {
            best = w;
            most = gain;
        }
    }
    return best;
}

/* A rank, and a place on the node of one of its neighbours or, with hops, as often any place.
 * False: that is its own node. */
static bool draw_swap(struct annealing *a, size_t *v, size_t *w)
{
    const affinity *g = a->s.ranks;
    uint64_t drawn = draw_number(a);
    *v = number_below(g->vertices, drawn, 0);
    size_t arcs = g->start[*v + 1] - g->start[*v];
    if (a->rules->hops != NULL && drawn >> 63 != 0) {
        *w = a->member[number_below(a->s.places, drawn, 1)];
        return a->s.node[*w] != a->s.node[*v] && swap_fits(a, *v, *w);
    }
    if (arcs == 0)
        return false;
    size_t n = a->s.node[g->other[g->start[*v] + number_below(arcs, drawn, 1)]];
    if (n == a->s.node[*v])
        return false;
    *w = draw_partner(a, *v, n, drawn);
    return swap_fits(a, *v, *w);
}

/* By how much a random swap increases the cut. */
static double mean_swap_cost(struct annealing *a)
{
    double sum = 0;
    for (size_t k = 0; k < SAMPLE; k++) {
        uint64_t drawn = draw_number(a);
        size_t v = number_below(a->s.ranks->vertices, drawn, 0);
        size_t w = number_below(a->s.places, drawn, 1);
        double gain = a->s.node[v] != a->s.node[w] ? gain_of_swap(a, v, w) : 0;
        sum += gain < 0 ? -gain : 0;
    }
    return sum / SAMPLE;
}

static void keep_placement(const struct annealing *a, size_t *node)
{
    for (size_t r = 0; r < a->s.ranks->vertices; r++)
        node[r] = a->home[a->s.node[r]];
}

/* Replaces node[] by the best placement of a run that starts from it. Metropolis: a loss is
 * accepted if it is less than a random value of exponential distribution. */
static void run_annealing(struct annealing *a, double initial, size_t *node)
{
    size_t steps = a->rules->steps;
    double temperature = 0, gained = 0, kept = 0;
    for (size_t k = 0, v, w; k < steps; k++) {
        if (k % STEPS_PER_TEMPERATURE == 0)
            temperature = initial * (double)(steps - k) / (double)steps;
        if (!draw_swap(a, &v, &w))
            continue;
        double limit = -temperature * a->quantile[draw_number(a) >> 56 & (QUANTILES - 1)];
        if (most_gain_of_swap(a, v, w) <= limit)
            continue;
        double gain = gain_of_swap(a, v, w);
        if (gain <= limit)
            continue;
        if (gain < 0 && gained > kept) {
            keep_placement(a, node);
            kept = gained;
        }
        apply_swap(a, v, w);
        gained += gain;
    }
    if (gained > kept)
        keep_placement(a, node);
}

int anneal_placement(const affinity *ranks, const site *s, const annealing_rules *rules,
                     size_t *node)
{
    struct annealing a;
    int rc = init_annealing(&a, ranks, s, rules, node);
    if (rc == 0) {
        set_placement(&a, node);
        run_annealing(&a, initial_share[rules->variant % SHARES] * mean_swap_cost(&a), node);
    }
    base_arena_release(&a.arena);
    return rc;
}
