/* SPDX-License-Identifier: BSD-3-Clause */
/* Every order of steps and events of a small exchange, without a fault and with one in each call.
 *
 * All ranks of a life come to its first exchange, which is repeated from its beginning over another
 * network, each time with the next choice at the last place that has one left. Most orders come to
 * where an earlier one was: all ranks were told the same, and the network has the same messages.
 * There they end, so that the number of orders is about that of different states. A step is not
 * interrupted here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "life.h"

#include "exchange/internal.h"

/* That a small exchange has at most: requests, each of which takes the network up to three events,
 * and orders without a fault. */
enum { REQUESTS = 6, MOST_ORDERS = 5000 };

typedef struct choice {
    size_t taken, of;
} choice;

/* What was tried. */
typedef struct tally {
    uint64_t exchanges, faults, orders, states;
} tally;

/* What a rank came with, which every order begins with. */
typedef struct part {
    exchange *ex;
    const exchange_run *run;
} part;

typedef struct states {
    uint64_t *digest; /* 0: an empty place */
    size_t count, room;
} states;

typedef struct sim_orders {
    int met; /* ranks that have come */
    bool is_done;
    life before;
    part part[MOST_RANKS];
    exchange *engine[MOST_RANKS]; /* of the present order, as the next */
    int64_t moved[MOST_RANKS];
    choice *choice;
    size_t depth, length, capacity; /* made so far, and to be repeated */
    states known;
    tally tally;
} sim_orders;

/* ---- choices ---- */

/* One of 0 ... count - 1: another one in each order that is the same up to here. */
static size_t choose(void *context, size_t count)
{
    life *l = context;
    sim_orders *o = l->orders;
    if (o->depth == o->length) {
        if (o->length == o->capacity) {
            o->capacity = o->capacity * 2 + 64;
            o->choice = sim_resized(o->choice, o->capacity * sizeof *o->choice);
        }
        o->choice[o->length++] = (choice){0, count};
    }
    if (o->choice[o->depth].of != count)
        sim_fail(l, "the same choices lead to other states");
    return o->choice[o->depth++].taken;
}

static bool begin_next_order(sim_orders *o)
{
    while (o->length > 0 && o->choice[o->length - 1].taken + 1 >= o->choice[o->length - 1].of)
        o->length--;
    if (o->length > 0)
        o->choice[o->length - 1].taken++;
    return o->length > 0;
}

/* ---- states ---- */

static uint64_t digest_state(const life *l)
{
    uint64_t digest = net_digest(&l->net);
    for (int node = 0; node < l->nodes; node++)
        digest = net_mix(digest, sim_digest_flags(l, node));
    return digest != 0 ? digest : 1;
}

static uint64_t *find_state(const states *known, uint64_t digest)
{
    size_t i = digest % known->room;
    while (known->digest[i] != 0 && known->digest[i] != digest)
        i = (i + 1) % known->room;
    return &known->digest[i];
}

static void grow_states(states *known)
{
    states larger = {.count = known->count, .room = known->room * 4 + 1021};
    larger.digest = sim_zeroed(larger.room, sizeof *larger.digest);
    for (size_t i = 0; i < known->room; i++)
        if (known->digest[i] != 0)
            *find_state(&larger, known->digest[i]) = known->digest[i];
    __real_free(known->digest);
    *known = larger;
}

static void forget_states(states *known)
{
    __real_free(known->digest);
    *known = (states){.room = 0};
}

/* Whether this order has come to where another one was: the rest is the same. */
static bool is_known(void *context)
{
    const life *l = context;
    sim_orders *o = l->orders;
    if (o->depth < o->length)
        return false; /* this part is a repetition */
    if (o->known.count * 2 >= o->known.room)
        grow_states(&o->known);
    uint64_t digest = digest_state(l), *at = find_state(&o->known, digest);
    if (*at != 0)
        return true;
    *at = digest;
    o->known.count++;
    return false;
}

/* ---- an order ---- */

static void run_rank(void *context, int rank)
{
    life *l = context;
    sim_orders *o = l->orders;
    exchange_result result;
    (void)sim_drive(&l->rank[rank], o->engine[rank], o->part[rank].run, &result);
    o->moved[rank] = result.moved;
}

static void resume(void *context, int rank)
{
    (void)context, (void)rank;
}

static void begin_order(life *l, const sim_fault *fault)
{
    sim_orders *o = l->orders;
    *l = o->before;
    l->net = (network){.context = l, .main = run_rank, .resume = resume};
    l->order = (sim_order){
        .patience = 1000, .always_eager = -1, .choose = choose, .is_known = is_known, .context = l};
    sim_draw_order(l);
    l->order.delayed = -1;
    l->order.pauses = l->short_share = 0;
    l->fired = l->reported = 0;
    l->faults = fault != NULL;
    l->fault[0] = fault != NULL ? *fault : l->fault[0];
    memset(l->operations, 0, sizeof l->operations);
    o->depth = 0;
    for (int i = 0; i < l->ranks; i++) {
        o->engine[i] = l->rank[i].engine = exchange_new(&o->part[i].ex->task);
        if (o->engine[i] == NULL || exchange_reserve(o->engine[i], o->part[i].ex->buffers) != 0)
            abort();
    }
}

/* Unless it has come to where another one was. */
static void check_order(life *l)
{
    int step = l->rank[0].step;
    l->step[step].has_result = true;
    l->step[step].result = l->reported;
    for (int i = 0; i < l->ranks; i++)
        sim_check_memory(&l->rank[i], l->reported > 0, l->orders->moved[i]);
    sim_check_file(l, step + 1);
}

static bool run_order(life *l)
{
    network *n = &l->net;
    net_run(n);
    bool is_whole = n->failure == NULL && !l->order.has_come_back;
    if (is_whole)
        check_order(l);
    int left = net_end(n);
    sim_order_release(&l->order);
    if (is_whole && left > 0)
        sim_fail(l, "%d messages and requests are left", left);
    for (int i = 0; i < l->ranks; i++)
        exchange_free(l->orders->engine[i]);
    return n->failure == NULL;
}

/* ---- all orders ---- */

/* Repeats the present order. */
static void explain_order(life *l, const sim_fault *fault)
{
    static const char *const kinds[] = {"write", "read", "lock", "send", "receive", "message"};
    forget_states(&l->orders->known);
    begin_order(l, fault);
    if (fault != NULL)
        printf("# an order with an error of %s %" PRId64 " of rank %d:\n", kinds[fault->kind],
               fault->nth, fault->rank);
    l->order.is_traced = true;
    (void)run_order(l);
    sim_print_trace(&l->order);
}

/* *fired: the fault was in some of them. false: there is a failure, or the exchange is too large.
 */
static bool try_all(life *l, const sim_fault *fault, bool *fired)
{
    sim_orders *o = l->orders;
    uint64_t count = 0;
    bool is_good, is_small;
    *fired = false;
    o->length = 0;
    do {
        begin_order(l, fault);
        is_good = run_order(l);
        *fired |= l->fired > 0;
        is_small = fault != NULL || (l->net.requests <= REQUESTS && ++count <= MOST_ORDERS);
        o->tally.orders++;
    } while (is_good && is_small && begin_next_order(o));
    if (!is_good)
        explain_order(l, fault);
    o->tally.states += o->known.count;
    forget_states(&o->known);
    return is_good && is_small;
}

/* From the first call of a kind to the one that is in no order. */
static bool try_faults(life *l, int rank, enum fault_kind kind)
{
    bool fired = true, is_good = true;
    for (sim_fault fault = {kind, rank, 0}; is_good && fired; fault.nth++) {
        is_good = try_all(l, &fault, &fired);
        l->orders->tally.faults += fired;
    }
    return is_good;
}

static void try_exchange(life *l)
{
    enum { KINDS = FAULT_MESSAGE + 1 };
    sim_orders *o = l->orders;
    bool fired;
    bool is_good = try_all(l, NULL, &fired);
    o->tally.exchanges += is_good;
    for (int i = 0; i < l->ranks * KINDS && is_good; i++)
        is_good = try_faults(l, i / KINDS, (enum fault_kind)(i % KINDS));
}

void sim_try_run(sim_rank *r, exchange *ex, const exchange_run *run)
{
    life *l = r->life;
    sim_orders *o = l->orders;
    if (o->is_done)
        return;
    char failure[sizeof l->net.failure_text] = "";
    o->part[r->rank] = (part){ex, run};
    l->rank[r->rank].engine = ex;
    if (++o->met < l->ranks) {
        (void)net_await(&l->net, r->rank, &o->is_done);
        return;
    }
    sim_memory_of(NULL);
    o->before = *l;
    try_exchange(l);
    if (l->net.failure != NULL)
        strcpy(failure, l->net.failure);
    *l = o->before;
    for (int i = 0; i < l->ranks; i++)
        exchange_free(exchange_new(&o->part[i].ex->task)); /* clears the flags of shared windows */
    o->is_done = true;
    if (failure[0] != '\0')
        sim_fail(l, "%s", failure);
    sim_memory_of(&r->account);
}

bool sim_try_orders(uint64_t seed, uint64_t exchanges, uint64_t *trying)
{
    static sim_orders o;
    bool is_good = true;
    for (*trying = seed; is_good && o.tally.exchanges < exchanges; *trying += is_good) {
        life *l = sim_draw_life(*trying, true);
        l->orders = &o;
        o.met = 0;
        o.is_done = false;
        is_good = sim_run(l);
        if (!is_good)
            printf("# %s\n", l->net.failure);
    }
    __real_free(o.choice);
    printf("%sok 3 - every order of %" PRIu64 " small exchanges, without and with %" PRIu64
           " faults\n# %" PRIu64 " orders, %" PRIu64 " states\n",
           is_good ? "" : "not ", o.tally.exchanges, o.tally.faults, o.tally.orders,
           o.tally.states);
    return is_good;
}
