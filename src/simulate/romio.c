/* SPDX-License-Identifier: BSD-3-Clause */
/* A baseline: the messages of a collective access by ROMIO's two-phase I/O
 * (ADIOI_GEN_WriteStridedColl and ADIOI_GEN_ReadStridedColl, written down from knowledge of them),
 * without data.
 *
 * Modelled, in each call, whether one alike came before or not: the gathers of first and last
 * offsets on all ranks. Where no rank begins before the end of the rank before it, each accesses
 * its bytes itself, from the first to the last. Else one aggregator a node, contiguous domains of
 * equal size; an exchange of counts of all ranks with all, and two messages, of offsets and of
 * lengths, 8 bytes a piece, from each rank to each aggregator whose domain it accesses; an
 * agreement on the number of cycles, of 16 MiB of each domain. In each cycle, in step on all ranks:
 * an exchange of sizes of all with all, a message between each aggregator and each rank with data
 * in it, one access to the file from the first to the last byte, for a write with holes after a
 * read. Then an agreement on errors.
 *
 * In ROMIO's favour: collective operations take what no algorithm can go below, the latencies of a
 * tree and the time of the bytes on the link of a node, and are no messages; an aggregator's own
 * data take no time; a cycle is read after its sizes are known, so that reads do not wait for each
 * other. Not modelled: hints, alignment to stripes, and processor time.
 */
#include "simulate/romio.h"

#include "access/cursor.h"
#include "simulate/memory.h"

/* Bytes of a cycle, of a piece in a list, and, of all arrays, for each rank of the job. */
enum { CYCLE = 1 << 24, PIECE = 16, ARRAYS = 150, LISTS = -1 /* the step before cycle 0 */ };

/* What a rank has to tell of a domain in a step: its list, or what it accesses in a cycle. */
typedef struct romio_part {
    int rank, domain; /* the latter is the aggregator's node */
    int64_t step, lo, hi, bytes;
} part;

typedef struct romio_call {
    const romio *of;
    const coll_runtime *runtime;
    bool write;
    int64_t lo, domain; /* the first byte; bytes of a domain */
    romio_parts own;
} romio_call;

/* Returns the maximum of a value. */
static int64_t romio_meet(const romio_call *c, int64_t value, double bytes)
{
    network *n = c->of->net;
    int rank = c->runtime->rank;
    (void)n->order.call(n, rank, "meet");
    (void)net_collect(n, rank, NET_MAX, &value, 1, &value);
    machine_spend(c->of->machine, rank, machine_least_time(c->of->machine, bytes));
    return value;
}

static void romio_append(romio_parts *list, part p)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 8;
        list->part = sim_resized(list->part, list->capacity * sizeof p);
    }
    list->part[list->count++] = p;
}

static void find_parts(romio_call *c, const access_list *list)
{
    access_cursor cursor;
    access_piece piece;
    size_t lists = 0; /* the last one */
    access_cursor_init(&cursor, list);
    for (int64_t at; (at = access_next(&cursor)) != ACCESS_END;) {
        int64_t in = (at - c->lo) % c->domain, end = (in / CYCLE + 1) * CYCLE;
        part p = {c->runtime->rank, (int)((at - c->lo) / c->domain), in / CYCLE, at, 0, 0};
        if (c->own.count == 0 || p.domain != c->own.part[lists].domain) {
            lists = c->own.count;
            romio_append(&c->own, (part){p.rank, p.domain, LISTS, 0, 0, 0});
        }
        end = at - in + access_least(end, c->domain);
        for (; access_take_piece(&cursor, end, &piece); c->own.part[lists].bytes += PIECE) {
            p.hi = piece.offset + piece.length;
            p.bytes += piece.length;
        }
        romio_append(&c->own, p);
    }
}

/* Says what its messages will be. Returns what it is to expect as an aggregator. Ranks come to a
 * step only after all have left the last but one. */
static romio_parts romio_announce(const romio_call *c, int64_t step)
{
    romio_parts *expected = c->of->expected + (step & 1) * c->of->nodes, own = {NULL, 0, 0};
    int rank = c->runtime->rank;
    size_t node = c->of->net->node_of_rank[rank];
    double ranks = c->runtime->size;
    for (const part *p = c->own.part; p < c->own.part + c->own.count; p++)
        if (p->step == step)
            romio_append(&expected[p->domain], *p);
    (void)romio_meet(c, 0, 4.0 * ranks * ranks / (double)c->of->nodes);
    if (c->of->aggregator[node] == rank) {
        own = expected[node];
        expected[node] = (romio_parts){NULL, 0, 0};
    }
    return own;
}

/* Messages from ranks to aggregators, or back; each side posts its receives first. Returns their
 * bytes on this rank, those to itself included. */
static int64_t romio_move(const romio_call *c, int64_t step, const romio_parts *expected, bool back)
{
    const coll_runtime *r = c->runtime;
    const size_t messages = step == LISTS ? 2 : 1;
    exchange_request *request =
                         sim_zeroed(messages * (c->own.count + expected->count), sizeof *request),
                     *next = request;
    int64_t sum = 0;
    for (int sends = 0; sends < 2; sends++) {
        bool aggregates = back == (sends == 1);
        const romio_parts *list = aggregates ? expected : &c->own;
        for (const part *p = list->part; p < list->part + list->count; p++) {
            int peer = aggregates ? p->rank : c->of->aggregator[p->domain];
            size_t bytes = p->step == step ? (size_t)p->bytes / messages : 0;
            sum += (int64_t)(messages * bytes);
            for (size_t i = 0; i < messages && bytes > 0 && peer != r->rank; i++)
                if (sends)
                    (void)r->isend(r->context, peer, COLL_TAG_DATA, NULL, bytes, false, next++);
                else
                    (void)r->irecv(r->context, peer, COLL_TAG_DATA, NULL, bytes, next++);
        }
    }
    for (size_t got; next-- > request;)
        (void)r->wait(r->context, next, &got);
    __real_free(request);
    return sum;
}

/* Accesses the first to the last byte; a write with holes reads them before. */
static void access_range(const romio_call *c, int64_t lo, int64_t hi, int64_t bytes)
{
    for (int i = c->write && bytes < hi - lo ? 2 : 1; i > 0 && bytes > 0; i--)
        machine_access(c->of->machine, c->runtime->rank, lo, hi - lo);
}

static void access_expected(const romio_call *c, const romio_parts *expected)
{
    int64_t lo = ACCESS_END, hi = 0, bytes = 0;
    for (const part *p = expected->part; p < expected->part + expected->count; p++) {
        lo = access_least(p->lo, lo);
        hi = p->hi > hi ? p->hi : hi;
        bytes += p->bytes;
    }
    access_range(c, lo, hi, bytes);
}

/* Returns the bytes of its messages, and of an aggregator's buffer. */
static int64_t run_step(const romio_call *c, int64_t step)
{
    romio_parts expected = romio_announce(c, step);
    bool reads = step != LISTS && !c->write, writes = step != LISTS && c->write;
    if (reads)
        access_expected(c, &expected);
    int64_t bytes = romio_move(c, step, &expected, reads);
    if (writes)
        access_expected(c, &expected);
    __real_free(expected.part);
    return bytes + (expected.count > 0 ? access_least(c->domain, CYCLE) : 0);
}

bool romio_is_interleaved(const access_list *list, int ranks)
{
    for (int i = 1; i < ranks; i++)
        if (access_lower(&list[i]) < access_upper(&list[i - 1]) - 1)
            return true;
    return false;
}

void romio_access(const romio *of, const coll_runtime *runtime, const access_list *list, bool write)
{
    romio_call c = {.of = of, .runtime = runtime, .write = write};
    c.lo = -romio_meet(&c, -access_lower(list), 8.0 * runtime->size);
    int64_t hi = romio_meet(&c, access_upper(list), 8.0 * runtime->size);
    if (!of->is_interleaved) {
        access_range(&c, access_lower(list), access_upper(list), list->bytes);
        return;
    }
    c.domain = (hi - c.lo + of->nodes - 1) / of->nodes;
    find_parts(&c, list);
    int64_t memory = ARRAYS * runtime->size + run_step(&c, LISTS);
    sim_memory_add(memory);
    (void)romio_meet(&c, 0, 8.0);
    for (int64_t cycle = 0; cycle * CYCLE < c.domain; cycle++)
        (void)run_step(&c, cycle);
    (void)romio_meet(&c, 0, 8.0);
    sim_memory_add(-memory);
    __real_free(c.own.part);
}
