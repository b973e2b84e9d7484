/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights between all vertices and nodes, kept up to date while vertices change places. */
#include "setmatch/annealing.h"

#include <errno.h>
#include <string.h>

enum {
    MOST_WEIGHTS = 1 << 22, /* in memory */
    LARGEST_WEIGHT = 1 << 28,
    FINEST_WEIGHT = 1 << 19
};

/* Places of a node beyond its slots, at least and as a part of these. */
enum { LEAST_SPARE = 4, SPARE_PART = 10 };

/* Work in parts of a visit. A run takes LEAST_STEPS times as much as its beginning, or more. */
enum { WEIGHTS_PER_PART = 16, BEGIN_ARC = 16, SWAP = 32, SWAP_ARC = 16, LEAST_STEPS = 2 };

/* ---- memory ---- */

static size_t round_up(size_t places)
{
    return (places + ANNEALING_LANES - 1) / ANNEALING_LANES * ANNEALING_LANES;
}

/* Numbers the nodes with ranks; returns the number of their places. */
static size_t number_nodes(annealing *a, const size_t *node)
{
    size_t vertices = a->ranks->vertices, places = 0;
    for (size_t v = 0; v < vertices; v++) {
        size_t n = node[v], slots = site_slots(a->site, n, vertices);
        if (a->number[n] != 0)
            continue;
        a->number[n] = ++a->nodes;
        a->first[a->nodes] = places += round_up(slots + slots / SPARE_PART + LEAST_SPARE);
    }
    return places;
}

static int allocate_nodes(annealing *a)
{
    const site *s = a->site;
    a->home = base_arena_alloc(&a->arena, s->nodes, sizeof *a->home);
    a->number = base_arena_alloc(&a->arena, s->listed, sizeof *a->number);
    a->first = base_arena_alloc(&a->arena, s->nodes + 1, sizeof *a->first);
    a->frees = base_arena_alloc(&a->arena, s->nodes, sizeof *a->frees);
    a->count = base_arena_alloc(&a->arena, s->nodes, sizeof *a->count);
    return a->arena.failed ? -ENOMEM : 0;
}

static int allocate_vertices(annealing *a)
{
    size_t vertices = a->ranks->vertices, arcs = a->ranks->start[vertices];
    a->above = base_arena_alloc(&a->arena, a->all_ranks + 1, sizeof *a->above);
    a->larger = base_arena_alloc(&a->arena, a->all_ranks + 1, sizeof *a->larger);
    a->free = base_arena_alloc(&a->arena, a->places, sizeof *a->free);
    a->member = base_arena_alloc(&a->arena, a->places, sizeof *a->member);
    a->size = base_arena_alloc(&a->arena, a->places, sizeof *a->size);
    a->place = base_arena_alloc(&a->arena, vertices, sizeof *a->place);
    a->node = base_arena_alloc(&a->arena, vertices, sizeof *a->node);
    a->value = base_arena_alloc(&a->arena, arcs, sizeof *a->value);
    a->weight = base_arena_alloc(&a->arena, a->places, a->nodes * sizeof *a->weight);
    a->end = base_arena_alloc(&a->arena, arcs / 2, sizeof *a->end);
    a->edge = base_arena_alloc(&a->arena, arcs, sizeof *a->edge);
    a->listed = base_arena_alloc(&a->arena, arcs / 2, sizeof *a->listed);
    a->at = base_arena_alloc(&a->arena, arcs / 2, sizeof *a->at);
    return a->arena.failed ? -ENOMEM : 0;
}

void annealing_release(annealing *a)
{
    base_arena_release(&a->arena);
}

/* ---- weights ---- */

/* The greatest weight of all arcs of a vertex, as if each were 1 at least after the shift. */
static size_t greatest_total(const affinity *g, unsigned shift)
{
    size_t greatest = 0;
    for (size_t v = 0; v < g->vertices; v++) {
        int64_t total = 0;
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            total += g->weight[i];
        size_t most = (size_t)(total >> shift) + g->start[v + 1] - g->start[v];
        greatest = most > greatest ? most : greatest;
    }
    return greatest;
}

/* The greatest weight of all arcs of a vertex becomes small, but not so small that penalties were
 * coarse beside it. Weights stay at least 1. */
static void scale_weights(annealing *a)
{
    const affinity *g = a->ranks;
    unsigned down = 0, up = 0;
    while (greatest_total(g, down) > LARGEST_WEIGHT)
        down++;
    for (size_t greatest = greatest_total(g, down); greatest << up < FINEST_WEIGHT;)
        up++;
    for (size_t v = 0; v < g->vertices; v++) {
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
            int64_t value = g->weight[i] >> down;
            a->value[i] = value > 0 ? (int32_t)(value << up) : 1;
        }
    }
}

static void add_weights(const annealing *a, vertex v)
{
    const affinity *g = a->ranks;
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
        *annealing_weight(a, a->node[g->other[i]], a->place[v]) += a->value[i];
}

/* ---- edges ---- */

/* Sorts arcs, which are listed in any order or, with NULL, numbered, by a vertex of each. */
static void sort_arcs(const affinity *g, const vertex *listed, const vertex *key, vertex *next,
                      vertex *sorted)
{
    for (size_t v = 0; v < g->vertices; v++)
        next[v] = (vertex)g->start[v];
    for (size_t k = 0; k < g->start[g->vertices]; k++) {
        vertex arc = listed == NULL ? (vertex)k : listed[k];
        sorted[next[key[arc]]++] = arc;
    }
}

/* The arcs to each vertex by their source, and those from it by their end, are of the same edges.
 */
static int number_edges(annealing *a)
{
    const affinity *g = a->ranks;
    size_t arcs = g->start[g->vertices], edges = 0;
    struct base_arena arena = {0};
    vertex *next = base_arena_alloc(&arena, g->vertices, sizeof *next);
    vertex *source = base_arena_alloc(&arena, arcs, sizeof *source);
    vertex *in = base_arena_alloc(&arena, arcs, sizeof *in);
    vertex *out = base_arena_alloc(&arena, arcs, sizeof *out);
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t v = 0; rc == 0 && v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            source[i] = (vertex)v;
    if (rc == 0) {
        sort_arcs(g, NULL, g->other, next, in);
        sort_arcs(g, in, source, next, out);
    }
    for (size_t k = 0; rc == 0 && k < arcs; k++) {
        vertex v = source[out[k]], u = g->other[out[k]];
        if (v > u)
            continue;
        a->edge[in[k]] = a->edge[out[k]] = (vertex)edges;
        a->end[edges][0] = v;
        a->end[edges++][1] = u;
    }
    base_arena_release(&arena);
    return rc;
}

/* Moves an edge that is cut now, or one that was and is not any more, to the other part of the
 * list. Which edges are is hardly predictable, so that this does not branch. */
static inline void turn_edge(annealing *a, vertex e, bool cut, bool joined)
{
    vertex from = a->at[e];
    vertex to = cut ? (vertex)a->cuts : joined ? (vertex)a->cuts - 1 : from;
    vertex other = a->listed[to];
    a->listed[from] = other;
    a->at[other] = from;
    a->listed[to] = e;
    a->at[e] = to;
    a->cuts += (size_t)cut - (size_t)joined;
}

static void list_cut(annealing *a)
{
    for (size_t e = 0; e < a->edges; e++)
        a->listed[e] = a->at[e] = (vertex)e;
    for (size_t e = 0; e < a->edges; e++)
        turn_edge(a, (vertex)e, a->node[a->end[e][0]] != a->node[a->end[e][1]], false);
}

/* ---- places ---- */

static void add_free_place(annealing *a, size_t n, size_t place)
{
    a->member[place] = NO_VERTEX;
    a->free[a->first[n] + a->frees[n]++] = (vertex)place;
    *annealing_weight(a, n, place) = ANNEALING_NEVER;
}

static void set_places(annealing *a, const size_t *node)
{
    const affinity *g = a->ranks;
    vertex *next = a->frees; /* place of the node; free places are counted from 0 again below */
    for (size_t v = 0; v < g->vertices; v++) {
        size_t n = a->number[node[v]] - 1, p = a->first[n] + next[n]++;
        a->member[p] = (vertex)v;
        a->size[p] = (int32_t)g->size[v];
        a->count[n] += (int32_t)g->size[v];
        a->place[v] = (vertex)p;
        a->node[v] = (vertex)n;
    }
    for (size_t n = 0; n < a->nodes; n++) {
        size_t p = a->first[n] + next[n];
        for (a->frees[n] = 0; p < a->first[n + 1]; p++)
            add_free_place(a, n, p);
    }
    for (size_t v = 0; v < g->vertices; v++)
        add_weights(a, (vertex)v);
}

/* Each node counts at its ranks and its slots first; then sums from the top. */
static void count_above(annealing *a)
{
    const site *s = a->site;
    for (size_t n = 0; n < a->nodes; n++) {
        a->above[a->count[n]]++;
        a->above[site_slots(s, s->by_size[n], a->all_ranks)]--;
    }
    for (size_t k = a->all_ranks; k-- > 0;)
        a->above[k] += a->above[k + 1];
}

int annealing_init(annealing *a, const affinity *ranks, const site *s, const annealing_run *run,
                   const size_t *node)
{
    *a = (annealing){.ranks = ranks,
                     .site = s,
                     .strict = run->strict,
                     .edges = ranks->start[ranks->vertices] / 2};
    chance_init(&a->chance, run->variant);
    for (size_t v = 0; v < ranks->vertices; v++)
        a->all_ranks += ranks->size[v];
    a->grouped = a->all_ranks > ranks->vertices;
    if (allocate_nodes(a) != 0)
        return -ENOMEM;
    a->places = number_nodes(a, node);
    a->work = a->nodes * a->places / WEIGHTS_PER_PART + BEGIN_ARC * ranks->start[ranks->vertices];
    if (a->places > MOST_WEIGHTS / (a->nodes | 1) ||
        a->work > ANNEALING_PARTS * run->most_work / LEAST_STEPS)
        return 1;
    if (allocate_vertices(a) != 0 || number_edges(a) != 0)
        return -ENOMEM;
    scale_weights(a);
    set_places(a, node);
    count_above(a);
    list_cut(a);
    return 0;
}

/* The node with most ranks is the one with most slots, and so on. */
static void choose_nodes(annealing *a)
{
    memset(a->larger, 0, (a->all_ranks + 1) * sizeof *a->larger);
    for (size_t n = 0; n < a->nodes; n++)
        if (a->count[n] > 0)
            a->larger[a->count[n] - 1]++;
    for (size_t k = a->all_ranks; k-- > 0;)
        a->larger[k] += a->larger[k + 1];
    for (size_t n = 0; n < a->nodes; n++)
        a->home[n] = a->site->by_size[a->larger[a->count[n]]++];
}

void annealing_copy(annealing *a, size_t *node)
{
    choose_nodes(a);
    for (size_t v = 0; v < a->ranks->vertices; v++)
        node[v] = a->home[a->node[v]];
    a->work += a->ranks->vertices;
}

/* ---- swaps ---- */

/* Moves a vertex, and the weights of its arcs with it. The place may still have those of another
 * vertex, which is to move next. */
static void change_place(annealing *a, vertex v, size_t to, size_t place)
{
    const affinity *g = a->ranks;
    size_t from = a->node[v], left = a->place[v];
    int32_t *lost = annealing_weight(a, from, 0), *gained = annealing_weight(a, to, 0);
    for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
        vertex u = g->other[i];
        size_t n = a->node[u];
        int32_t value = a->value[i], *weight = annealing_weight(a, n, 0);
        lost[a->place[u]] -= value;
        gained[a->place[u]] += value;
        weight[left] -= value;
        weight[place] += value;
        turn_edge(a, a->edge[i], n == from, n == to);
    }
    a->node[v] = (vertex)to;
    a->place[v] = (vertex)place;
    a->member[place] = v;
    a->size[place] = (int32_t)g->size[v];
    a->work += SWAP + SWAP_ARC * (g->start[v + 1] - g->start[v]);
}

/* To the free place of node `to` that was listed last. */
static void move_vertex(annealing *a, vertex v, size_t from, size_t to)
{
    size_t left = a->place[v], place = a->free[a->first[to] + --a->frees[to]];
    *annealing_weight(a, to, place) = 0;
    change_place(a, v, to, place);
    a->size[left] = 0;
    add_free_place(a, from, left);
}

static void swap_vertices(annealing *a, vertex v, vertex w, size_t from, size_t to)
{
    size_t left = a->place[v];
    change_place(a, v, to, a->place[w]);
    change_place(a, w, from, left);
}

/* One rank after the other, so that annealing_excess returns what changes. */
static void give_ranks(annealing *a, size_t from, size_t to, int32_t by)
{
    for (; by > 0; by--) {
        a->excess += annealing_excess(a, a->count[from], a->count[to]);
        a->above[a->count[from]--]--;
        a->above[++a->count[to]]++;
    }
}

/* Whether one node more may have this number of ranks. */
static bool has_slots(const annealing *a, int32_t ranks)
{
    return a->above[ranks] < 0;
}

/* Beyond the mean of both the two nodes have as many ranks as they had before, until the one that
 * takes has more than the larger one had. */
int32_t annealing_most_given(const annealing *a, int32_t from, int32_t to)
{
    int32_t larger = from > to ? from : to, mean = to + (from - to) / 2, k = to;
    while (k < mean && has_slots(a, k + 1))
        k++;
    if (k >= mean)
        for (k = larger; k < from + to && has_slots(a, k + 1);)
            k++;
    return k - to;
}

void annealing_swap(annealing *a, vertex v, size_t to, vertex w)
{
    size_t from = a->node[v];
    int32_t more = (int32_t)a->ranks->size[v] - (w != NO_VERTEX ? (int32_t)a->ranks->size[w] : 0);
    give_ranks(a, from, to, more);
    give_ranks(a, to, from, -more);
    if (w == NO_VERTEX)
        move_vertex(a, v, from, to);
    else
        swap_vertices(a, v, w, from, to);
}
