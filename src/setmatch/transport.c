/* SPDX-License-Identifier: BSD-3-Clause */
/* The transportation problem by a sparse auction. */
#include "setmatch/transport.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/heap.h"
#include "base/memory.h"

/* An item on a node. */
struct bid {
    int64_t price;
    size_t item;
};

/* The items on a node: a heap, the lowest bid first, the higher item on a tie. */
struct seller {
    struct bid *bid;
    size_t count, capacity;
};

#define BID_PRECEDES(order, x, y)                                                                  \
    ((x).price < (y).price || ((x).price == (y).price && (x).item > (y).item))
BASE_HEAP(bids, struct bid, void *, BID_PRECEDES, BASE_HEAP_UNPLACED);

struct auction {
    const matrix *benefit;
    const size_t *capacity;
    int64_t increment;
    size_t *node_of_item;
    struct seller *seller;
    int64_t *price; /* by node: 0 below capacity, then the lowest bid; INT64_MAX: no capacity */
    size_t *cheap;  /* tournament tree: cheap[1] is the cheapest node, leaves from `leaves` on */
    size_t leaves;
    size_t *waiting, num_waiting; /* unassigned items */
    struct base_arena arena;
};

static void release_auction(struct auction *a)
{
    for (size_t n = 0; a->seller != NULL && n < a->benefit->cols; n++)
        free(a->seller[n].bid);
    base_arena_release(&a->arena);
}

/* ---- the cheapest node ---- */

/* The lower index on a tie. SIZE_MAX: none. */
static size_t cheaper(const struct auction *a, size_t m, size_t n)
{
    if (m == SIZE_MAX || n == SIZE_MAX)
        return m == SIZE_MAX ? n : m;
    return a->price[n] < a->price[m] ? n : m;
}

static void set_node_price(struct auction *a, size_t node, int64_t price)
{
    a->price[node] = price;
    for (size_t k = (a->leaves + node) / 2; k > 0; k /= 2)
        a->cheap[k] = cheaper(a, a->cheap[2 * k], a->cheap[2 * k + 1]);
}

static int init_auction(struct auction *a)
{
    size_t nodes = a->benefit->cols, items = a->benefit->rows;
    for (a->leaves = 1; a->leaves < nodes;)
        a->leaves *= 2;
    a->seller = base_arena_alloc(&a->arena, nodes, sizeof *a->seller);
    a->price = base_arena_alloc(&a->arena, nodes, sizeof *a->price);
    a->cheap = base_arena_alloc(&a->arena, 2 * a->leaves, sizeof *a->cheap);
    a->waiting = base_arena_alloc(&a->arena, items, sizeof *a->waiting);
    if (a->arena.failed)
        return -ENOMEM;
    for (size_t n = 0; n < a->leaves; n++)
        a->cheap[a->leaves + n] = n < nodes ? n : SIZE_MAX;
    for (size_t n = 0; n < nodes; n++)
        set_node_price(a, n, a->capacity[n] > 0 ? 0 : INT64_MAX);
    for (size_t item = items; item-- > 0;)
        a->waiting[a->num_waiting++] = item;
    return 0;
}

/* Assigns the item to the node; if that is full, the item of the lowest bid is unassigned. */
static int accept_bid(struct auction *a, size_t node, struct bid bid)
{
    struct seller *s = &a->seller[node];
    if (s->count == a->capacity[node]) {
        a->waiting[a->num_waiting++] = s->bid[0].item;
        bids_down(NULL, s->bid, s->count, 0, bid);
    } else {
        if (base_reserve(&s->bid, &s->capacity, s->count + 1, sizeof *s->bid) != 0)
            return -ENOMEM;
        bids_up(NULL, s->bid, s->count++, bid);
    }
    a->node_of_item[bid.item] = node;
    if (s->count == a->capacity[node])
        set_node_price(a, node, s->bid[0].price);
    return 0;
}

/* ---- bids ---- */

/* An item's best two offers: benefit less price. */
struct offers {
    size_t node;
    int64_t best, second;
};

/* Of the nodes without benefit for an item, only the cheapest matters. */
static struct offers find_offers(const struct auction *a, size_t item)
{
    const matrix *b = a->benefit;
    size_t cheapest = a->cheap[1];
    struct offers o = {cheapest, -a->price[cheapest], -a->price[cheapest]};
    for (size_t i = b->row_start[item]; i < b->row_start[item + 1]; i++) {
        size_t node = b->col[i];
        int64_t value = a->price[node] == INT64_MAX ? INT64_MIN : b->value[i] - a->price[node];
        if (value > o.best) {
            o.second = o.best;
            o.best = value;
            o.node = node;
        } else if (value > o.second) {
            o.second = value;
        }
    }
    return o;
}

static int place_item_bid(struct auction *a, size_t item)
{
    struct offers o = find_offers(a, item);
    int64_t price = a->price[o.node] + (o.best - o.second) + a->increment;
    return accept_bid(a, o.node, (struct bid){price, item});
}

int64_t transport_increment(const matrix *benefit)
{
    __int128 sum = 0;
    for (size_t i = 0; benefit->rows > 0 && i < benefit->row_start[benefit->rows]; i++)
        sum += benefit->value[i];
    int64_t part = benefit->rows > 0 ? (int64_t)(sum / (__int128)benefit->rows / 100) : 0;
    return part > 0 ? part : 1;
}

static int capacity_suffices(const matrix *benefit, const size_t *capacity)
{
    size_t items = benefit->rows;
    for (size_t n = 0; n < benefit->cols && items > 0; n++)
        items -= capacity[n] < items ? capacity[n] : items;
    return items == 0;
}

int transport(const matrix *benefit, const size_t *capacity, int64_t increment,
              size_t *node_of_item)
{
    struct auction a = {.benefit = benefit,
                        .capacity = capacity,
                        .increment = increment,
                        .node_of_item = node_of_item};
    if (!capacity_suffices(benefit, capacity))
        return -ENOSPC;
    int rc = init_auction(&a);
    while (rc == 0 && a.num_waiting > 0)
        rc = place_item_bid(&a, a.waiting[--a.num_waiting]);
    release_auction(&a);
    return rc;
}
