/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983) for fewer hops, by swaps. */
#include <errno.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/chance.h"
#include "setmatch/cost.h"

enum { STEPS_PER_TEMPERATURE = 256, MOST_TRIES = 4, SLOTS_PER_TRY = 8 };

/* All nodes with slots are numbered consecutively, those with ranks first. Places are the ranks,
 * then the free slots, which are ranks without neighbours. */
struct annealing {
    struct base_arena arena;
    chance chance;
    const affinity *ranks;
    const annealing_rules *rules;
    size_t nodes, places;
    size_t *home, *slots; /* by number: the node, its slots */
    size_t *number;       /* by node: number + 1; 0: none */
    size_t *first;        /* by number: of its places in member[] */
    size_t *node;         /* by place: the number of its node */
    size_t *member;       /* places node by node */
    size_t *position;     /* by place: its index in member[] */
};

/* Returns the number of places there. */
static size_t number_node(struct annealing *a, const site *s, size_t n)
{
    size_t ranks = a->ranks->vertices, slots = s->slots[n] < ranks ? s->slots[n] : ranks;
    if (a->number[n] != 0)
        return 0;
    a->home[a->nodes] = n;
    a->slots[a->nodes] = slots;
    a->number[n] = ++a->nodes;
    return slots;
}

static void number_nodes(struct annealing *a, const site *s, const size_t *node)
{
    for (size_t v = 0; v < a->ranks->vertices; v++)
        a->places += number_node(a, s, node[v]);
    for (size_t k = 0; k < s->nodes; k++)
        a->places += number_node(a, s, s->by_size[k]);
}

static int init_annealing(struct annealing *a, const affinity *ranks, const site *s,
                          const annealing_rules *rules, const size_t *node)
{
    *a = (struct annealing){.ranks = ranks, .rules = rules};
    chance_init(&a->chance, rules->variant);
    a->home = base_arena_alloc(&a->arena, s->nodes, sizeof *a->home);
    a->slots = base_arena_alloc(&a->arena, s->nodes, sizeof *a->slots);
    a->number = base_arena_alloc(&a->arena, s->listed, sizeof *a->number);
    a->first = base_arena_alloc(&a->arena, s->nodes, sizeof *a->first);
    if (a->arena.failed)
        return -ENOMEM;
    number_nodes(a, s, node);
    a->node = base_arena_alloc(&a->arena, a->places, sizeof *a->node);
    a->member = base_arena_alloc(&a->arena, a->places, sizeof *a->member);
    a->position = base_arena_alloc(&a->arena, a->places, sizeof *a->position);
    return a->arena.failed ? -ENOMEM : 0;
}

static void append_place(struct annealing *a, size_t place, size_t n, size_t *next)
{
    a->node[place] = n;
    a->position[place] = next[n];
    a->member[next[n]++] = place;
}

/* Starts from the placement: ranks first, then the free slots of the nodes. */
static void set_placement(struct annealing *a, const size_t *node)
{
    size_t ranks = a->ranks->vertices, place = ranks, *next = a->first;
    for (size_t n = 0, at = 0; n < a->nodes; at += a->slots[n++])
        next[n] = at;
    for (size_t v = 0; v < ranks; v++)
        append_place(a, v, a->number[node[v]] - 1, next);
    for (size_t n = 0, end = 0; n < a->nodes; n++)
        for (end += a->slots[n]; next[n] < end;)
            append_place(a, place++, n, next);
    for (size_t n = 0; n < a->nodes; n++)
        a->first[n] -= a->slots[n];
}

/* ---- gains ---- */

/* In hops there and back. */
static double distance_between(const struct annealing *a, size_t m, size_t n)
{
    return m == n ? 0 : hops_between_nodes(a->rules->hops, a->home[m], a->home[n]);
}

/* Of moving a place, if the place `partner` moves the other way. */
static double gain_of_move(const struct annealing *a, size_t place, size_t to, size_t partner)
{
    const affinity *g = a->ranks;
    size_t from = a->node[place];
    double gain = 0;
    if (place >= g->vertices)
        return 0;
    for (size_t i = g->start[place]; i < g->start[place + 1]; i++) {
        size_t n = a->node[g->other[i]];
        if (g->other[i] != partner)
            gain +=
                (double)g->weight[i] * (distance_between(a, from, n) - distance_between(a, to, n));
    }
    if (a->rules->servers != NULL)
        gain += servers_cost(a->rules->servers, place, a->home[from]) -
                servers_cost(a->rules->servers, place, a->home[to]);
    return gain;
}

static double gain_of_swap(const struct annealing *a, size_t v, size_t w)
{
    return gain_of_move(a, v, a->node[w], w) + gain_of_move(a, w, a->node[v], v);
}

static size_t size_of_place(const struct annealing *a, size_t place)
{
    return place < a->ranks->vertices ? a->ranks->size[place] : 0;
}

/* Whether both have room where the other is. */
static bool swap_fits(const struct annealing *a, size_t v, size_t w)
{
    const size_t *room = a->rules->room;
    return room == NULL || (size_of_place(a, v) <= room[a->home[a->node[w]]] &&
                            size_of_place(a, w) <= room[a->home[a->node[v]]]);
}

/* ---- swaps ---- */

static void swap_places(struct annealing *a, size_t v, size_t w)
{
    size_t position = a->position[v], node = a->node[v];
    a->node[v] = a->node[w];
    a->node[w] = node;
    a->position[v] = a->position[w];
    a->position[w] = position;
    a->member[a->position[v]] = v;
    a->member[a->position[w]] = w;
}

/* The best of some places on node n to swap with v. On a large node few are worth a swap. */
static size_t draw_partner(struct annealing *a, size_t v, size_t n, uint64_t drawn)
{
    const size_t *member = a->member + a->first[n];
    size_t best = member[chance_below(a->slots[n], drawn, 2)];
    size_t tries = a->slots[n] / SLOTS_PER_TRY;
    double most = tries > 0 ? gain_of_swap(a, v, best) : 0;
    for (size_t k = 0; k < tries && k < MOST_TRIES; k++) {
        size_t w = member[chance_below(a->slots[n], chance_draw(&a->chance), 0)];
        double gain = gain_of_swap(a, v, w);
        if (gain > most) {
            best = w;
            most = gain;
        }
    }
    return best;
}

/* A rank, and any place or, as often, a place on the node of one of its neighbours. False: that is
 * its own node. */
static bool draw_swap(struct annealing *a, size_t *v, size_t *w)
{
    const affinity *g = a->ranks;
    uint64_t drawn = chance_draw(&a->chance);
    *v = chance_below(g->vertices, drawn, 0);
    size_t arcs = g->start[*v + 1] - g->start[*v];
    if (drawn >> 63 != 0) {
        *w = a->member[chance_below(a->places, drawn, 1)];
        return a->node[*w] != a->node[*v] && swap_fits(a, *v, *w);
    }
    if (arcs == 0)
        return false;
    size_t n = a->node[g->other[g->start[*v] + chance_below(arcs, drawn, 1)]];
    if (n == a->node[*v])
        return false;
    *w = draw_partner(a, *v, n, drawn);
    return swap_fits(a, *v, *w);
}

/* By how much a random swap increases the hops. */
static double mean_swap_cost(struct annealing *a)
{
    double sum = 0;
    for (size_t k = 0; k < CHANCE_SAMPLE; k++) {
        uint64_t drawn = chance_draw(&a->chance);
        size_t v = chance_below(a->ranks->vertices, drawn, 0);
        size_t w = chance_below(a->places, drawn, 1);
        double gain = a->node[v] != a->node[w] ? gain_of_swap(a, v, w) : 0;
        sum += gain < 0 ? -gain : 0;
    }
    return sum / CHANCE_SAMPLE;
}

static void keep_placement(const struct annealing *a, size_t *node)
{
    for (size_t v = 0; v < a->ranks->vertices; v++)
        node[v] = a->home[a->node[v]];
}

/* Replaces node[] by the best placement of a run that starts from it. */
static void run_annealing(struct annealing *a, double initial, size_t *node)
{
    size_t steps = a->rules->steps;
    double temperature = 0, gained = 0, kept = 0;
    for (size_t k = 0, v, w; k < steps; k++) {
        if (k % STEPS_PER_TEMPERATURE == 0)
            temperature = initial * (double)(steps - k) / (double)steps;
        if (!draw_swap(a, &v, &w))
            continue;
        double gain = gain_of_swap(a, v, w);
        if (gain <= -chance_loss(&a->chance, chance_draw(&a->chance), temperature))
            continue;
        if (gain < 0 && gained > kept) {
            keep_placement(a, node);
            kept = gained;
        }
        swap_places(a, v, w);
        gained += gain;
    }
    if (gained > kept)
        keep_placement(a, node);
}

int anneal_hops(const affinity *ranks, const site *s, const annealing_rules *rules, size_t *node)
{
    struct annealing a;
    int rc = init_annealing(&a, ranks, s, rules, node);
    if (rc == 0) {
        set_placement(&a, node);
        run_annealing(&a, chance_initial_share(rules->variant) * mean_swap_cost(&a), node);
    }
    base_arena_release(&a.arena);
    return rc;
}
