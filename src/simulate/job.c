/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/job.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/cursor.h"
#include "collective/collective.h"
#include "collective/exchange.h"
#include "collective/record.h"
#include "simulate/memory.h"

enum { MESSAGE_BYTES = 64512 }; /* of data at most, as the front ends have it */

/* What a rank did in a phase. */
typedef struct tally {
    int64_t sent, far, far_bytes, received, accesses;
} tally;

typedef struct job_rank {
    struct job *job;
    int rank;
    int error; /* the first */
    sim_account account;
    coll_process process;
    coll_pool pool;
    coll_runtime runtime;
    coll_store store;
    coll_file *file;
    coll_view view;
    tally tally;
} job_rank;

typedef struct job {
    job_settings set;
    network net;
    machine *machine;
    struct romio *romio; /* or NULL */
    job_rank *rank;
    int *mate;    /* of each rank, the next one of its node, in a circle */
    char *buffer; /* of all ranks */
    size_t buffer_bytes;
    job_phase *phase;
    int entered;  /* ranks that have ended the present phase */
    double began; /* the phase */
} job;

static int node_of(const job *j, int rank)
{
    return j->set.machine.node_of_rank[rank];
}

static void spend(job_rank *r, double seconds)
{
    machine_spend(r->job->machine, r->rank, seconds);
}

/* Each call of a rank. */
static network *enter(job_rank *r)
{
    spend(r, r->job->set.call);
    return &r->job->net;
}

static void resume(void *context, int rank)
{
    sim_memory_of(rank < 0 ? NULL : &((job *)context)->rank[rank].account);
}

/* ---- messages ---- */

static int start_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                      bool synchronous, exchange_request *request)
{
    job_rank *r = context;
    bool is_far = node_of(r->job, peer) != node_of(r->job, r->rank);
    r->tally.sent++;
    r->tally.far += is_far;
    r->tally.far_bytes += is_far ? (int64_t)bytes : 0;
    r->job->rank[peer].tally.received++;
    *request = net_send(enter(r), r->rank, peer, (int)tag, data, bytes, synchronous);
    return 0;
}

static int start_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                         exchange_request *request)
{
    job_rank *r = context;
    *request = net_receive(enter(r), r->rank, peer, (int)tag, data, bytes);
    return 0;
}

static int test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    job_rank *r = context;
    int rc = net_test(enter(r), r->rank, (net_request **)request, bytes);
    *complete = *request == NULL;
    return rc;
}

static int wait_for(void *context, exchange_request *request, size_t *bytes)
{
    job_rank *r = context;
    return net_wait(enter(r), r->rank, (net_request **)request, bytes);
}

static int probe(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    job_rank *r = context;
    found->from = net_probe(enter(r), r->rank, (int)tag, &found->bytes);
    *is_found = found->from >= 0;
    return 0;
}

/* Until something happens to the rank. */
static int progress(void *context)
{
    job_rank *r = context;
    net_pause(enter(r), r->rank);
    return 0;
}

/* What a rank did in shared memory may be seen by the others of its node. */
int __wrap_exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result);
int __wrap_exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result)
{
    job_rank *r = run->store->context;
    network *n = &r->job->net;
    exchange_begin(ex, run);
    while (!exchange_finished(ex)) {
        bool has_moved = exchange_step(ex);
        for (int i = r->job->mate[r->rank]; i != r->rank && has_moved; i = r->job->mate[i])
            net_wake(n, i);
        if (!has_moved)
            (void)progress(r);
    }
    return exchange_end(ex, result);
}

/* ---- collective operations ---- */

/* By a tree, of messages of so many bytes. */
static double tree_time(const job *j, double bytes)
{
    const machine_settings *m = &j->set.machine;
    return ceil(log2((double)j->set.ranks)) *
           (m->link.latency + j->set.call + bytes / m->link.bandwidth);
}

static int collect(job_rank *r, enum net_operation operation, int64_t *value, size_t count)
{
    const net_values values = {value, count, value};
    r->job->phase->collectives += r->rank == 0;
    return net_collect(enter(r), r->rank, "reduce", operation, &values, true);
}

static int reduce(void *context, int64_t *value, size_t count, enum coll_operation operation)
{
    int rc = collect(context, operation == COLL_SUM ? NET_SUM : NET_MAX, value, count);
    spend(context, 2.0 * tree_time(((job_rank *)context)->job, (double)(count * sizeof *value)));
    return rc;
}

/* What it takes at least. */
static void meet(job_rank *r, int64_t *value, size_t count, double bytes)
{
    (void)collect(r, NET_MAX, value, count);
    spend(r, tree_time(r->job, 0.0) + bytes / r->job->set.machine.link.bandwidth);
}

static int gather(void *context, const int64_t *own, size_t count, int64_t *all)
{
    job_rank *r = context;
    const job *j = r->job;
    bool is_root = r->rank == 0;
    const net_values values = {own, count, is_root ? all : NULL};
    int rc = net_collect(enter(r), r->rank, "gather", NET_GATHER, &values, is_root);
    r->job->phase->collectives += is_root;
    if (is_root)
        spend(r, tree_time(j, 0.0) +
                     (double)count * sizeof *own * j->set.ranks / j->set.machine.link.bandwidth);
    return rc;
}

/* ---- nodes and the job ---- */

static bool is_local(void *context, int rank)
{
    const job_rank *r = context;
    return node_of(r->job, rank) == node_of(r->job, r->rank);
}

static char *host(void *context, int rank)
{
    char *name = malloc(16);
    if (name != NULL)
        snprintf(name, 16, "n%d", node_of(((const job_rank *)context)->job, rank));
    return name;
}

static char *locality(void *context, int rank)
{
    (void)context, (void)rank;
    return NULL;
}

static int error_class(int error)
{
    return error < 0 ? 1 - error : error;
}

/* ---- the file: its bytes are not kept ---- */

static void access_file(void *context, int64_t offset, int64_t bytes)
{
    job_rank *r = context;
    r->tally.accesses++;
    machine_access(r->job->machine, r->rank, offset, bytes);
}

static int write_extents(void *context, const access_extent *extent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        access_file(context, extent[i].offset, extent[i].bytes);
    return 0;
}

static int read_bytes(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    access_file(context, offset, bytes);
    memset(data, 0, (size_t)bytes);
    *done = bytes;
    return 0;
}

/* ---- ROMIO ----
 *
 * A baseline: the messages of a collective access by ROMIO's two-phase I/O
 * (ADIOI_GEN_WriteStridedColl and ADIOI_GEN_ReadStridedColl, written down from knowledge of them),
 * without data.
 *
 * Modelled, in each call, whether one alike came before or not: the gathers of first and last
 * offsets on all ranks; one aggregator a node, contiguous domains of equal size; an exchange of
 * counts of all ranks with all, and a message with offsets and lengths, 16 bytes a piece, from each
 * rank to each aggregator whose domain it accesses; an agreement on the number of cycles, of 16 MiB
 * of each domain. In each cycle, in step on all ranks: an exchange of sizes of all with all, a
 * message between each aggregator and each rank with data in it, one access to the file from the
 * first to the last byte, for a write with holes after a read. Then an agreement on errors.
 *
 * In ROMIO's favour: collective operations take what no algorithm can go below, the latencies of a
 * tree and the time of the bytes on the link of a node, and are no messages; an aggregator's own
 * data take no time; a cycle is read after its sizes are known, so that reads do not wait for each
 * other. Not modelled: hints, alignment to stripes, the choice of independent access where accesses
 * are not interleaved, and processor time.
 */

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

/* What the ranks have in common. They come to a step only after all have left the last but one. */
struct romio {
    int nodes;
    int *aggregator; /* of each node, its lowest rank */
    parts *expected; /* by node, in a step; then the same in the next one */
};

typedef struct romio_call {
    job_rank *self;
    bool write;
    int64_t lo, domain; /* the first byte; bytes of a domain */
    parts own;
    int64_t cycle; /* or LISTS */
} romio_call;

static struct romio *romio_new(const job *j)
{
    struct romio *made = sim_zeroed(1, sizeof *made);
    size_t nodes = j->set.machine.topology->nodes;
    *made = (struct romio){(int)nodes, sim_zeroed(nodes, sizeof *made->aggregator),
                           sim_zeroed(2 * nodes, sizeof *made->expected)};
    for (int i = j->set.ranks; i-- > 0;)
        made->aggregator[node_of(j, i)] = i;
    return made;
}

static void romio_free(struct romio *r)
{
    if (r == NULL)
        return;
    __real_free(r->aggregator);
    __real_free(r->expected);
    __real_free(r);
}

static void append(parts *list, part p)
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
    size_t first = 0;
    access_cursor_init(&cursor, list);
    for (int64_t at; (at = access_next(&cursor)) != ACCESS_END;) {
        int64_t in = (at - c->lo) % c->domain, end = (in / CYCLE + 1) * CYCLE, taken = 0;
        part p = {c->self->rank, (int)((at - c->lo) / c->domain), in / CYCLE, at, 0, 0, 0};
        end = at - in + (end < c->domain ? end : c->domain);
        for (; access_take_piece(&cursor, end, &piece); taken++) {
            p.hi = piece.offset + piece.length;
            p.bytes += piece.length;
        }
        append(&c->own, p);
        if (p.domain != c->own.part[first].domain)
            first = c->own.count - 1;
        c->own.part[first].list += PIECE * taken;
    }
}

/* In the present step; 0: there is none. */
static int64_t message_of(const romio_call *c, const part *p)
{
    return c->cycle == LISTS ? p->list : c->cycle == p->cycle ? p->bytes : 0;
}

/* Says what its messages will be. Returns what it is to expect as an aggregator. */
static parts announce(const romio_call *c)
{
    const struct romio *r = c->self->job->romio;
    int ranks = c->self->job->set.ranks, node = node_of(c->self->job, c->self->rank);
    parts *expected = r->expected + (c->cycle - LISTS) % 2 * r->nodes, result = {NULL, 0, 0};
    for (size_t i = 0; i < c->own.count; i++)
        if (message_of(c, &c->own.part[i]) > 0)
            append(&expected[c->own.part[i].domain], c->own.part[i]);
    meet(c->self, NULL, 0, 4.0 * ranks * ranks / r->nodes);
    if (r->aggregator[node] == c->self->rank) {
        result = expected[node];
        expected[node] = (parts){NULL, 0, 0};
    }
    return result;
}

/* Messages from ranks to aggregators, or back; each side posts its receives first. Returns their
 * bytes on this rank, those to itself included. */
static int64_t move(const romio_call *c, const parts *expected, bool back)
{
    job_rank *r = c->self;
    exchange_request *request = sim_zeroed(c->own.count + expected->count, sizeof *request),
                     *next = request;
    int64_t sum = 0;
    for (int sends = 0; sends < 2; sends++) {
        bool aggregates = back == (sends == 1);
        const parts *list = aggregates ? expected : &c->own;
        for (const part *p = list->part; p < list->part + list->count; p++) {
            int peer = aggregates ? p->rank : r->job->romio->aggregator[p->domain];
            size_t bytes = (size_t)message_of(c, p);
            sum += (int64_t)bytes;
            if (bytes > 0 && peer != r->rank && sends)
                (void)start_send(r, peer, COLL_TAG_DATA, NULL, bytes, false, next++);
            else if (bytes > 0 && peer != r->rank)
                (void)start_receive(r, peer, COLL_TAG_DATA, NULL, bytes, next++);
        }
    }
    for (size_t got; next-- > request;)
        (void)wait_for(r, next, &got);
    __real_free(request);
    return sum;
}

static void access_expected(const romio_call *c, const parts *expected)
{
    int64_t lo = ACCESS_END, hi = 0, bytes = 0;
    for (const part *p = expected->part; p < expected->part + expected->count; p++) {
        lo = p->lo < lo ? p->lo : lo;
        hi = p->hi > hi ? p->hi : hi;
        bytes += p->bytes;
    }
    for (int i = c->write && bytes < hi - lo ? 2 : 1; i > 0 && hi > 0; i--)
        access_file(c->self, lo, hi - lo);
}

/* Returns the bytes of ROMIO's memory. */
static int64_t send_lists(romio_call *c)
{
    c->cycle = LISTS;
    parts expected = announce(c);
    int64_t buffer = c->domain < CYCLE ? c->domain : CYCLE;
    int64_t lists = move(c, &expected, false);
    __real_free(expected.part);
    return ARRAYS * c->self->job->set.ranks + lists + (expected.count > 0 ? buffer : 0);
}

static void run_cycle(romio_call *c)
{
    parts expected = announce(c);
    if (!c->write)
        access_expected(c, &expected);
    move(c, &expected, !c->write);
    if (c->write)
        access_expected(c, &expected);
    __real_free(expected.part);
}

/* An ordered list, not empty on all ranks. */
static void romio_access(job_rank *r, const access_list *list, bool write)
{
    romio_call c = {.self = r, .write = write};
    int64_t range[] = {-access_lower(list), access_upper(list)}, nodes = r->job->romio->nodes;
    for (int i = 0; i < 2; i++)
        meet(r, &range[i], 1, 8.0 * r->job->set.ranks);
    c.lo = -range[0];
    c.domain = (range[1] - c.lo + nodes - 1) / nodes;
    find_parts(&c, list);
    int64_t bytes = send_lists(&c);
    sim_memory_add(bytes);
    meet(r, NULL, 0, 8.0);
    for (c.cycle = 0; c.cycle * CYCLE < c.domain; c.cycle++)
        run_cycle(&c);
    meet(r, NULL, 0, 8.0);
    sim_memory_add(-bytes);
    __real_free(c.own.part);
}

/* ---- the front end of a rank ---- */

static double get_time(void *context)
{
    const job_rank *r = context;
    return machine_clock(r->job->machine, r->rank);
}

static struct hwloc_topology *no_machine(void *context)
{
    (void)context;
    return NULL;
}

static void make_rank(job_rank *r)
{
    const job *j = r->job;
    r->pool = (coll_pool)COLL_POOL_INIT;
    r->process = (coll_process){
        .context = r,
        .job = {.id = "simulation",
                .size = (size_t)j->set.ranks,
                .is_first = r->rank == 0,
                .has_one_program = true},
        .parameter = "parameter",
        .prefix = "",
        .mpi_setting = {"buffer", "aggregators"},
        .clock = get_time,
        .machine = no_machine,
        .pool = &r->pool,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    r->runtime = (coll_runtime){
        .context = r,
        .process = &r->process,
        .rank = r->rank,
        .size = j->set.ranks,
        .near_message_size = MESSAGE_BYTES,
        .far_message_size = MESSAGE_BYTES,
        .is_local = is_local,
        .host = host,
        .locality = locality,
        .isend = start_send,
        .irecv = start_receive,
        .test = test,
        .wait = wait_for,
        .probe = probe,
        .progress = progress,
        .reduce = reduce,
        .gather = gather,
        .error_class = error_class,
    };
    r->store = (coll_store){.access = {r, write_extents, read_bytes, NULL, NULL, 0}};
}

static void open_file(job_rank *r)
{
    const coll_handle handle = {
        .runtime = &r->runtime,
        .store = &r->store,
        .name = "file",
    };
    coll_facts facts = coll_facts_collect(r->job->set.parameters, &(coll_hint_values){{0}});
    facts.fd = -1;
    r->file = coll_file_new(&r->process);
    if (r->file == NULL)
        abort();
    coll_file_open(r->file, &handle);
    coll_file_start(r->file, &facts);
}

/* The view belongs to the caller's program. */
static void set_view(job_rank *r)
{
    job *j = r->job;
    access_list period = {0};
    int64_t extent;
    sim_memory_of(NULL);
    if (j->set.view(j->set.context, r->rank, &period, &extent) != 0)
        abort();
    if ((size_t)period.bytes > j->buffer_bytes) {
        j->buffer_bytes = (size_t)period.bytes;
        j->buffer = sim_resized(j->buffer, j->buffer_bytes);
    }
    coll_view_set(&r->view, &period, extent);
    sim_memory_of(&r->account);
}

static int access_by_romio(job_rank *r, bool write, int64_t copy)
{
    access_list list = {0};
    int rc =
        access_append_slice(&list, &r->view.period, 0, r->view.period.bytes, copy * r->view.extent);
    romio_access(r, &list, write);
    access_release(&list);
    return rc;
}

static int access_by_tatp(job_rank *r, bool write, int64_t copy)
{
    int64_t bytes = r->view.period.bytes;
    coll_call call = {
        .file = r->file,
        .write = write,
        .blocking = true,
        .view = &r->view,
        .position = {copy * r->view.extent, 0},
        .bytes = bytes,
    };
    if (bytes > 0 && access_append_memory(&call.memory.list, r->job->buffer, (size_t)bytes) != 0)
        abort();
    int rc = coll_call_run(&call);
    access_release(&call.memory.list);
    return rc;
}

static void access_view(job_rank *r, enum job_phase_kind kind)
{
    bool write = kind < JOB_FIRST_READ;
    int64_t copy = (kind - JOB_FIRST_WRITE) % 2;
    int rc = (r->job->romio != NULL ? access_by_romio : access_by_tatp)(r, write, copy);
    r->error = r->error != 0 ? r->error : rc;
}

/* ---- phases ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds what a rank did, and starts to count anew. */
static void add_rank(const job *j, job_rank *r, job_phase *p)
{
    net_rank *n = &j->net.rank[r->rank];
    const tally *t = &r->tally;
    p->messages += t->sent;
    p->far_messages += t->far;
    p->far_bytes += t->far_bytes;
    p->most_sent = larger(p->most_sent, t->sent);
    p->most_received = larger(p->most_received, t->received);
    p->most_unexpected = larger(p->most_unexpected, n->most_unexpected);
    p->most_posted = larger(p->most_posted, n->most_receives);
    p->accesses += t->accesses;
    int64_t *bytes = r->rank == 0 ? &p->root_bytes : &p->most_bytes;
    *bytes = larger(*bytes, r->account.most);
    r->tally = (tally){0};
    n->most_unexpected = n->unexpected;
    n->most_receives = n->receives;
    r->account.most = r->account.bytes;
}

/* All ranks meet, without a message; the last one adds up. */
static void end_phase(job_rank *r)
{
    job *j = r->job;
    if (++j->entered < j->set.ranks) {
        (void)net_await(&j->net, r->rank, &j->phase->is_over);
        return;
    }
    machine_level(j->machine);
    double now = get_time(r);
    for (int i = 0; i < j->set.ranks; i++)
        add_rank(j, &j->rank[i], j->phase);
    j->phase->seconds = now - j->began;
    j->phase->busiest_bytes = machine_take_busiest(j->machine);
    j->phase->is_over = true;
    j->phase++;
    j->began = now;
    j->entered = 0;
    for (int i = 0; i < j->set.ranks; i++)
        net_wake(&j->net, i);
}

static void run_rank(void *context, int rank)
{
    job *j = context;
    job_rank *r = &j->rank[rank];
    make_rank(r);
    if (j->romio == NULL)
        open_file(r);
    set_view(r);
    end_phase(r);
    for (enum job_phase_kind k = JOB_FIRST_WRITE; k <= JOB_READ; k++) {
        if (rank == 0 && j->set.begins != NULL)
            j->set.begins(j->set.context, k);
        access_view(r, k);
        end_phase(r);
    }
    if (j->romio == NULL)
        coll_file_close(r->file);
    coll_file_free(r->file);
    coll_record_finish(&r->process);
    coll_pool_release(&r->pool);
    coll_view_release(&r->view);
    end_phase(r);
}

const char *job_phase_name(enum job_phase_kind kind)
{
    static const char *const name[] = {"open",       "first write", "write",
                                       "first read", "read",        "close"};
    return name[kind];
}

/* ---- all of it ---- */

static void find_mates(job *j)
{
    int *last = sim_zeroed(j->set.machine.topology->nodes, sizeof *last);
    for (int i = 0; i < 2 * j->set.ranks; i++) {
        int rank = i % j->set.ranks, *before = &last[node_of(j, rank)];
        j->mate[*before] = rank;
        *before = rank;
    }
    free(last);
}

static void release_job(job *j)
{
    (void)net_end(&j->net);
    romio_free(j->romio);
    (void)sim_memory_left();
    machine_free(j->machine);
    free(j->rank);
    free(j->mate);
    __real_free(j->buffer);
}

int job_run(const job_settings *settings, job_phase phase[JOB_PHASES], char **failure)
{
    job j = {.set = *settings, .phase = phase};
    int rc = 0;
    *failure = NULL;
    memset(phase, 0, JOB_PHASES * sizeof *phase);
    j.net = (network){
        .main = run_rank, .resume = resume, .ranks = settings->ranks, .stop = settings->stop};
    /* A mapping for each large block of each rank would be more than the system allows. */
    mallopt(M_MMAP_MAX, 0);
    j.rank = sim_zeroed((size_t)settings->ranks, sizeof *j.rank);
    j.mate = sim_zeroed((size_t)settings->ranks, sizeof *j.mate);
    j.machine = machine_new(&settings->machine, &j.net);
    if (settings->is_romio)
        j.romio = romio_new(&j);
    find_mates(&j);
    for (int i = 0; i < settings->ranks; i++) {
        j.rank[i].job = &j;
        j.rank[i].rank = i;
    }
    j.net.context = &j;
    net_run(&j.net);
    for (int i = 0; i < settings->ranks && rc == 0; i++)
        rc = j.rank[i].error;
    if (j.net.failure != NULL)
        *failure = strdup(j.net.failure);
    release_job(&j);
    return rc;
}
