/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simulate/memory.h"

enum { MOST_CALLS = 100000000 };

static bool chance(void *context, int64_t of, int64_t all)
{
    sim_order *o = context;
    if (o->choose != NULL)
        return of >= all || (of > 0 && o->choose(o->context, 2) == 1);
    return pick(o->state, 1, all) <= of;
}

bool sim_chance(sim_order *o, int64_t of, int64_t all)
{
    return chance(o, of, all);
}

void sim_happened(sim_order *o)
{
    o->idle = 0;
    o->time += 1e-5 * (double)pick(o->state, 1, 100);
}

/* Ranks are looked at in each step. */
static void wake(void *context, int rank)
{
    (void)context, (void)rank;
}

static bool is_eager(void *context, int64_t bytes)
{
    sim_order *o = context;
    return bytes <= o->always_eager || (bytes <= o->eager_limit && chance(o, o->eager_share, 8));
}

void sim_trace(sim_order *o, const char *format, ...)
{
    va_list arguments;
    if (!o->is_traced)
        return;
    char *line = o->trace[o->traced++ % SIM_TRACE];
    va_start(arguments, format);
    vsnprintf(line, sizeof o->trace[0], format, arguments);
    va_end(arguments);
    if (o->is_verbose)
        printf("# %s\n", line);
}

void sim_print_trace(const sim_order *o)
{
    uint64_t first = o->traced < SIM_TRACE ? 0 : o->traced - SIM_TRACE;
    for (uint64_t i = first; i < o->traced && !o->is_verbose; i++)
        printf("#   %s\n", o->trace[i % SIM_TRACE]);
    if (o->net->failure != NULL)
        printf("# %s\n", o->net->failure);
}

static double get_time(void *context, int rank)
{
    (void)rank;
    sim_order *o = context;
    return o->time += 1e-6 * (double)pick(o->state, 1, 20);
}

static void collected(void *context, int rank, bool is_gather, size_t count)
{
    (void)context, (void)rank, (void)is_gather, (void)count;
}

bool sim_order_call(sim_order *o, int rank, const char *where)
{
    if (o->calls++ > MOST_CALLS)
        net_fail(o->net, "rank %d makes calls without end: %s", rank, where);
    if (chance(o, o->pauses, 16))
        net_yield(o->net, rank);
    return net_has_noticed(o->net, rank);
}

/* ---- the network ---- */

uint64_t net_digest(const network *n)
{
    uint64_t digest = 0;
    for (const net_request *q = n->latest; q != NULL; q = q->earlier) {
        unsigned state = q->is_eager | q->is_empty << 1 | q->has_arrived << 2 | q->is_matched << 3 |
                         q->is_transferred << 4 | q->is_complete << 5 | q->is_given_up << 6;
        digest +=
            net_mix(net_mix((uint64_t)(q->is_send ? q->from : q->to), (uint64_t)q->number), state);
    }
    for (int i = 0; i < n->ranks; i++)
        digest = net_mix(net_mix(digest, n->rank[i].seen),
                         (uint64_t)(n->rank[i].has_ended | n->rank[i].is_woken << 1));
    return digest;
}

void net_spoil(net_request *request, int error, bool without_data)
{
    request->error = error;
    request->is_empty = without_data;
}

/* What others have sent to it, or receive from it, does not end. */
void net_lose(network *n, int rank)
{
    n->lost = rank;
    sim_trace(n->order.context, "rank %d is lost", rank);
    n->rank[rank].has_ended = true;
    n->ended++;
    for (int i = 0; i < n->ranks; i++)
        net_wake(n, i);
    sim_happened(n->order.context);
    net_yield(n, rank);
}

/* Whether the event is one of a message from or to the rank that is lost, and does not happen. */
static bool is_cut(const network *n, const net_request *send)
{
    return n->lost >= 0 && (send->from == n->lost || send->to == n->lost);
}

/* ---- events ---- */

static void add_event(void *context, net_event event)
{
    sim_order *o = context;
    if (o->events == o->event_capacity) {
        o->event_capacity = o->event_capacity * 2 + 64;
        o->event = sim_resized(o->event, o->event_capacity * sizeof *o->event);
    }
    o->event[o->events++] = event;
}

static void drop_cut_events(sim_order *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->events; i++)
        if (!is_cut(o->net, o->event[i].send))
            o->event[kept++] = o->event[i];
    o->events = kept;
}

static bool same_ranks(const net_request *a, const net_request *b)
{
    return a->from == b->from && a->to == b->to;
}

/* Messages from one rank to another arrive in the order in which they were sent. */
static void take_event(sim_order *o, size_t i)
{
    static const char *const what[] = {"arrives", "is received", "is sent"};
    for (size_t k = 0; k < i; k++)
        if (o->event[i].kind == NET_ARRIVAL && o->event[k].kind == NET_ARRIVAL &&
            same_ranks(o->event[k].send, o->event[i].send))
            i = k;
    net_event event = o->event[i];
    sim_happened(o);
    sim_trace(o, "%d -> %d: %s", event.send->from, event.send->to, what[event.kind]);
    memmove(o->event + i, o->event + i + 1, (--o->events - i) * sizeof event);
    net_take(o->net, event);
}

static void take_any_event(sim_order *o)
{
    int64_t last = (int64_t)o->events - 1;
    size_t i = (size_t)pick(o->state, 0, last);
    for (int k = 0; k < 3 && o->event[i].send->from == o->delayed; k++)
        i = (size_t)pick(o->state, 0, last);
    take_event(o, i);
}

/* ---- steps ---- */

static void run_rank(sim_order *o, int rank)
{
    o->idle++;
    net_go_on(o->net, rank);
}

/* From a random one on, the slow one now and then or if no other can; -1: none can. */
static int find_rank(sim_order *o)
{
    int ranks = o->net->ranks, first = (int)pick(o->state, 0, ranks - 1), found = -1;
    for (int i = 0; i < ranks; i++) {
        int rank = (first + i) % ranks;
        if (!net_may_go_on(o->net, rank))
            continue;
        found = rank;
        if (rank != o->slow || pick(o->state, 1, 24) == 1)
            break;
    }
    return found;
}

/* Some rank though it waits: it may have noticed something by itself. */
static void run_any(sim_order *o)
{
    int rank = (int)pick(o->state, 0, o->net->ranks - 1);
    while (o->net->rank[rank].has_ended)
        rank = (rank + 1) % o->net->ranks;
    run_rank(o, rank);
}

static void step_at_random(sim_order *o)
{
    int rank = find_rank(o);
    if (o->events > 0 && (rank < 0 || rank == o->slow || chance(o, o->event_share, 8)))
        take_any_event(o);
    else if (rank < 0 || chance(o, 1, 16))
        run_any(o);
    else
        run_rank(o, rank);
}

static void step_by_choice(sim_order *o)
{
    size_t ranks = 0;
    int rank = -1;
    for (int i = 0; i < o->net->ranks; i++)
        ranks += net_may_go_on(o->net, i);
    if (ranks + o->events == 0) {
        run_any(o);
        return;
    }
    size_t choice = o->choose(o->context, ranks + o->events);
    if (choice >= ranks) {
        take_event(o, choice - ranks);
    } else {
        for (choice++; choice > 0; choice -= net_may_go_on(o->net, rank))
            rank++;
        run_rank(o, rank);
    }
    o->has_come_back = o->is_known(o->context);
}

/* What is on its way when all ranks have ended still arrives. */
static bool step(void *context)
{
    sim_order *o = context;
    bool have_ended = o->net->ended == o->net->ranks;
    if (o->net->lost >= 0)
        drop_cut_events(o);
    if (have_ended && o->events == 0)
        return false;
    if (have_ended)
        take_any_event(o);
    else if (o->choose != NULL)
        step_by_choice(o);
    else
        step_at_random(o);
    if (o->idle > o->patience * o->net->ranks)
        net_fail(o->net, "ranks wait for what does not come");
    return !o->has_come_back;
}

void sim_order_draw(sim_order *o, network *net, int ranks, uint64_t *state)
{
    uint64_t *s = o->state = state;
    o->net = net;
    net->ranks = ranks;
    net->order = (net_order){.context = o,
                             .step = step,
                             .chance = chance,
                             .is_eager = is_eager,
                             .collected = collected,
                             .clock = get_time,
                             .add = add_event,
                             .wake = wake};
    o->eager_limit = INT64_C(1) << pick(s, 0, 10);
    o->eager_share = 4 * pick(s, 0, 2);
    o->slow = pick(s, 0, 2) == 0 ? (int)pick(s, 0, ranks - 1) : -1;
    o->delayed = pick(s, 0, 3) == 0 ? (int)pick(s, 0, ranks - 1) : -1;
    o->event_share = pick(s, 1, 7);
    o->pauses = pick(s, 0, 1) == 0 ? 0 : pick(s, 1, 12);
}

void sim_order_release(sim_order *o)
{
    __real_free(o->event);
    o->event = NULL;
}
