/* SPDX-License-Identifier: BSD-3-Clause */
/* The transportation problem by a sparse auction. */
#include "setmatch/transport.h"

#include <errno.h>
#include <stdlib.h>

/* An item on a node, and what it bid for its place. */
struct place {
    int64_t bid;
    size_t item;
};

/* The items on a node, the lowest bid first: a binary heap. */
struct seller {
    struct place *place;
    size_t count, room;
};

struct auction {
    const matrix *benefit;
    const size_t *capacity;
    int64_t increment;
    size_t *node_of_item;
    struct seller *seller;
    int64_t *price; /* by node: what a place costs; INT64_MAX: takes none */
    size_t *cheap;  /* tournament tree: cheap[1] is the cheapest node, leaves from `leaves` on */
    size_t leaves;
    size_t *waiting, waiters; /* items without a place */
};

static void release(struct auction *a)
{
    for (size_t n = 0; a->seller != NULL && n < a->benefit->cols; n++)
        free(a->seller[n].place);
    free(a->seller);
    free(a->price);
    free(a->cheap);
    free(a->waiting);
}

/* ---- the cheapest node ---- */

/* The lower index on a tie. SIZE_MAX: none. */
static size_t cheaper(const struct auction *a, size_t m, size_t n)
{
    if (m == SIZE_MAX || n == SIZE_MAX)
        return m == SIZE_MAX ? n : m;
    return a->price[n] < a->price[m] ? n : m;
}

static void set_price(struct auction *a, size_t node, int64_t price)
{
    a->price[node] = price;
    for (size_t k = (a->leaves + node) / 2; k > 0; k /= 2)
        a->cheap[k] = cheaper(a, a->cheap[2 * k], a->cheap[2 * k + 1]);
}

static int init(struct auction *a)
{
    size_t nodes = a->benefit->cols, items = a->benefit->rows;
    for (a->leaves = 1; a->leaves < nodes;)
        a->leaves *= 2;
    a->seller = calloc(nodes + 1, sizeof *a->seller);
    a->price = calloc(nodes + 1, sizeof *a->price);
    a->cheap = calloc(2 * a->leaves, sizeof *a->cheap);
    a->waiting = calloc(items + 1, sizeof *a->waiting);
    if (a->seller == NULL || a->price == NULL || a->cheap == NULL || a->waiting == NULL)
        return -ENOMEM;
    for (size_t n = 0; n < a->leaves; n++)
        a->cheap[a->leaves + n] = n < nodes ? n : SIZE_MAX;
    for (size_t n = 0; n < nodes; n++)
        set_price(a, n, a->capacity[n] > 0 ? 0 : INT64_MAX);
    for (size_t item = items; item-- > 0;)
        a->waiting[a->waiters++] = item;
    return 0;
}

/* ---- places ---- */

static int is_lower(const struct place *x, const struct place *y)
{
    return x->bid < y->bid || (x->bid == y->bid && x->item > y->item);
}

static void sink(struct seller *s, struct place moved)
{
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->count; at = child) {
        if (child + 1 < s->count && is_lower(&s->place[child + 1], &s->place[child]))
            child++;
        if (!is_lower(&s->place[child], &moved))
            break;
        s->place[at] = s->place[child];
    }
    s->place[at] = moved;
}

static int add(struct seller *s, struct place added)
{
    if (s->count == s->room) {
        size_t room = s->room > 0 ? 2 * s->room : 8;
        struct place *grown = realloc(s->place, room * sizeof *grown);
        if (grown == NULL)
            return -ENOMEM;
        s->place = grown;
        s->room = room;
    }
    size_t at = s->count++;
    for (; at > 0 && is_lower(&added, &s->place[(at - 1) / 2]); at = (at - 1) / 2)
        s->place[at] = s->place[(at - 1) / 2];
    s->place[at] = added;
    return 0;
}

/* Gives the item a place, the one of the lowest bid when the node is full. */
static int sell(struct auction *a, size_t node, struct place sold)
{
    struct seller *s = &a->seller[node];
    if (s->count == a->capacity[node]) {
        a->waiting[a->waiters++] = s->place[0].item;
        sink(s, sold);
    } else if (add(s, sold) != 0) {
        return -ENOMEM;
    }
    a->node_of_item[sold.item] = node;
    if (s->count == a->capacity[node])
        set_price(a, node, s->place[0].bid);
    return 0;
}

/* ---- bids ---- */

/* An item's best two offers: benefit less price. */
struct offers {
    size_t node;
    int64_t best, second;
};

/* Of all the nodes that an item has no benefit from, only the cheapest matters. */
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

static int bid(struct auction *a, size_t item)
{
    struct offers o = find_offers(a, item);
    int64_t price = a->price[o.node] + (o.best - o.second) + a->increment;
    return sell(a, o.node, (struct place){price, item});
}

int64_t transport_increment(const matrix *benefit)
{
    __int128 sum = 0;
    for (size_t i = 0; benefit->rows > 0 && i < benefit->row_start[benefit->rows]; i++)
        sum += benefit->value[i];
    int64_t part = benefit->rows > 0 ? (int64_t)(sum / (__int128)benefit->rows / 100) : 0;
    return part > 0 ? part : 1;
}

static int enough_places(const matrix *benefit, const size_t *capacity)
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
    if (!enough_places(benefit, capacity))
        return -ENOSPC;
    int rc = init(&a);
    while (rc == 0 && a.waiters > 0)
        rc = bid(&a, a.waiting[--a.waiters]);
    release(&a);
    return rc;
}
