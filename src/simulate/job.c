/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/job.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/collective.h"
#include "collective/exchange.h"
#include "collective/record.h"
#include "simulate/memory.h"
#include "simulate/romio.h"

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
    romio *romio; /* or NULL */
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

static int start_send(void *context, int peer, enum coll_tag tag, const void *data, size_t bytes,
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

static int start_receive(void *context, int peer, enum coll_tag tag, void *data, size_t bytes,
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

static bool has_lost(void *context)
{
    (void)context;
    return false;
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
static void meet(void *context, int64_t *value, size_t count, double bytes)
{
    const job *j = ((job_rank *)context)->job;
    (void)collect(context, NET_MAX, value, count);
    spend(context, tree_time(j, 0.0) + bytes / j->set.machine.link.bandwidth);
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

static size_t job_rank_of(void *context, int rank)
{
    (void)context;
    return (size_t)rank;
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

static int lock_bytes(void *context, int64_t offset, int64_t bytes)
{
    (void)context, (void)offset, (void)bytes;
    return 0;
}

static int unlock_file(void *context)
{
    (void)context;
    return 0;
}

static void begin(void *context)
{
    (void)context;
}

static bool may_map(void *context)
{
    (void)context;
    return false;
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

static void show(const char *text)
{
    (void)text;
}

static void log_line(void *context, int level, const char *format, va_list arguments)
{
    (void)context, (void)level, (void)format, (void)arguments;
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
        .show = show,
        .log = log_line,
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
        .job_rank = job_rank_of,
        .isend = start_send,
        .irecv = start_receive,
        .test = test,
        .wait = wait_for,
        .probe = probe,
        .progress = progress,
        .has_lost = has_lost,
        .reduce = reduce,
        .gather = gather,
        .error_class = error_class,
    };
    r->store = (coll_store){
        .access = {r, write_extents, read_bytes, lock_bytes, unlock_file, 0},
        .begin = begin,
        .may_map = may_map,
    };
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
    const romio_rank self = {r->job->romio, node_of(r->job, r->rank), &r->runtime, meet,
                             access_file};
    access_list list = {0};
    int rc =
        access_append_slice(&list, &r->view.period, 0, r->view.period.bytes, copy * r->view.extent);
    romio_access(&self, &list, write);
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
        j.romio = romio_new(settings->machine.node_of_rank, settings->ranks,
                            (int)settings->machine.topology->nodes);
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
