/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/job.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collective/exchange.h"
#include "collective/files.h"
#include "collective/record.h"
#include "simulate/memory.h"
#include "simulate/romio.h"

enum { MESSAGE_BYTES = 64512 }; /* of data at most, as the front ends have it */

typedef struct job_rank {
    net_port port;
    struct job *job;
    sim_account account;
    coll_process process;
    coll_runtime runtime;
    coll_store store;
    coll_file *file; /* NULL by ROMIO */
    coll_view view;
} job_rank;

typedef struct job {
    job_settings set;
    network net;
    machine *machine;
    romio romio;
    job_rank *rank;
    int *mate;    /* of each rank, the next one of its node, in a circle */
    int *leader;  /* of each node, its lowest rank */
    char *buffer; /* of all ranks */
    job_phase *phase;
    int entered;  /* ranks that have ended the present phase */
    double began; /* the phase */
} job;

const char *const job_phase_name[JOB_PHASES] = {
    "open", "first write", "second write", "write", "first read", "read", "close",
};
const char *const job_key[JOB_FIGURES] = {"seconds",
                                          "messages",
                                          "messages_between_nodes",
                                          "bytes_between_nodes",
                                          "busiest_link_bytes",
                                          "most_sent",
                                          "most_received",
                                          "most_posted",
                                          "most_unexpected",
                                          "reductions",
                                          "accesses",
                                          "rank_0_bytes",
                                          "most_bytes"};

/* What a rank did in shared memory may be seen by the others of its node. */
int __wrap_exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result);
int __wrap_exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result)
{
    job_rank *r = run->store->context;
    job *j = r->job;
    exchange_begin(ex, run);
    while (!exchange_finished(ex)) {
        bool has_moved = exchange_step(ex);
        for (int i = j->mate[r->port.rank]; i != r->port.rank && has_moved; i = j->mate[i])
            net_wake(&j->net, i);
        if (!has_moved)
            (void)r->runtime.progress(r);
    }
    return exchange_end(ex, result);
}

/* ---- the front end of a rank; the bytes of the file are not kept ---- */

static char *job_locality(void *context, int rank)
{
    (void)context, (void)rank;
    return NULL;
}

static int error_class(int error)
{
    return error < 0 ? -error : error;
}

static void rank_access_file(const job_rank *r, int64_t offset, int64_t bytes)
{
    machine_access(r->job->machine, r->port.rank, offset, bytes);
}

static int rank_write_extents(void *context, const access_extent *extent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rank_access_file(context, extent[i].offset, extent[i].bytes);
    return 0;
}

static int rank_read(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    rank_access_file(context, offset, bytes);
    memset(data, 0, (size_t)bytes);
    *done = bytes;
    return 0;
}

static void make_rank(job_rank *r)
{
    net_front(&r->port, &r->process, &r->runtime);
    r->process.show = base_show_message;
    r->runtime.near_message_size = r->runtime.far_message_size = MESSAGE_BYTES;
    r->runtime.locality = job_locality;
    r->runtime.error_class = error_class;
    r->store = (coll_store){.access = {r, rank_write_extents, rank_read, NULL, NULL, 0}};
}

static void rank_open_file(job_rank *r)
{
    const coll_handle handle = {.runtime = &r->runtime, .store = &r->store, .name = "file"};
    coll_facts facts = coll_facts_collect(r->job->set.parameters, &(coll_hint_values){{0}});
    facts.fd = -1;
    r->file = coll_files_open(&r->process, &(coll_ranks){{0}}, &handle, &facts);
    if (r->file == NULL)
        abort();
    coll_file_start(r->file, &facts);
}

/* The file by tatp, or NULL: by ROMIO. */
static void access_view(job_rank *r, enum job_phase_kind kind)
{
    bool write = kind < JOB_FIRST_READ;
    int step = (int)kind - (int)(write ? JOB_FIRST_WRITE : JOB_FIRST_READ);
    int64_t place = step * r->view.extent, bytes = r->view.period.bytes;
    access_list list = {0};
    int rc = 0;
    if (r->file == NULL) {
        rc = access_append_slice(&list, &r->view.period, 0, bytes, place);
        romio_access(&r->job->romio, &r->runtime, &list, write);
    } else {
        if (bytes > 0 && access_append_memory(&list, r->job->buffer, (size_t)bytes) != 0)
            abort();
        coll_call call = {
            .file = r->file,
            .write = write,
            .memory = {.list = list},
            .view = &r->view,
            .position = {place, 0},
            .bytes = bytes,
        };
        rc = coll_call_run(&call);
    }
    access_release(&list);
    if (rc != 0)
        net_fail(&r->job->net, "a call ends with error %d", rc);
}

/* ---- phases ---- */

/* Adds what a rank did, and starts to count anew. */
static void totals_add_rank(job *j, int rank, double *sum)
{
    net_rank *n = &j->net.rank[rank];
    sim_account *account = &j->rank[rank].account;
    enum job_figure memory = rank == 0 ? JOB_ROOT_BYTES : JOB_MOST_BYTES;
    sum[JOB_MOST_SENT] = fmax(sum[JOB_MOST_SENT], (double)n->out);
    sum[JOB_MOST_RECEIVED] = fmax(sum[JOB_MOST_RECEIVED], (double)n->in);
    sum[JOB_MOST_POSTED] = fmax(sum[JOB_MOST_POSTED], (double)n->most_receives);
    sum[JOB_MOST_UNEXPECTED] = fmax(sum[JOB_MOST_UNEXPECTED], (double)n->most_unexpected);
    sum[memory] = fmax(sum[memory], (double)account->most);
    sum[JOB_MESSAGES] += (double)n->out;
    n->out = n->in = 0;
    n->most_unexpected = n->unexpected;
    n->most_receives = n->receives;
    account->most = account->bytes;
}

/* All ranks meet, without a message; the last one adds up. */
static void end_phase(job_rank *r)
{
    job *j = r->job;
    job_phase *p = j->phase;
    if (++j->entered < j->set.ranks) {
        (void)net_await(&j->net, r->port.rank, &p->is_over);
        return;
    }
    double now = machine_level(j->machine);
    const machine_tally tally = machine_take_tally(j->machine);
    p->is_over = true;
    for (int i = 0; i < j->set.ranks; i++) {
        totals_add_rank(j, i, p->figure);
        net_wake(&j->net, i);
    }
    p->figure[JOB_SECONDS] = now - j->began;
    p->figure[JOB_FAR_MESSAGES] = (double)tally.messages;
    p->figure[JOB_FAR_BYTES] = (double)tally.bytes;
    p->figure[JOB_BUSIEST_BYTES] = tally.busiest;
    p->figure[JOB_REDUCTIONS] = (double)j->net.collected;
    p->figure[JOB_ACCESSES] = (double)tally.accesses;
    j->net.collected = 0;
    j->phase++;
    j->began = now;
    j->entered = 0;
}

static void job_run_rank(void *context, int rank)
{
    job *j = context;
    job_rank *r = &j->rank[rank];
    make_rank(r);
    if (!j->set.is_romio)
        rank_open_file(r);
    const access_list period = access_borrow(&j->set.view[rank]);
    coll_view_set(&r->view, &period, j->set.extent);
    end_phase(r);
    for (enum job_phase_kind k = JOB_FIRST_WRITE; k <= JOB_READ; k++) {
        if (rank == 0 && j->set.begins != NULL)
            j->set.begins(k);
        access_view(r, k);
        end_phase(r);
    }
    if (r->file != NULL)
        coll_files_close(&r->process, r->file);
    coll_files_release(&r->process);
    coll_record_finish(&r->process);
    coll_view_release(&r->view);
    end_phase(r);
}

/* ---- all of it ---- */

static void job_resume(void *context, int rank)
{
    sim_memory_of(rank < 0 ? NULL : &((job *)context)->rank[rank].account);
}

static void find_mates(job *j)
{
    size_t nodes = j->set.machine.topology->nodes;
    j->mate = sim_zeroed((size_t)j->set.ranks, sizeof *j->mate);
    j->leader = sim_zeroed(nodes, sizeof *j->leader);
    for (int i = 2 * j->set.ranks; i-- > 0;) {
        int rank = i % j->set.ranks, *leader = &j->leader[j->set.node_of_rank[rank]];
        j->mate[rank] = *leader;
        *leader = rank;
    }
}

static void release_job(job *j)
{
    (void)net_end(&j->net);
    (void)sim_memory_left();
    machine_free(j->machine);
    free(j->rank);
    free(j->mate);
    free(j->leader);
    free(j->romio.expected);
    free(j->buffer);
}

char *job_run(const job_settings *settings, job_phase phase[JOB_PHASES])
{
    job j = {.set = *settings, .phase = phase};
    int64_t most = 0;
    memset(phase, 0, JOB_PHASES * sizeof *phase);
    j.net = (network){.context = &j,
                      .main = job_run_rank,
                      .resume = job_resume,
                      .ranks = settings->ranks,
                      .node_of_rank = settings->node_of_rank,
                      .node_name = settings->node_name,
                      .stop = settings->stop};
    /* A mapping for each large block of each rank would be more than the system allows. */
    mallopt(M_MMAP_MAX, 0);
    j.rank = sim_zeroed((size_t)settings->ranks, sizeof *j.rank);
    for (int i = 0; i < settings->ranks; i++) {
        j.rank[i].job = &j;
        j.rank[i].port = (net_port){&j.net, i};
        most = settings->view[i].bytes > most ? settings->view[i].bytes : most;
    }
    j.buffer = sim_zeroed((size_t)most, 1);
    j.machine = machine_new(&settings->machine, &j.net);
    find_mates(&j);
    size_t nodes = settings->machine.topology->nodes;
    j.romio = (romio){&j.net,
                      j.machine,
                      (int64_t)nodes,
                      j.leader,
                      sim_zeroed(2 * nodes, sizeof *j.romio.expected),
                      romio_is_interleaved(settings->view, settings->ranks)};
    net_run(&j.net);
    char *failure = j.net.failure != NULL ? strdup(j.net.failure) : NULL;
    release_job(&j);
    return failure;
}
