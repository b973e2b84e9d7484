/* SPDX-License-Identifier: BSD-3-Clause */
/* The sparse auction that assigns units to nodes, from the top of the network down: to the groups
 * of each level, among the units of the group above. */
#include "plan/auction.h"
#include "base/heap.h"
#include "base/groups.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE SIZE_MAX

/* It is in bytes of the average unit. */
#define EPSILON .001

/* ---- bids ---- */

/* A taken slot: the unit, and the price that it bid. */
struct bid {
    double price;
    size_t unit;
};

#define BID_PRECEDES(order, a, b) ((void)(order), (a).price < (b).price)
BASE_HEAP(bid_heap, struct bid, const void *, BID_PRECEDES, BASE_HEAP_UNPLACED);

/* The slots of a place: bid[first] .. bid[first + units - 1] are a heap, the lowest price first,
 * once all slots are taken, which they remain. */
struct slots {
    size_t first, count;
    size_t units;
};

/* Heaps of places by price, then by number. place[position[n]] is n for every place n. */
struct place_order {
    const double *price;
    size_t *position;
};

#define PLACE_PRECEDES(order, a, b)                                                                \
    ((order)->price[a] < (order)->price[b] || ((order)->price[a] == (order)->price[b] && (a) < (b)))
#define PLACE_PLACED(order, item, at) ((order)->position[item] = (at))
BASE_HEAP(place_heap, size_t, const struct place_order *, PLACE_PRECEDES, PLACE_PLACED);

/* The bytes of units at places: those of unit u are entries start[u] .. start[u + 1] - 1. */
struct gain {
    size_t place;
    double bytes;
};
struct gains {
    size_t units, places;
    size_t *start;
    struct gain *of;
};

/* Units that bid for places: a unit gains its bytes there. */
struct auction {
    struct base_arena arena;
    const struct gains *gains;
    const size_t *capacity;
    double epsilon;        /* the least rise of a price, bytes */
    size_t bids, patience; /* epsilon doubles when bids exceed patience */
    size_t *place_of_unit;

    size_t *queue; /* a ring of units without a slot */
    size_t first_queued, count_queued;

    struct slots *slots; /* of each place */
    struct bid *bid;
    double *price; /* of a slot at each place; INFINITY where it has none */

    size_t *cheapest; /* places by price */
    struct place_order by_price;
};

/* ---- the best place of a unit ---- */

/* The best place of a unit, and the value of the second best. */
struct preference {
    size_t place, left; /* left: wins ties */
    double value, second;
};

static void consider(struct preference *c, size_t place, double value)
{
    if (value > c->value || (value == c->value && place == c->left)) {
        if (place != c->place)
            c->second = c->value;
        c->place = place;
        c->value = value;
    } else if (place != c->place && value > c->second) {
        c->second = value;
    }
}

/* The cheapest places but those where the unit has bytes, which are worth more there. */
static void consider_cheapest(const struct auction *a, struct preference *c)
{
    const size_t *place = a->cheapest;
    size_t count = a->gains->places;
    if (c->left != NONE)
        consider(c, c->left, -a->price[c->left]);
    consider(c, place[0], -a->price[place[0]]);
    if (count > 1) {
        bool third = count > 2 && PLACE_PRECEDES(&a->by_price, place[2], place[1]);
        size_t second = place[third ? 2 : 1];
        consider(c, second, -a->price[second]);
    }
}

static struct preference choose_place(const struct auction *a, size_t unit)
{
    const struct gains *g = a->gains;
    size_t left = unit > 0 ? a->place_of_unit[unit - 1] : NONE;
    struct preference c = {NONE, left, -INFINITY, -INFINITY};
    for (size_t e = g->start[unit]; e < g->start[unit + 1]; e++)
        consider(&c, g->of[e].place, g->of[e].bytes - a->price[g->of[e].place]);
    consider_cheapest(a, &c);
    return c;
}

/* ---- slots ---- */

static bool is_full(const struct slots *s)
{
    return s->units == s->count;
}

/* The price of the cheapest slot: 0 as long as one is free. */
static double price_of(const struct auction *a, size_t place)
{
    const struct slots *s = &a->slots[place];
    if (s->count == 0)
        return INFINITY;
    return is_full(s) ? a->bid[s->first].price : 0.0;
}

static void update_price(struct auction *a, size_t place)
{
    a->price[place] = price_of(a, place);
    place_heap_fix(&a->by_price, a->cheapest, a->gains->places, a->by_price.position[place], place);
}

static void take_free_slot(struct auction *a, size_t place, struct bid bid)
{
    struct slots *s = &a->slots[place];
    a->bid[s->first + s->units++] = bid;
    if (!is_full(s))
        return;
    bid_heap_build(NULL, a->bid + s->first, s->units);
    update_price(a, place);
}

/* The bid takes a slot of a full node. Returns the evicted unit. */
static size_t evict(struct auction *a, size_t place, struct bid bid)
{
    struct slots *s = &a->slots[place];
    struct bid *heap = a->bid + s->first;
    size_t out = heap[0].unit;
    bid_heap_down(NULL, heap, s->units, 0, bid);
    update_price(a, place);
    return out;
}

/* The unit bids for its best node. Returns the evicted unit, or NONE. */
static size_t bid_of_unit(struct auction *a, size_t unit)
{
    struct preference c = choose_place(a, unit);
    double rise = isinf(c.second) ? 0.0 : c.value - c.second;
    a->place_of_unit[unit] = c.place;
    if (++a->bids > a->patience) {
        a->patience += a->gains->units;
        a->epsilon *= 2;
    }
    struct bid bid = {a->price[c.place] + rise + a->epsilon, unit};
    if (is_full(&a->slots[c.place]))
        return evict(a, c.place, bid);
    take_free_slot(a, c.place, bid);
    return NONE;
}

static void enqueue_unit(struct auction *a, size_t unit)
{
    assert(a->count_queued < a->gains->units);
    if (unit != NONE)
        a->queue[(a->first_queued + a->count_queued++) % a->gains->units] = unit;
}

/* The k-th of the queue, counted from 0. */
static size_t queued(const struct auction *a, size_t k)
{
    return a->queue[(a->first_queued + k) % a->gains->units];
}

static void assign_queued(struct auction *a)
{
    const struct gains *g = a->gains;
    while (a->count_queued > 0) {
        size_t unit = queued(a, 0);
        a->first_queued = (a->first_queued + 1) % a->gains->units;
        a->count_queued--;
        if (a->count_queued > 16) { /* they are anywhere in memory */
            __builtin_prefetch(&g->start[queued(a, 16)]);
            __builtin_prefetch(&a->place_of_unit[queued(a, 8)]);
            __builtin_prefetch(&g->of[g->start[queued(a, 8)]]);
        }
        enqueue_unit(a, bid_of_unit(a, unit));
    }
}

/* Units bid in their order first, so that ties keep neighbours together. */
static void assign_units(struct auction *a)
{
    for (size_t u = 0; u < a->gains->units; u++)
        enqueue_unit(a, bid_of_unit(a, u));
    assign_queued(a);
}

/* ---- one level ---- */

static int lay_out_slots(struct auction *a)
{
    size_t slots = 0, units = a->gains->units;
    for (size_t n = 0; n < a->gains->places; n++) {
        size_t count = a->capacity[n] < units ? a->capacity[n] : units;
        a->slots[n] = (struct slots){.first = slots, .count = count};
        a->price[n] = price_of(a, n);
        if (__builtin_add_overflow(slots, count, &slots))
            return -ENOMEM;
    }
    a->bid = base_arena_alloc(&a->arena, slots, sizeof *a->bid);
    return a->bid != NULL ? 0 : -ENOMEM;
}

static int auction_init(struct auction *a)
{
    struct base_arena *arena = &a->arena;
    size_t places = a->gains->places;
    a->queue = base_arena_alloc(arena, a->gains->units, sizeof *a->queue);
    a->slots = base_arena_alloc(arena, places, sizeof *a->slots);
    a->price = base_arena_alloc(arena, places, sizeof *a->price);
    a->cheapest = base_arena_alloc(arena, places, sizeof *a->cheapest);
    a->by_price.position = base_arena_alloc(arena, places, sizeof *a->by_price.position);
    a->by_price.price = a->price;
    if (arena->failed || lay_out_slots(a) != 0)
        return -ENOMEM;
    for (size_t n = 0; n < places; n++)
        place_heap_up(&a->by_price, a->cheapest, n, n);
    return 0;
}

/* Each unit gets a place, all of which have room for them. */
static int hold_auction(const struct gains *gains, const size_t *capacity, size_t *place_of_unit)
{
    struct auction a = {.gains = gains, .capacity = capacity, .place_of_unit = place_of_unit};
    double all = 0.0;
    for (size_t e = 0; e < gains->start[gains->units]; e++)
        all += gains->of[e].bytes;
    a.epsilon = all > 0.0 ? EPSILON * all / (double)gains->units : 1.0;
    a.patience = gains->units;
    int rc = auction_init(&a);
    if (rc == 0)
        assign_units(&a);
    base_arena_release(&a.arena);
    return rc;
}

/* ---- level by level ---- */

/* What is decided so far: the group of each node and of each unit. */
struct descent {
    struct base_arena arena;
    const matrix *bytes;
    const topo *topology;
    const size_t *capacity; /* of each node */
    double *far; /* of each node: hops from the others in the mean; NULL: the network has levels */
    size_t groups;
    size_t *group_of_node, *group_of_unit;
    /* For the units of one group at a time. */
    struct gains gains;
    size_t *place_of_unit;
    double *bytes_at; /* of one unit, at each place; cleared */
};

/* The groups of the next level, which are parts of those above; numbered in the order of their
 * lowest nodes. */
struct level {
    struct base_arena arena;
    size_t groups;
    size_t *group_of_node, *parent;
    struct base_groups children, units; /* of each group above */
    size_t *place;                      /* of each group, among the children of its parent */
    size_t *capacity; /* of each place: capacity[children.start[p]] is the first one of p */
};

/* given: any numbers below 2 * nodes; NULL: each node is a group. */
static void number_level(const struct descent *d, const size_t *given, size_t *number,
                         struct level *l)
{
    for (size_t n = 0; n < d->bytes->cols; n++) {
        size_t *known = &number[given != NULL ? given[n] : n];
        if (*known == 0) {
            l->parent[l->groups] = d->group_of_node[n];
            *known = ++l->groups;
        }
        l->group_of_node[n] = *known - 1;
    }
}

/* More than all units need is not counted. */
static void add_capacities(const struct descent *d, struct level *l)
{
    size_t units = d->bytes->rows;
    for (size_t i = 0; i < l->groups; i++) {
        size_t group = l->children.item[i];
        l->place[group] = i - l->children.start[l->parent[group]];
    }
    for (size_t n = 0; n < d->bytes->cols; n++) {
        size_t group = l->group_of_node[n];
        size_t *sum = &l->capacity[l->children.start[l->parent[group]] + l->place[group]];
        *sum = d->capacity[n] < units - *sum ? *sum + d->capacity[n] : units;
    }
}

static int make_level(const struct descent *d, const size_t *given, struct level *l)
{
    struct base_arena *arena = &l->arena;
    size_t nodes = d->bytes->cols, *number = base_arena_alloc(arena, 2 * nodes, sizeof *number);
    l->group_of_node = base_arena_alloc(arena, nodes, sizeof *l->group_of_node);
    l->parent = base_arena_alloc(arena, nodes, sizeof *l->parent);
    l->place = base_arena_alloc(arena, nodes, sizeof *l->place);
    l->capacity = base_arena_alloc(arena, nodes, sizeof *l->capacity);
    if (arena->failed)
        return -ENOMEM;
    number_level(d, given, number, l);
    int rc = base_group_items(arena, l->parent, l->groups, d->groups, &l->children);
    if (rc == 0)
        rc = base_group_items(arena, d->group_of_unit, d->bytes->rows, d->groups, &l->units);
    if (rc == 0)
        add_capacities(d, l);
    return rc;
}

/* What a unit gains at a place where it has bytes: these; without levels, where places are nodes,
 * the hop-bytes that it has less than on a node that is far from all. */
static double gain_at(const struct descent *d, size_t place, size_t end)
{
    const struct gains *g = &d->gains;
    double sum = 0.0;
    if (d->far == NULL)
        return d->bytes_at[place];
    for (size_t e = g->start[g->units]; e < end; e++) {
        size_t other = g->of[e].place;
        sum += (d->far[other] - topo_hops(d->topology, place, other, 0)) * d->bytes_at[other];
    }
    return fmax(sum, 0.0);
}

/* What a unit has at the places of a group. */
static void add_gains(struct descent *d, const struct level *l, size_t group, size_t unit)
{
    const matrix *m = d->bytes;
    struct gains *g = &d->gains;
    size_t at = g->start[g->units];
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t child = l->group_of_node[m->col[e]];
        if (l->parent[child] != group || m->value[e] == 0)
            continue;
        if (d->bytes_at[l->place[child]] == 0.0)
            g->of[at++].place = l->place[child];
        d->bytes_at[l->place[child]] += (double)m->value[e];
    }
    for (size_t e = g->start[g->units]; e < at; e++)
        g->of[e].bytes = gain_at(d, g->of[e].place, at);
    for (size_t e = g->start[g->units]; e < at; e++)
        d->bytes_at[g->of[e].place] = 0.0;
    g->start[++g->units] = at;
}

static int split_group(struct descent *d, const struct level *l, size_t group)
{
    const size_t *unit = l->units.item + l->units.start[group];
    const size_t *child = l->children.item + l->children.start[group];
    d->gains.units = 0;
    d->gains.places = base_group_size(&l->children, group);
    for (size_t i = 0; i < base_group_size(&l->units, group); i++)
        add_gains(d, l, group, unit[i]);
    int rc = hold_auction(&d->gains, l->capacity + l->children.start[group], d->place_of_unit);
    for (size_t i = 0; i < d->gains.units && rc == 0; i++)
        d->group_of_unit[unit[i]] = child[d->place_of_unit[i]];
    return rc;
}

static int descend(struct descent *d, const size_t *group_of_node)
{
    struct level l = {.groups = 0};
    int rc = make_level(d, group_of_node, &l);
    for (size_t p = 0; p < d->groups && rc == 0; p++)
        rc = split_group(d, &l, p);
    for (size_t n = 0; n < d->bytes->cols && rc == 0; n++)
        d->group_of_node[n] = l.group_of_node[n];
    d->groups = l.groups;
    base_arena_release(&l.arena);
    return rc;
}

/* All nodes are one group, and all units with bytes are in it. */
static int begin_descent(struct descent *d)
{
    const matrix *m = d->bytes;
    size_t entries = m->row_start[m->rows];
    struct gains *g = &d->gains;
    d->groups = 1;
    d->group_of_node = base_arena_alloc(&d->arena, m->cols, sizeof *d->group_of_node);
    d->bytes_at = base_arena_alloc(&d->arena, m->cols, sizeof *d->bytes_at);
    d->place_of_unit = base_arena_alloc(&d->arena, m->rows, sizeof *d->place_of_unit);
    g->start = base_arena_alloc(&d->arena, m->rows + 1, sizeof *g->start);
    g->of = base_arena_alloc(&d->arena, entries, sizeof *g->of);
    if (d->arena.failed)
        return -ENOMEM;
    for (size_t u = 0; u < m->rows; u++) {
        size_t e = m->row_start[u];
        while (e < m->row_start[u + 1] && m->value[e] == 0)
            e++;
        d->group_of_unit[u] = e < m->row_start[u + 1] ? 0 : AUCTION_NOWHERE;
    }
    return 0;
}

/* Without levels the nearest nodes join all others. O(nodes * nodes). */
static int find_far(struct descent *d)
{
    size_t nodes = d->bytes->cols;
    d->far = base_arena_alloc(&d->arena, nodes, sizeof *d->far);
    for (size_t n = 0; d->far != NULL && n < nodes; n++)
        for (size_t m = 0; m < nodes; m++)
            if (m != n)
                d->far[n] += topo_hops(d->topology, n, m, 0) / (double)(nodes - 1);
    return d->far != NULL ? 0 : -ENOMEM;
}

int auction_solve(const matrix *bytes, const topo *topology, const size_t *capacity,
                  size_t *node_of_unit)
{
    struct descent d = {
        .bytes = bytes, .topology = topology, .capacity = capacity, .group_of_unit = node_of_unit};
    size_t levels, *group_of_node;
    int rc = topo_levels(topology, &levels, &group_of_node);
    if (rc != 0)
        return rc;
    rc = begin_descent(&d);
    if (rc == 0 && levels == 0 && topology->places > 0)
        rc = find_far(&d);
    for (size_t k = levels; k > 0 && rc == 0; k--)
        rc = descend(&d, group_of_node + (k - 1) * bytes->cols);
    if (rc == 0)
        rc = descend(&d, NULL);
    free(group_of_node);
    base_arena_release(&d.arena);
    return rc;
}
