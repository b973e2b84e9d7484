/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/machine.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "simulate/memory.h"

/* What takes part in a message besides its data; bytes of an eager message at most. */
enum { HEADER_BYTES = 64, EAGER_BYTES = 8192 };

/* A node's memory; seconds of each call of a rank. */
static const machine_rate memory_rate = {1e10, 4e-7};
static const double call_time = 3e-7;

typedef struct server {
    double free_at, bytes;
} server;

/* What comes at a time: a rank goes on, or a message comes to a vertex of the tree. */
typedef struct entry {
    double at, end; /* its first byte comes, and its last one */
    uint64_t number;
    net_event event;
    int rank; /* -1: the event */
    bool has_begun;
    size_t vertex, to;
    double bytes;
} entry;

struct machine {
    machine_settings set;
    network *net;
    double *clock, now;
    bool *is_queued;                   /* per rank */
    server *up, *down, *memory, *file; /* in one block */
    size_t vertices;
    entry *heap;
    size_t entries, capacity;
    uint64_t number;
    machine_tally tally;
};

#define PRECEDES(order, a, b) ((a).at != (b).at ? (a).at < (b).at : (a).number < (b).number)
BASE_HEAP(time, entry, const machine *, PRECEDES, BASE_HEAP_UNPLACED);

static double time_of(const machine *m)
{
    return m->net->running >= 0 ? m->clock[m->net->running] : m->now;
}

static void event_push(machine *m, entry e)
{
    if (m->entries == m->capacity) {
        m->capacity *= 2;
        m->heap = sim_resized(m->heap, m->capacity * sizeof e);
    }
    e.number = m->number++;
    time_up(m, m->heap, m->entries++, e);
}

static entry event_pop(machine *m)
{
    entry first = m->heap[0];
    if (--m->entries > 0)
        time_down(m, m->heap, m->entries, 0, m->heap[m->entries]);
    return first;
}

/* ---- links ---- */

/* Returns when the server begins with it. */
static double machine_serve(server *s, double at, double seconds, double bytes)
{
    double begin = fmax(at, s->free_at);
    s->free_at = begin + seconds;
    s->bytes += bytes;
    return begin;
}

static void machine_pass(entry *e, server *s, const machine_rate *rate, double width)
{
    double seconds = e->bytes / (rate->bandwidth * width);
    double begin = machine_serve(s, e->at, seconds, e->bytes / width);
    e->at = begin + rate->latency;
    e->end = fmax(e->end + rate->latency, e->at + seconds);
}

/* Parents have higher numbers than their children. */
static bool is_above(const machine *m, size_t v, size_t below)
{
    while (below < v)
        below = topo_parent(m->set.topology, below);
    return below == v;
}

/* Over the next link of its way. */
static void machine_advance(machine *m, entry *e)
{
    if (!is_above(m, e->vertex, e->to)) {
        machine_pass(e, &m->up[e->vertex], &m->set.link, topo_cables(m->set.topology, e->vertex));
        e->vertex = topo_parent(m->set.topology, e->vertex);
        return;
    }
    size_t child = e->to;
    while (topo_parent(m->set.topology, child) != e->vertex)
        child = topo_parent(m->set.topology, child);
    machine_pass(e, &m->down[child], &m->set.link, topo_cables(m->set.topology, child));
    e->vertex = child;
}

static double latency_between(const machine *m, size_t a, size_t b)
{
    double sum = a == b ? memory_rate.latency : 0.0;
    while (a != b) {
        size_t *lower = a < b ? &a : &b;
        *lower = topo_parent(m->set.topology, *lower);
        sum += m->set.link.latency;
    }
    return sum;
}

/* ---- the order ---- */

static bool likelier(void *context, int64_t of, int64_t all)
{
    (void)context;
    return 2 * of > all;
}

static bool is_eager(void *context, int64_t bytes)
{
    (void)context;
    return bytes <= EAGER_BYTES;
}

static bool machine_call(network *n, int rank, const char *where)
{
    (void)where;
    machine_spend(n->order.context, rank, call_time);
    return false;
}

/* Messages of `bytes` bytes go along a tree. */
static double tree_time(const machine *m, double bytes)
{
    const machine_rate *link = &m->set.link;
    return ceil(log2(m->net->ranks)) * (link->latency + call_time + bytes / link->bandwidth);
}

double machine_least_time(const machine *m, double bytes)
{
    return tree_time(m, 0.0) + bytes / m->set.link.bandwidth;
}

static void collected(void *context, int rank, bool is_gather, size_t count)
{
    machine *m = context;
    double bytes = 8.0 * (double)count;
    if (!is_gather)
        machine_spend(m, rank, 2.0 * tree_time(m, bytes));
    else if (rank == 0)
        machine_spend(m, rank, machine_least_time(m, bytes * m->net->ranks));
}

static double machine_get_time(void *context, int rank)
{
    return ((const machine *)context)->clock[rank];
}

/* The data come with an eager message, and after the answer to another one. */
static void add_event(void *context, net_event event)
{
    machine *m = context;
    const net_request *message = event.send;
    entry e = {.at = time_of(m), .event = event, .rank = -1};
    size_t from = m->net->node_of_rank[message->from];
    e.to = e.vertex = m->net->node_of_rank[message->to];
    e.has_begun = true;
    if (event.kind == NET_ARRIVAL && from != e.to) {
        m->tally.messages++;
        m->tally.bytes += (int64_t)message->bytes;
    }
    if (event.kind == NET_ARRIVAL || (event.kind == NET_TRANSFER && !message->is_eager)) {
        e.has_begun = false;
        e.vertex = from;
        e.bytes = HEADER_BYTES;
    }
    if (!e.has_begun && (event.kind == NET_TRANSFER || message->is_eager))
        e.bytes += (double)message->bytes;
    if (!e.has_begun && event.kind == NET_TRANSFER)
        e.at += latency_between(m, e.to, from);
    e.end = e.at;
    event_push(m, e);
}

static void machine_wake(void *context, int rank)
{
    machine *m = context;
    if (m->is_queued[rank] || !net_may_go_on(m->net, rank))
        return;
    m->is_queued[rank] = true;
    event_push(m, (entry){.at = fmax(m->clock[rank], time_of(m)), .rank = rank});
}

static void machine_run_rank(machine *m, int rank)
{
    m->is_queued[rank] = false;
    m->clock[rank] = fmax(m->clock[rank], m->now);
    if (net_may_go_on(m->net, rank))
        net_go_on(m->net, rank);
    machine_wake(m, rank);
}

static void machine_move(machine *m, entry *e)
{
    if (!e->has_begun && e->vertex == e->to)
        machine_pass(e, &m->memory[e->to], &memory_rate, 1.0);
    else if (e->vertex != e->to)
        machine_advance(m, e);
    e->has_begun = true;
    if (e->vertex == e->to)
        e->at = e->end;
    event_push(m, *e);
}

static bool machine_step(void *context)
{
    machine *m = context;
    if (m->entries == 0) {
        if (m->net->ended < m->net->ranks)
            net_fail(m->net, "ranks wait for what does not come");
        return false;
    }
    entry e = event_pop(m);
    m->now = e.at;
    if (e.rank >= 0) {
        machine_run_rank(m, e.rank);
    } else if (!e.has_begun || e.vertex != e.to) {
        machine_move(m, &e);
    } else {
        net_take(m->net, e.event);
        if (e.event.kind == NET_ARRIVAL)
            net_wake(m->net, e.event.send->to);
    }
    return true;
}

/* ---- a machine ---- */

machine *machine_new(const machine_settings *settings, network *net)
{
    machine *m = sim_zeroed(1, sizeof *m);
    const topo *t = settings->topology;
    size_t ranks = (size_t)net->ranks;
    m->set = *settings;
    m->net = net;
    m->vertices = topo_vertices(t);
    m->clock = sim_zeroed(ranks, sizeof *m->clock);
    m->is_queued = sim_zeroed(ranks, sizeof *m->is_queued);
    m->up = sim_zeroed(2 * m->vertices + t->nodes + settings->servers, sizeof *m->up);
    m->down = m->up + m->vertices;
    m->memory = m->down + m->vertices;
    m->file = m->memory + t->nodes;
    m->capacity = 2 * ranks;
    m->heap = sim_zeroed(m->capacity, sizeof *m->heap);
    net->order = (net_order){.context = m,
                             .step = machine_step,
                             .chance = likelier,
                             .keeps_order = true,
                             .is_eager = is_eager,
                             .call = machine_call,
                             .collected = collected,
                             .clock = machine_get_time,
                             .add = add_event,
                             .wake = machine_wake};
    for (int i = 0; i < net->ranks; i++) {
        m->is_queued[i] = true;
        event_push(m, (entry){.rank = i});
    }
    return m;
}

void machine_free(machine *m)
{
    free(m->clock);
    free(m->is_queued);
    free(m->up);
    free(m->heap);
    free(m);
}

void machine_spend(machine *m, int rank, double seconds)
{
    m->clock[rank] += seconds;
}

double machine_level(machine *m)
{
    double latest = 0.0;
    for (int i = 0; i < m->net->ranks; i++)
        latest = fmax(latest, m->clock[i]);
    for (int i = 0; i < m->net->ranks; i++)
        m->clock[i] = latest;
    return latest;
}

void machine_access(machine *m, int rank, int64_t offset, int64_t bytes)
{
    const machine_rate *rate = &m->set.server;
    m->tally.accesses++;
    double begin = m->clock[rank] + rate->latency, end = begin;
    for (int64_t next; bytes > 0; offset += next, bytes -= next) {
        int64_t index = offset / MACHINE_STRIPE, rest = (index + 1) * MACHINE_STRIPE - offset;
        next = rest < bytes ? rest : bytes;
        double seconds = (double)next / rate->bandwidth;
        end = fmax(end, seconds + machine_serve(&m->file[(size_t)index % m->set.servers], begin,
                                                seconds, (double)next));
    }
    m->clock[rank] = end;
    net_yield(m->net, rank);
}

machine_tally machine_take_tally(machine *m)
{
    machine_tally tally = m->tally;
    for (size_t v = 0; v < m->vertices; v++) {
        tally.busiest = fmax(tally.busiest, fmax(m->up[v].bytes, m->down[v].bytes));
        m->up[v].bytes = m->down[v].bytes = 0.0;
    }
    m->tally = (machine_tally){0};
    return tally;
}
