/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/romio.h"

#include <stdlib.h>

#include "access/cursor.h"
#include "simulate/memory.h"

/* Bytes of a cycle, of a piece in a list, and, of all arrays, for each rank of the job. */
enum { CYCLE = 1 << 24, PIECE = 16, ARRAYS = 150, LISTS = -1 /* the step before cycle 0 */ };

/* What a rank accesses of a domain in a cycle. */
typedef struct part {
    int rank, domain; /* the latter is the aggregator's node */
    int64_t cycle, lo, hi, bytes;
    int64_t list; /* bytes of the list for the domain, which goes with the first part; else 0 */
} part;

typedef struct parts {
    part *part;
    size_t count, capacity;
} parts;

/* Ranks come to a step only after all have left the last but one. */
struct romio {
    int ranks, nodes;
    int *aggregator; /* of each node, its lowest rank */
    parts *expected; /* by node, in a step; then the same in the next one */
};

typedef struct call {
    const romio_rank *self;
    bool write;
    int64_t lo, domain; /* the first byte; bytes of a domain */
    parts own;
    int64_t cycle; /* or LISTS */
} call;

romio *romio_new(const int *node_of_rank, int ranks, int nodes)
{
    romio *job = sim_zeroed(1, sizeof *job);
    *job = (romio){ranks, nodes, sim_zeroed((size_t)nodes, sizeof *job->aggregator),
                   sim_zeroed(2 * (size_t)nodes, sizeof *job->expected)};
    for (int i = ranks; i-- > 0;)
        job->aggregator[node_of_rank[i]] = i;
    return job;
}

void romio_free(romio *job)
{
    if (job == NULL)
        return;
    __real_free(job->aggregator);
    __real_free(job->expected);
    __real_free(job);
}

static void append(parts *list, part p)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 8;
        list->part = sim_resized(list->part, list->capacity * sizeof p);
    }
    list->part[list->count++] = p;
}

static void find_parts(call *c, const access_list *list)
{
    access_cursor cursor;
    access_piece piece;
    size_t first = 0;
    access_cursor_init(&cursor, list);
    for (int64_t at; (at = access_next(&cursor)) != ACCESS_END;) {
        int64_t in = (at - c->lo) % c->domain, end = (in / CYCLE + 1) * CYCLE, pieces = 0;
        part p = {c->self->runtime->rank, (int)((at - c->lo) / c->domain), in / CYCLE, at, 0, 0, 0};
        end = at - in + (end < c->domain ? end : c->domain);
        for (; access_take_piece(&cursor, end, &piece); pieces++) {
            p.hi = piece.offset + piece.length;
            p.bytes += piece.length;
        }
        append(&c->own, p);
        if (p.domain != c->own.part[first].domain)
            first = c->own.count - 1;
        c->own.part[first].list += PIECE * pieces;
    }
}

/* In the present step; 0: there is none. */
static int64_t message_of(const call *c, const part *p)
{
    return c->cycle == LISTS ? p->list : c->cycle == p->cycle ? p->bytes : 0;
}

/* Says what its messages will be. Returns what it is to expect as an aggregator. */
static parts announce(const call *c)
{
    romio *job = c->self->job;
    const coll_runtime *r = c->self->runtime;
    parts *expected = job->expected + (c->cycle - LISTS) % 2 * job->nodes, result = {NULL, 0, 0};
    for (size_t i = 0; i < c->own.count; i++)
        if (message_of(c, &c->own.part[i]) > 0)
            append(&expected[c->own.part[i].domain], c->own.part[i]);
    c->self->meet(r->context, NULL, 0, 4.0 * job->ranks * job->ranks / job->nodes);
    if (job->aggregator[c->self->node] == r->rank) {
        result = expected[c->self->node];
        expected[c->self->node] = (parts){NULL, 0, 0};
    }
    return result;
}

/* Messages from ranks to aggregators, or back; each side posts its receives first. Returns their
 * bytes on this rank, those to itself included. */
static int64_t move(const call *c, const parts *expected, bool back)
{
    const coll_runtime *r = c->self->runtime;
    exchange_request *request = sim_zeroed(c->own.count + expected->count, sizeof *request),
                     *next = request;
    int64_t sum = 0;
    for (int sends = 0; sends < 2; sends++) {
        bool aggregates = back == (sends == 1);
        const parts *list = aggregates ? expected : &c->own;
        for (const part *p = list->part; p < list->part + list->count; p++) {
            int peer = aggregates ? p->rank : c->self->job->aggregator[p->domain];
            size_t bytes = (size_t)message_of(c, p);
            sum += (int64_t)bytes;
            if (bytes > 0 && peer != r->rank && sends)
                (void)r->isend(r->context, peer, COLL_TAG_DATA, NULL, bytes, false, next++);
            else if (bytes > 0 && peer != r->rank)
                (void)r->irecv(r->context, peer, COLL_TAG_DATA, NULL, bytes, next++);
        }
    }
    for (size_t got; next-- > request;)
        (void)r->wait(r->context, next, &got);
    __real_free(request);
    return sum;
}

static void access_file(const call *c, const parts *expected)
{
    int64_t lo = ACCESS_END, hi = 0, bytes = 0;
    for (const part *p = expected->part; p < expected->part + expected->count; p++) {
        lo = p->lo < lo ? p->lo : lo;
        hi = p->hi > hi ? p->hi : hi;
        bytes += p->bytes;
    }
    for (int i = c->write && bytes < hi - lo ? 2 : 1; i > 0 && hi > 0; i--)
        c->self->access(c->self->runtime->context, lo, hi - lo);
}

/* Returns the bytes of ROMIO's memory. */
static int64_t send_lists(call *c)
{
    c->cycle = LISTS;
    parts expected = announce(c);
    int64_t buffer = c->domain < CYCLE ? c->domain : CYCLE;
    int64_t lists = move(c, &expected, false);
    __real_free(expected.part);
    return ARRAYS * c->self->job->ranks + lists + (expected.count > 0 ? buffer : 0);
}

static void run_cycle(call *c)
{
    parts expected = announce(c);
    if (!c->write)
        access_file(c, &expected);
    move(c, &expected, !c->write);
    if (c->write)
        access_file(c, &expected);
    __real_free(expected.part);
}

void romio_access(const romio_rank *self, const access_list *list, bool write)
{
    void *context = self->runtime->context;
    call c = {.self = self, .write = write};
    int64_t range[] = {-access_lower(list), access_upper(list)};
    for (int i = 0; i < 2; i++)
        self->meet(context, &range[i], 1, 8.0 * self->job->ranks);
    c.lo = -range[0];
    c.domain = (range[1] - c.lo + self->job->nodes - 1) / self->job->nodes;
    find_parts(&c, list);
    int64_t bytes = send_lists(&c);
    sim_memory_add(bytes);
    self->meet(context, NULL, 0, 8.0);
    for (c.cycle = 0; c.cycle * CYCLE < c.domain; c.cycle++)
        run_cycle(&c);
    self->meet(context, NULL, 0, 8.0);
    sim_memory_add(-bytes);
    __real_free(c.own.part);
}
