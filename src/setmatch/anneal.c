/* SPDX-License-Identifier: BSD-3-Clause */
/* Swaps at random, also such that cut more, by less and less: threshold accepting (Dueck, Scheuer,
 * Journal of Computational Physics 90, 1990), which is annealing in whole numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setmatch/candidates.h"
#include "setmatch/mix.h"
#include "setmatch/swapping.h"

/* Several short ways, each from the best placement so far, find more than a long one; tries of more
 * ranks take longer. A way begins by accepting this share of what a swap at random costs: more
 * leads too far away, less nowhere. */
#define BEGIN .2
enum {
    TRIES = 30000,
    WAYS = 8,
    FEWER_WAYS = 4,
    MOST_WAYS_RANKS = 64,
    SAMPLE = 200,
    SAME_THRESHOLD = 256
};

/* Nodes with ranks are numbered anew; the others stay without. */
struct annealing {
    swapping s;
    size_t *home, *slots; /* by number */
    size_t *number;       /* by node, from 1 on; 0: none */
    size_t *first;        /* by number: of its places in member[] */
    size_t *member;       /* places node by node */
    size_t *seat;         /* by place: where it is in member[] */
    uint64_t state;
};

static void release(struct annealing *a)
{
    swapping_release(&a->s);
    free(a->home);
    free(a->slots);
    free(a->number);
    free(a->first);
    free(a->member);
    free(a->seat);
}

/* Sets how many nodes have ranks; returns the places there. */
static size_t number_nodes(struct annealing *a, const site *s, const size_t *node, size_t ranks,
                           size_t *nodes)
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

static int init(struct annealing *a, const affinity *ranks, const site *s, const size_t *node)
{
    size_t count = ranks->vertices, nodes;
    *a = (struct annealing){.home = calloc(count + 1, sizeof *a->home),
                            .slots = calloc(count + 1, sizeof *a->slots),
                            .number = calloc(s->listed + 1, sizeof *a->number),
                            .first = calloc(count + 1, sizeof *a->first)};
    if (a->home == NULL || a->slots == NULL || a->number == NULL || a->first == NULL)
        return -ENOMEM;
    size_t places = number_nodes(a, s, node, count, &nodes);
    a->member = calloc(places + 1, sizeof *a->member);
    a->seat = calloc(places + 1, sizeof *a->seat);
    if (a->member == NULL || a->seat == NULL)
        return -ENOMEM;
    return swapping_init(&a->s, ranks, nodes, places);
}

static void seat(struct annealing *a, size_t place, size_t n, size_t *next)
{
    a->s.node[place] = n;
    a->seat[place] = next[n];
    a->member[next[n]++] = place;
}

/* Ranks where they are, and free slots behind them. */
static void take_over(struct annealing *a, const size_t *node)
{
    swapping *s = &a->s;
    size_t ranks = s->ranks->vertices, place = ranks, *next = a->first;
    for (size_t n = 0, at = 0; n < s->nodes; at += a->slots[n++])
        next[n] = at;
    for (size_t v = 0; v < ranks; v++)
        seat(a, v, a->number[node[v]] - 1, next);
    for (size_t n = 0, end = 0; n < s->nodes; n++)
        for (end += a->slots[n]; next[n] < end;)
            seat(a, place++, n, next);
    for (size_t n = 0; n < s->nodes; n++)
        a->first[n] -= a->slots[n];
    swapping_bind(s);
}

/* Looks random: xorshift64 (Marsaglia 2003), which takes a few cycles. */
static uint64_t draw(struct annealing *a)
{
    a->state ^= a->state << 13;
    a->state ^= a->state >> 7;
    a->state ^= a->state << 17;
    return a->state;
}

/* A number below n, a small one, from the k-th part of what was drawn. */
static size_t below(size_t n, uint64_t drawn, unsigned k)
{
    return (size_t)(((drawn >> 21 * k) & 0x1fffff) * n >> 21);
}

static void swap(struct annealing *a, size_t v, size_t w)
{
    size_t kept = a->seat[v];
    swapping_apply(&a->s, v, w);
    a->seat[v] = a->seat[w];
    a->seat[w] = kept;
    a->member[a->seat[v]] = v;
    a->member[a->seat[w]] = w;
}

/* A rank, and a place on the node of somebody whom it is bound to; the same place where it has no
 * bonds. */
static void draw_swap(struct annealing *a, size_t *v, size_t *w)
{
    const affinity *g = a->s.ranks;
    uint64_t drawn = draw(a);
    *v = *w = below(g->vertices, drawn, 0);
    size_t bonds = g->start[*v + 1] - g->start[*v];
    if (bonds == 0)
        return;
    size_t n = a->s.node[g->other[g->start[*v] + below(bonds, drawn, 1)]];
    *w = a->member[a->first[n] + below(a->slots[n], drawn, 2)];
}

/* What a swap at random costs. */
static double mean_cost(struct annealing *a)
{
    double sum = 0;
    for (size_t k = 0; k < SAMPLE; k++) {
        uint64_t drawn = draw(a);
        size_t v = below(a->s.ranks->vertices, drawn, 0), w = below(a->s.places, drawn, 1);
        int64_t gain = a->s.node[v] != a->s.node[w] ? swapping_gain(&a->s, v, w) : 0;
        sum += gain < 0 ? -(double)gain : 0;
    }
    return sum / SAMPLE;
}

/* The best placement of one way from node[] replaces it. */
static void go(struct annealing *a, size_t way, size_t *node)
{
    swapping *s = &a->s;
    size_t ranks = s->ranks->vertices;
    int64_t gained = 0, most = 0, threshold = 0;
    take_over(a, node);
    a->state = mixed(way);
    double begin = BEGIN * mean_cost(a);
    for (size_t k = 0; k < TRIES; k++) {
        size_t v, w;
        draw_swap(a, &v, &w);
        if (k % SAME_THRESHOLD == 0)
            threshold = (int64_t)(begin * (double)(TRIES - k) / TRIES);
        if (s->node[v] == s->node[w] || swapping_most_gain(s, v, w) <= -threshold)
            continue;
        int64_t gain = swapping_gain(s, v, w);
        if (gain <= -threshold)
            continue;
        swap(a, v, w);
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
    size_t ways = ranks->vertices <= MOST_WAYS_RANKS ? WAYS : FEWER_WAYS;
    int rc = init(&a, ranks, s, node);
    for (size_t way = 0; rc == 0 && way < ways; way++)
        go(&a, way, node);
    release(&a);
    return rc;
}
