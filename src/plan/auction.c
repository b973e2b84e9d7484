/* SPDX-License-Identifier: BSD-3-Clause */
/* The sparse auction that gives units to nodes.
 *
 * A node that must serve at least `least` units keeps most - least of its seats open to stand-ins:
 * bidders without bytes, as many as seats are left over in all, for whom all nodes are alike. Then
 * every seat is taken in the end, and the lower limits hold. */
#include "plan/auction.h"
#include "plan/distance.h"
#include "plan/gains.h"
#include "plan/node_heap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

enum { FETCHED_AHEAD = 8 };

/* What a seat was taken for. */
struct bid {
    double price;
    size_t unit;
};

/* The seats of a node: bid[first] .. bid[first + units - 1] are a heap, the lowest price first,
 * from the moment when all seats are taken, which they are ever after. */
struct seats {
    size_t first, count;
    size_t units, stand_ins;
};

struct auction {
    const matrix *bytes;
    const topo *topology;
    const auction_input *in;
    double epsilon;
    size_t bids, patience; /* epsilon doubles when there are more bids than `patience` */
    size_t *node_of_unit;

    size_t *waiting; /* a ring of units without a seat */
    size_t first_waiting, count_waiting;

    struct seats *seats; /* of each node */
    struct bid *bid;
    double *price; /* of a seat on each node; INFINITY where there is none */

    node_heap *cheapest; /* of each place, its nodes by price */
    size_t *cheapest_item, *cheapest_position;

    size_t idle;   /* stand-ins without a seat */
    double level;  /* what all stand-ins pay */
    double *offer; /* what a stand-in would pay for a further seat of each node */
    node_heap offers;
    size_t *offers_item, *offers_position;

    gains gains;
};

double auction_hop_bytes(const matrix *bytes, const topo *t, size_t u, size_t n)
{
    double sum = 0.0;
    for (size_t e = bytes->row_start[u]; e < bytes->row_start[u + 1]; e++)
        sum += topo_hops(t, n, bytes->col[e], 0) * (double)bytes->value[e];
    return sum;
}

/* ---- a unit's choice ---- */

/* The best node for a unit, and the value of the next best. */
struct choice {
    size_t node, left; /* left: wins ties */
    double value, second;
};

static void consider(struct choice *c, size_t node, double value)
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

/* `gain`: of those nodes of the place that do not access the unit. For those that do, it is too low
 * or right, and they are considered elsewhere. */
static void consider_place(const struct auction *a, struct choice *c, size_t place, double gain)
{
    size_t first = node_heap_first(&a->cheapest[place]),
           second = node_heap_second(&a->cheapest[place]);
    if (c->left != NONE && place_of_node(a->topology, c->left) == place)
        consider(c, c->left, gain - a->price[c->left]);
    if (first != NONE)
        consider(c, first, gain - a->price[first]);
    if (second != NONE)
        consider(c, second, gain - a->price[second]);
}

/* Places without entries are looked at only when one of them may be the best. */
static void consider_far_places(struct auction *a, struct choice *c, size_t unit)
{
    gains *g = &a->gains;
    if (g->far[unit] >= c->value)
        gains_of_places(g, unit);
    if (g->far[unit] < c->value) {
        c->second = fmax(c->second, g->far[unit]);
        return;
    }
    for (size_t p = 0; p < count_of_places(a->topology); p++)
        if (g->place[p] > c->second)
            consider_place(a, c, p, g->place[p]);
}

static void consider_places(struct auction *a, struct choice *c, size_t unit)
{
    const matrix *m = a->bytes;
    if (is_flat(a->topology)) {
        consider_place(a, c, 0, 0.0);
        return;
    }
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++)
        consider_place(a, c, place_of_node(a->topology, m->col[e]), a->gains.away[e]);
    consider_far_places(a, c, unit);
}

static struct choice choose(struct auction *a, size_t unit)
{
    const matrix *m = a->bytes;
    struct choice c = {NONE, unit > 0 ? a->node_of_unit[unit - 1] : NONE, -INFINITY, -INFINITY};
    for (size_t e = m->row_start[unit]; e < m->row_start[unit + 1]; e++)
        consider(&c, m->col[e], gain_of_entry(&a->gains, e) - a->price[m->col[e]]);
    consider_places(a, &c, unit);
    return c;
}

/* ---- seats ---- */

static void sift_up(struct bid *heap, size_t i, struct bid bid)
{
    for (; i > 0 && bid.price < heap[(i - 1) / 2].price; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = bid;
}

static void sift_down(struct bid *heap, size_t i, size_t count, struct bid bid)
{
    for (size_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
        child += child + 1 < count && heap[child + 1].price < heap[child].price;
        if (heap[child].price >= bid.price)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = bid;
}

static void make_heap(struct bid *heap, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(heap, i, count, heap[i]);
}

static int is_full(const struct seats *s)
{
    return s->units + s->stand_ins == s->count;
}

/* What the cheapest seat costs: nothing as long as one is free. */
static double price_of(const struct auction *a, size_t node)
{
    const struct seats *s = &a->seats[node];
    if (s->count == 0)
        return INFINITY;
    if (!is_full(s))
        return 0.0;
    double of_units = s->units > 0 ? a->bid[s->first].price : INFINITY;
    return s->stand_ins > 0 ? fmin(of_units, a->level) : of_units;
}

static double offer_of(const struct auction *a, size_t node)
{
    const struct seats *s = &a->seats[node];
    if (s->stand_ins == a->in->most[node] - a->in->least[node])
        return INFINITY;
    return is_full(s) ? a->bid[s->first].price : 0.0;
}

static void reprice(struct auction *a, size_t node)
{
    double price = price_of(a, node);
    if (price != a->price[node]) {
        a->price[node] = price;
        node_heap_move(&a->cheapest[place_of_node(a->topology, node)], node);
    }
    if (a->offers.count > 0) {
        a->offer[node] = offer_of(a, node);
        node_heap_move(&a->offers, node);
    }
}

static void free_seat_taken(struct auction *a, size_t node)
{
    struct seats *s = &a->seats[node];
    if (is_full(s))
        make_heap(a->bid + s->first, s->units);
    reprice(a, node);
}

/* The unit that has to give way, or NONE. */
static size_t push_out(struct auction *a, size_t node, struct bid bid)
{
    struct seats *s = &a->seats[node];
    struct bid *heap = a->bid + s->first;
    size_t out = NONE;
    if (s->stand_ins == 0 || (s->units > 0 && heap[0].price < a->level)) {
        out = heap[0].unit;
        sift_down(heap, 0, s->units, bid);
    } else {
        s->stand_ins--;
        a->idle++;
        sift_up(heap, s->units++, bid);
    }
    reprice(a, node);
    return out;
}

static size_t seat(struct auction *a, size_t node, struct bid bid)
{
    struct seats *s = &a->seats[node];
    if (is_full(s))
        return push_out(a, node, bid);
    a->bid[s->first + s->units++] = bid;
    free_seat_taken(a, node);
    return NONE;
}

static size_t make_bid(struct auction *a, size_t unit)
{
    struct choice c = choose(a, unit);
    double rise = isinf(c.second) ? 0.0 : c.value - c.second;
    a->node_of_unit[unit] = c.node;
    if (++a->bids > a->patience) {
        a->patience += 16 * a->in->units;
        a->epsilon *= 2;
    }
    return seat(a, c.node, (struct bid){a->price[c.node] + rise + a->epsilon, unit});
}

/* Nobody waits twice, so that as many places as units are enough. */
static void wait(struct auction *a, size_t unit)
{
    if (unit != NONE)
        a->waiting[(a->first_waiting + a->count_waiting++) % a->bytes->rows] = unit;
}

/* Units that gave way are anywhere in memory. */
static void fetch(const struct auction *a, size_t ahead)
{
    if (ahead < a->count_waiting) {
        size_t e = a->bytes->row_start[a->waiting[(a->first_waiting + ahead) % a->bytes->rows]];
        __builtin_prefetch(&a->bytes->col[e]);
        __builtin_prefetch(&a->bytes->value[e]);
    }
}

/* Until every unit has a seat. */
static void settle(struct auction *a)
{
    while (a->count_waiting > 0) {
        size_t unit = a->waiting[a->first_waiting];
        fetch(a, FETCHED_AHEAD);
        a->first_waiting = (a->first_waiting + 1) % a->bytes->rows;
        a->count_waiting--;
        wait(a, make_bid(a, unit));
    }
}

static int has_bytes(const matrix *m, size_t u)
{
    size_t e = m->row_start[u];
    while (e < m->row_start[u + 1] && m->value[e] == 0)
        e++;
    return e < m->row_start[u + 1];
}

static void seat_units(struct auction *a)
{
    for (size_t u = 0; u < a->bytes->rows; u++)
        if (has_bytes(a->bytes, u))
            wait(a, make_bid(a, u));
        else
            a->node_of_unit[u] = AUCTION_NOWHERE;
    settle(a);
}

/* ---- stand-ins ---- */

static size_t take_lowest(struct bid *heap, size_t *count)
{
    size_t unit = heap[0].unit;
    (*count)--;
    if (*count > 0)
        sift_down(heap, 0, *count, heap[*count]);
    return unit;
}

static void seat_stand_in(struct auction *a, size_t node)
{
    struct seats *s = &a->seats[node];
    a->idle--;
    if (is_full(s)) {
        wait(a, take_lowest(a->bid + s->first, &s->units));
        s->stand_ins++;
        reprice(a, node);
    } else {
        s->stand_ins++;
        free_seat_taken(a, node);
    }
    settle(a);
}

static void raise_level(struct auction *a, double level)
{
    a->level = level;
    for (size_t n = 0; n < a->topology->nodes; n++)
        reprice(a, n);
}

/* Free seats first; then what the cheapest unit pays, as much more as makes units move. */
static void seat_stand_ins(struct auction *a)
{
    for (size_t n = 0; n < a->topology->nodes; n++) {
        a->offer[n] = offer_of(a, n);
        node_heap_add(&a->offers, n);
    }
    while (a->idle > 0) {
        size_t node = node_heap_first(&a->offers);
        if (a->offer[node] > a->level)
            raise_level(a, a->offer[node] + a->epsilon);
        else
            seat_stand_in(a, node);
    }
}

/* ---- the bound ---- */

struct open_seats {
    double price;
    size_t count;
};

static int compare_dearest(const void *x, const void *y)
{
    const struct open_seats *a = x, *b = y;
    return (a->price < b->price) - (a->price > b->price);
}

/* The most that `units` units can pay, within the limits of the nodes. */
static double most_paid(const struct auction *a, struct open_seats *open)
{
    size_t nodes = a->topology->nodes, left = a->in->units;
    double sum = 0.0;
    for (size_t n = 0; n < nodes; n++) {
        double price = a->seats[n].count > 0 ? a->price[n] : 0.0;
        open[n] = (struct open_seats){price, a->in->most[n] - a->in->least[n]};
        sum += price * (double)a->in->least[n];
        left -= a->in->least[n];
    }
    qsort(open, nodes, sizeof *open, compare_dearest);
    for (size_t n = 0; n < nodes && left > 0; n++) {
        size_t taken = open[n].count < left ? open[n].count : left;
        sum += open[n].price * (double)taken;
        left -= taken;
    }
    return sum;
}

/* Lagrange: whoever serves it, a unit's hop-bytes and price are at least those of its best choice;
 * then all hop-bytes are at least the sum of these less the most that the nodes can be paid. */
static double bound(struct auction *a, struct open_seats *open)
{
    double sum = 0.0, total = 0.0;
    for (size_t u = 0; u < a->bytes->rows; u++)
        if (a->node_of_unit[u] != AUCTION_NOWHERE)
            sum -= choose(a, u).value;
    if (is_flat(a->topology))
        for (size_t e = 0; e < a->bytes->row_start[a->bytes->rows]; e++)
            total += (double)a->bytes->value[e];
    return TOPO_OTHER_NODE * total + sum - most_paid(a, open);
}

/* ---- memory ---- */

static void *new_array(size_t count, size_t size, int *failed)
{
    void *array = calloc(count | 1, size);
    *failed |= array == NULL;
    return array;
}

static void release(struct auction *a)
{
    free(a->waiting);
    free(a->seats);
    free(a->bid);
    free(a->price);
    free(a->cheapest);
    free(a->cheapest_item);
    free(a->cheapest_position);
    free(a->offer);
    free(a->offers_item);
    free(a->offers_position);
    gains_release(&a->gains);
}

/* Lays out the seats of each node. */
static int lay_out_seats(struct auction *a)
{
    size_t seats = 0;
    int failed = 0;
    for (size_t n = 0; n < a->topology->nodes; n++) {
        a->seats[n] = (struct seats){.first = seats, .count = a->in->most[n]};
        a->price[n] = price_of(a, n);
        if (__builtin_add_overflow(seats, a->in->most[n], &seats))
            return -ENOMEM;
    }
    a->idle = seats - a->in->units;
    a->bid = new_array(seats, sizeof *a->bid, &failed);
    return failed ? -ENOMEM : 0;
}

/* Lays out the heap of each place, and fills it. */
static void lay_out_places(struct auction *a)
{
    const topo *t = a->topology;
    size_t first = 0;
    for (size_t n = 0; n < t->nodes; n++)
        a->cheapest[place_of_node(t, n)].count++;
    for (size_t p = 0; p < count_of_places(t); p++) {
        size_t count = a->cheapest[p].count;
        a->cheapest[p] = (node_heap){a->cheapest_item + first, 0, a->cheapest_position, a->price};
        first += count;
    }
    for (size_t n = 0; n < t->nodes; n++)
        node_heap_add(&a->cheapest[place_of_node(t, n)], n);
}

static int set_up(struct auction *a)
{
    size_t nodes = a->topology->nodes;
    int failed = 0;
    a->waiting = new_array(a->bytes->rows, sizeof *a->waiting, &failed);
    a->seats = new_array(nodes, sizeof *a->seats, &failed);
    a->price = new_array(nodes, sizeof *a->price, &failed);
    a->cheapest = new_array(count_of_places(a->topology), sizeof *a->cheapest, &failed);
    a->cheapest_item = new_array(nodes, sizeof *a->cheapest_item, &failed);
    a->cheapest_position = new_array(nodes, sizeof *a->cheapest_position, &failed);
    a->offer = new_array(nodes, sizeof *a->offer, &failed);
    a->offers_item = new_array(nodes, sizeof *a->offers_item, &failed);
    a->offers_position = new_array(nodes, sizeof *a->offers_position, &failed);
    if (failed || lay_out_seats(a) != 0 || gains_set_up(&a->gains, a->bytes, a->topology) != 0)
        return -ENOMEM;
    lay_out_places(a);
    a->offers = (node_heap){a->offers_item, 0, a->offers_position, a->offer};
    return 0;
}

int auction_solve(const auction_input *in, auction_result *result)
{
    struct auction a = {
        .bytes = in->bytes,
        .topology = in->topology,
        .in = in,
        .epsilon = in->epsilon,
        .patience = 16 * in->units,
        .node_of_unit = result->node_of_unit,
    };
    int failed = 0;
    struct open_seats *open = new_array(in->topology->nodes, sizeof *open, &failed);
    int rc = failed ? -ENOMEM : set_up(&a);
    if (rc == 0) {
        seat_units(&a);
        seat_stand_ins(&a);
        result->lower_bound = bound(&a, open);
        result->bids = a.bids;
    }
    free(open);
    release(&a);
    return rc;
}
