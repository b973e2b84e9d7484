/* SPDX-License-Identifier: BSD-3-Clause */
/* Threshold accepting (Dueck, Scheuer, Journal of Computational Physics 90, 1990): random swaps,
 * accepted if the cut grows by less than a decreasing threshold. Annealing in integers. */
#include <errno.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/mix.h"
#include "setmatch/swapping.h"

/* Several short runs, each from the best placement so far, find more than one long run; steps take
 * longer with more ranks. The initial threshold is this share of the mean cost of a random swap:
 * more leads too far away, less nowhere. */
#define INITIAL_SHARE .2
enum {
    STEPS = 30000,
    RUNS = 8,
    RUNS_OF_MANY = 4, /* beyond RUNS_RANKS ranks */
    RUNS_RANKS = 64,
    SAMPLE = 200,
    STEPS_PER_THRESHOLD = 256
};

/* Nodes with ranks are numbered consecutively; the others take no part. */
struct annealing {
    struct base_arena arena;
    swapping s;
    size_t *home, *slots; /* by number: the node, its slots */
    size_t *number;       /* by node: number + 1; 0: none */
    size_t *first;        /* by number: of its places in member[] */
    size_t *member;       /* places node by node */
    size_t *position;     /* by place: its index in member[] */
    uint64_t state;
};

/* Sets the number of nodes that have ranks; returns the number of places there. */
static size_t number_used_nodes(struct annealing *a, const site *s, const size_t *node,
                                size_t ranks, size_t *nodes)
{
    size_t places = 0;
    *nodes = 0;
    for (size_t v = 0; v < ranks; v++) {
        size_t n = node[v], slots = s->slots[n] < ranks ? s->slots[n] : ranks;
        if (a->number[n] != 0)
            continue;
        places += slots;
        a->home[*nodes] = n;
        a->slots[*nodes] = slots;
        a->number[n] = ++*nodes;
    }
    return places;
}

static int init_annealing(struct annealing *a, const affinity *ranks, const site *s,
                          const size_t *node)
{
    size_t count = ranks->vertices, nodes;
    *a = (struct annealing){.state = 0};
    a->home = base_arena_alloc(&a->arena, count, sizeof *a->home);
    a->slots = base_arena_alloc(&a->arena, count, sizeof *a->slots);
    a->number = base_arena_alloc(&a->arena, s->listed, sizeof *a->number);
    a->first = base_arena_alloc(&a->arena, count, sizeof *a->first);
    if (a->arena.failed)
        return -ENOMEM;
    size_t places = number_used_nodes(a, s, node, count, &nodes);
    a->member = base_arena_alloc(&a->arena, places, sizeof *a->member);
    a->position = base_arena_alloc(&a->arena, places, sizeof *a->position);
    return swapping_init(&a->s, &a->arena, ranks, nodes, places);
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
    swapping_weigh(s);
}

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

/* A rank, and a place on the node of one of its neighbours; twice the same rank if it has none. */
static void draw_swap(struct annealing *a, size_t *v, size_t *w)
{
    const affinity *g = a->s.ranks;
    uint64_t drawn = draw_number(a);
    *v = *w = number_below(g->vertices, drawn, 0);
    size_t arcs = g->start[*v + 1] - g->start[*v];
    if (arcs == 0)
        return;
    size_t n = a->s.node[g->other[g->start[*v] + number_below(arcs, drawn, 1)]];
    *w = a->member[a->first[n] + number_below(a->slots[n], drawn, 2)];
}

/* By how much a random swap increases the cut. */
static double mean_swap_cost(struct annealing *a)
{
    double sum = 0;
    for (size_t k = 0; k < SAMPLE; k++) {
        uint64_t drawn = draw_number(a);
        size_t v = number_below(a->s.ranks->vertices, drawn, 0);
        size_t w = number_below(a->s.places, drawn, 1);
        int64_t gain = a->s.node[v] != a->s.node[w] ? swapping_gain(&a->s, v, w) : 0;
        sum += gain < 0 ? -(double)gain : 0;
    }
    return sum / SAMPLE;
}

/* Replaces node[] by the best placement of one run that starts from it. */
static void run_annealing(struct annealing *a, size_t run, size_t *node)
{
    swapping *s = &a->s;
    size_t ranks = s->ranks->vertices;
    int64_t gained = 0, most = 0, threshold = 0;
    set_placement(a, node);
    a->state = mixed(run);
    double initial = INITIAL_SHARE * mean_swap_cost(a);
    for (size_t k = 0; k < STEPS; k++) {
        size_t v, w;
        draw_swap(a, &v, &w);
        if (k % STEPS_PER_THRESHOLD == 0)
            threshold = (int64_t)(initial * (double)(STEPS - k) / STEPS);
        if (s->node[v] == s->node[w] || swapping_most_gain(s, v, w) <= -threshold)
            continue;
        int64_t gain = swapping_gain(s, v, w);
        if (gain <= -threshold)
            continue;
        apply_swap(a, v, w);
        gained += gain;
        if (gained <= most)
            continue;
        most = gained;
        for (size_t r = 0; r < ranks; r++)
            node[r] = a->home[s->node[r]];
    }
}

int anneal_placement(const affinity *ranks, const site *s, size_t *node)
{
    struct annealing a;
    size_t runs = ranks->vertices <= RUNS_RANKS ? RUNS : RUNS_OF_MANY;
    int rc = init_annealing(&a, ranks, s, node);
    for (size_t run = 0; rc == 0 && run < runs; run++)
        run_annealing(&a, run, node);
    base_arena_release(&a.arena);
    return rc;
}
