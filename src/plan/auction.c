/* SPDX-License-Identifier: BSD-3-Clause */
/* The sparse auction that assigns units to nodes. */
#include "plan/auction.h"
#include "base/heap.h"
#include "plan/costs.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define NONE SIZE_MAX

/* It is in bytes of the average unit times one hop. */
#define EPSILON .01

/* ---- bids ---- */

/* A taken slot: the unit, and the price that it bid. */
struct bid {
    double price;
    size_t unit;
};

#define BID_PRECEDES(order, a, b) ((void)(order), (a).price < (b).price)
BASE_HEAP(bid_heap, struct bid, const void *, BID_PRECEDES, BASE_HEAP_UNPLACED);

/* The slots of a node: bid[first] .. bid[first + units - 1] are a heap, the lowest price first,
 * once all slots are taken, which they remain. */
struct slots {
    size_t first, count;
    size_t units;
};

/* Heaps of nodes by price, then by number. node[position[n]] is n for every node n in a heap. */
struct node_order {
    const double *price;
    size_t *position;
};

struct node_queue {
    size_t *node;
    size_t count;
};

#define NODE_PRECEDES(order, a, b)                                                                 \
    ((order)->price[a] < (order)->price[b] || ((order)->price[a] == (order)->price[b] && (a) < (b)))
#define NODE_PLACED(order, item, at) ((order)->position[item] = (at))
BASE_HEAP(node_heap, size_t, const struct node_order *, NODE_PRECEDES, NODE_PLACED);

struct auction {
    struct base_arena arena;
    const matrix *bytes;
    const topo *topology;
    const size_t *capacity;
    size_t units;          /* with bytes */
    double epsilon;        /* the least rise of a price, hop-bytes */
    size_t bids, patience; /* epsilon doubles when bids exceed patience */
    size_t *node_of_unit;
    struct classes classes;

    size_t *queue; /* a ring of units without a slot */
    size_t first_queued, count_queued;

    struct slots *slots; /* of each node */
    struct bid *bid;
    double *price; /* of a slot on each node; INFINITY where it has none */

    struct node_queue *cheapest; /* of each class, its nodes by price */
    struct node_order by_price;
    size_t *cheapest_node;

    /* Gains; all NULL for a single class. */
    double *entry; /* of each entry of `bytes`: on its node */
    double *away;  /* of each entry: on another node of the same class */
    double *far;   /* of each unit: upper bound for classes without entries */
    float *hops;   /* hops[q * stride + p]: from class p to a node of q; exact below 2^24 */
    size_t stride;
    double *class; /* result of gains_of_classes, `stride` entries */
};

/* ---- gains: of a unit on each node, its hop-bytes, negated; with a flat topology the hop-bytes
 * saved by bytes that stay on their node ---- */

static double gain_of_entry(const struct auction *a, size_t e)
{
    return a->entry != NULL ? a->entry[e]
                            : (TOPO_OTHER_NODE - TOPO_SAME_NODE) * (double)a->bytes->value[e];
}

/* Classes per block: loops of constant length without branches vectorise. */
enum { BLOCK = 8 };

static void auction_fill_hops(struct auction *a)
{
    const struct classes *classes = &a->classes;
    for (size_t p = 0; p < classes->count; p++)
        for (size_t q = 0; q < classes->count; q++)
            a->hops[q * a->stride + p] = hops_of_classes(classes, p, q);
}

/* Minimum hops from another class to a node of q. */
static double nearest_class(const struct auction *a, size_t q)
{
    double nearest = INFINITY;
    for (size_t p = 0; p < a->classes.count; p++)
        if (p != q && a->hops[q * a->stride + p] < nearest)
            nearest = a->hops[q * a->stride + p];
    return nearest;
}

static double gain_away(const struct auction *a, size_t unit, size_t p)
{
    const matrix *m = a->bytes;
    double sum = 0.0;
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t q = a->classes.of_node[m->col[e]];
        sum -= (double)a->hops[q * a->stride + p] * (double)m->value[e];
    }
    return sum;
}

/* Bounds `far` by the nearest class of each entry. */
static void weigh_unit(struct auction *a, size_t unit, const double *nearest)
{
    const matrix *m = a->bytes;
    double far = 0.0;
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        size_t p = a->classes.of_node[m->col[e]];
        double own = (double)m->value[e];
        a->away[e] = gain_away(a, unit, p);
        a->entry[e] = a->away[e] + (a->classes.within[p] - TOPO_SAME_NODE) * own;
        far -= own > 0.0 ? nearest[p] * own : 0.0;
    }
    a->far[unit] = far;
}

/* Allocates in the arena. -ENOMEM. */
static int set_up_gains(struct auction *a)
{
    const matrix *bytes = a->bytes;
    struct base_arena *arena = &a->arena;
    size_t entries = bytes->row_start[bytes->rows], classes = a->classes.count, cells;
    a->stride = (classes + BLOCK - 1) / BLOCK * BLOCK;
    if (a->classes.between == NULL)
        return 0;
    if (__builtin_mul_overflow(classes, a->stride, &cells))
        return -ENOMEM;
    a->entry = base_arena_alloc(arena, entries, sizeof *a->entry);
    a->away = base_arena_alloc(arena, entries, sizeof *a->away);
    a->far = base_arena_alloc(arena, bytes->rows, sizeof *a->far);
    a->hops = base_arena_alloc(arena, cells, sizeof *a->hops);
    a->class = base_arena_alloc(arena, a->stride, sizeof *a->class);
    double *nearest = base_arena_alloc(arena, classes, sizeof *nearest);
    if (arena->failed)
        return -ENOMEM;
    auction_fill_hops(a);
    for (size_t q = 0; q < classes; q++)
        nearest[q] = nearest_class(a, q);
    for (size_t u = 0; u < bytes->rows; u++)
        weigh_unit(a, u, nearest);
    return 0;
}

/* ---- classes without entries ---- */

static void auction_sum_block(const struct auction *a, size_t unit, size_t first)
{
    const matrix *m = a->bytes;
    double sum[BLOCK] = {0.0};
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++) {
        const float *hops = a->hops + a->classes.of_node[m->col[e]] * a->stride + first;
        double bytes = (double)m->value[e];
        for (size_t k = 0; k < BLOCK; k++)
            sum[k] -= (double)hops[k] * bytes;
    }
    memcpy(a->class + first, sum, sizeof sum);
}

/* Finds the gain of a unit in each class, on a node that does not access it: a->class[p], -INFINITY
 * for the classes of its entries. Makes a->far[unit] exact. O(entries of the unit * classes). */
static void gains_of_classes(struct auction *a, size_t unit)
{
    const matrix *m = a->bytes;
    double far = -INFINITY;
    for (size_t first = 0; first < a->stride; first += BLOCK)
        auction_sum_block(a, unit, first);
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++)
        a->class[a->classes.of_node[m->col[e]]] = -INFINITY;
    for (size_t p = 0; p < a->classes.count; p++)
        far = a->class[p] > far ? a->class[p] : far;
    a->far[unit] = far;
}

/* ---- the best node of a unit ---- */

/* The best node of a unit, and the value of the second best. */
struct preference {
    size_t node, left; /* left: wins ties */
    double value, second;
};

static void consider_node(struct preference *c, size_t node, double value)
{
    if (value > c->value || (value == c->value && node == c->left)) {
        if (node != c->node)
            c->second = c->value;
        c->node = node;
        c->value = value;
    } else if (node != c->node && value > c->second) {
        c->second = value;
    }
}

/* `gain`: of those nodes of the class that do not access the unit. For those that do, it is exact
 * or too low, and they are considered elsewhere. */
static void consider_class(const struct auction *a, struct preference *c, size_t class, double gain)
{
    const struct node_queue *q = &a->cheapest[class];
    if (c->left != NONE && a->classes.of_node[c->left] == class)
        consider_node(c, c->left, gain - a->price[c->left]);
    if (q->count > 0)
        consider_node(c, q->node[0], gain - a->price[q->node[0]]);
    if (q->count > 1) {
        bool third = q->count > 2 && NODE_PRECEDES(&a->by_price, q->node[2], q->node[1]);
        size_t second = q->node[third ? 2 : 1];
        consider_node(c, second, gain - a->price[second]);
    }
}

/* Considers classes without entries only if one of them may be the best. */
static void consider_far_classes(struct auction *a, struct preference *c, size_t unit)
{
    if (a->far[unit] >= c->value)
        gains_of_classes(a, unit);
    if (a->far[unit] < c->value) {
        c->second = fmax(c->second, a->far[unit]);
        return;
    }
    for (size_t p = 0; p < a->classes.count; p++)
        if (a->class[p] > c -> second)
            consider_class(a, c, p, a->class[p]);
}

static struct preference choose_node(struct auction *a, size_t unit)
{
    const matrix *m = a->bytes;
    size_t begin = m->row_start[unit], end = m->row_start[unit + 1];
    struct preference c = {NONE, unit > 0 ? a->node_of_unit[unit - 1] : NONE, -INFINITY, -INFINITY};
    for (size_t e = begin; e < end; e++)
        consider_node(&c, m->col[e], gain_of_entry(a, e) - a->price[m->col[e]]);
    if (a->entry == NULL) {
        consider_class(a, &c, 0, 0.0);
        return c;
    }
    for (size_t e = begin; e < end; e++)
        consider_class(a, &c, a->classes.of_node[m->col[e]], a->away[e]);
    consider_far_classes(a, &c, unit);
    return c;
}

/* ---- slots ---- */

static bool is_full(const struct slots *s)
{
    return s->units == s->count;
}

/* The price of the cheapest slot: 0 as long as one is free. */
static double price_of(const struct auction *a, size_t node)
{
    const struct slots *s = &a->slots[node];
    if (s->count == 0)
        return INFINITY;
    return is_full(s) ? a->bid[s->first].price : 0.0;
}

static void update_price(struct auction *a, size_t node)
{
    const struct node_queue *q = &a->cheapest[a->classes.of_node[node]];
    a->price[node] = price_of(a, node);
    node_heap_fix(&a->by_price, q->node, q->count, a->by_price.position[node], node);
}

static void take_free_slot(struct auction *a, size_t node, struct bid bid)
{
    struct slots *s = &a->slots[node];
    a->bid[s->first + s->units++] = bid;
    if (!is_full(s))
        return;
    bid_heap_build(NULL, a->bid + s->first, s->units);
    update_price(a, node);
}

/* The bid takes a slot of a full node. Returns the evicted unit. */
static size_t evict(struct auction *a, size_t node, struct bid bid)
{
    struct slots *s = &a->slots[node];
    struct bid *heap = a->bid + s->first;
    size_t out = heap[0].unit;
    bid_heap_down(NULL, heap, s->units, 0, bid);
    update_price(a, node);
    return out;
}

/* The unit bids for its best node. Returns the evicted unit, or NONE. */
static size_t bid_of_unit(struct auction *a, size_t unit)
{
    struct preference c = choose_node(a, unit);
    double rise = isinf(c.second) ? 0.0 : c.value - c.second;
    a->node_of_unit[unit] = c.node;
    if (++a->bids > a->patience) {
        a->patience += 16 * a->units;
        a->epsilon *= 2;
    }
    struct bid bid = {a->price[c.node] + rise + a->epsilon, unit};
    if (is_full(&a->slots[c.node]))
        return evict(a, c.node, bid);
    take_free_slot(a, c.node, bid);
    return NONE;
}

static void enqueue_unit(struct auction *a, size_t unit)
{
    assert(a->count_queued < a->bytes->rows);
    if (unit != NONE)
        a->queue[(a->first_queued + a->count_queued++) % a->bytes->rows] = unit;
}

static void assign_queued(struct auction *a)
{
    while (a->count_queued > 0) {
        size_t unit = a->queue[a->first_queued];
        a->first_queued = (a->first_queued + 1) % a->bytes->rows;
        a->count_queued--;
        enqueue_unit(a, bid_of_unit(a, unit));
    }
}

static double bytes_of_unit(const matrix *m, size_t u)
{
    double sum = 0.0;
    for (size_t e = m->row_start[u]; e < m->row_start[u + 1]; e++)
        sum += (double)m->value[e];
    return sum;
}

/* Units bid in their order first, so that ties keep neighbours together. */
static void assign_units(struct auction *a)
{
    for (size_t u = 0; u < a->bytes->rows; u++)
        if (bytes_of_unit(a->bytes, u) > 0.0)
            enqueue_unit(a, bid_of_unit(a, u));
        else
            a->node_of_unit[u] = AUCTION_NOWHERE;
    assign_queued(a);
}

/* ---- memory ---- */

static int lay_out_slots(struct auction *a)
{
    size_t slots = 0;
    for (size_t n = 0; n < a->topology->nodes; n++) {
        size_t capacity = a->capacity[n];
        size_t count = capacity < a->units ? capacity : a->units;
        a->slots[n] = (struct slots){.first = slots, .count = count};
        a->price[n] = price_of(a, n);
        if (__builtin_add_overflow(slots, count, &slots))
            return -ENOMEM;
    }
    a->bid = base_arena_alloc(&a->arena, slots, sizeof *a->bid);
    return a->bid != NULL ? 0 : -ENOMEM;
}

static void lay_out_classes(struct auction *a)
{
    for (size_t p = 0; p < a->classes.count; p++)
        a->cheapest[p].node = a->cheapest_node + a->classes.nodes.start[p];
    for (size_t n = 0; n < a->topology->nodes; n++) {
        struct node_queue *q = &a->cheapest[a->classes.of_node[n]];
        node_heap_up(&a->by_price, q->node, q->count++, n);
    }
}

static int auction_init(struct auction *a)
{
    struct base_arena *arena = &a->arena;
    size_t nodes = a->topology->nodes;
    if (find_classes(arena, a->topology, 0, &a->classes) != 0)
        return -ENOMEM;
    a->queue = base_arena_alloc(arena, a->bytes->rows, sizeof *a->queue);
    a->slots = base_arena_alloc(arena, nodes, sizeof *a->slots);
    a->price = base_arena_alloc(arena, nodes, sizeof *a->price);
    a->cheapest = base_arena_alloc(arena, a->classes.count, sizeof *a->cheapest);
    a->cheapest_node = base_arena_alloc(arena, nodes, sizeof *a->cheapest_node);
    a->by_price.position = base_arena_alloc(arena, nodes, sizeof *a->by_price.position);
    a->by_price.price = a->price;
    if (arena->failed || lay_out_slots(a) != 0 || set_up_gains(a) != 0)
        return -ENOMEM;
    lay_out_classes(a);
    return 0;
}

static void measure_units(struct auction *a)
{
    double all = 0.0;
    for (size_t u = 0; u < a->bytes->rows; u++) {
        double sum = bytes_of_unit(a->bytes, u);
        a->units += sum > 0.0;
        all += sum;
    }
    a->epsilon = a->units > 0 ? EPSILON * all / (double)a->units : 1.0;
    a->patience = 16 * a->units;
}

int auction_solve(const matrix *bytes, const topo *topology, const size_t *capacity,
                  size_t *node_of_unit)
{
    struct auction a = {
        .bytes = bytes,
        .topology = topology,
        .capacity = capacity,
        .node_of_unit = node_of_unit,
    };
    measure_units(&a);
    int rc = auction_init(&a);
    if (rc == 0)
        assign_units(&a);
    base_arena_release(&a.arena);
    return rc;
}
