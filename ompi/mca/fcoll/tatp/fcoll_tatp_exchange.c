/* SPDX-License-Identifier: BSD-3-Clause */
/* src/exchange over PML, shared memory and fbtl. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp_exchange_internal.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/compat/compat.h"
#include "ompi/compat/compat_loss.h"

#include "plan/aggregation.h"

struct tatp_pooled_buffers {
    tatp_pooled_buffers *next;
    exchange_buffers *buffers;
};

struct tatp_exchange {
    tatp_exchange_memory *memory;
    size_t index;
    tatp_segment *segment; /* of the windows, or NULL */
    tatp_bundles *bundles; /* or NULL */
    tatp_contributors contributors;
    exchange_target *target;
    exchange_window *window; /* EXCHANGE_DEPTH for each target, and for the own domain */
    exchange *engine;
};

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static tatp_pooled_buffers *idle_buffers;

tatp_exchange_memory *tatp_exchange_memory_new(void)
{
    tatp_exchange_memory *memory = calloc(1, sizeof *memory);
    if (NULL != memory)
        memory->refused_bytes = SIZE_MAX;
    return memory;
}

void tatp_exchange_memory_free(tatp_exchange_memory *memory)
{
    if (NULL == memory)
        return;
    tatp_segment_release(memory->segment);
    free(memory);
}

tatp_exchange *tatp_exchange_new(tatp_exchange_memory *memory, size_t index)
{
    tatp_exchange *ex = calloc(1, sizeof *ex);
    if (NULL != ex) {
        ex->memory = memory;
        ex->index = index;
    }
    return ex;
}

void tatp_exchange_free(tatp_exchange *ex)
{
    if (NULL == ex)
        return;
    tatp_exchange_reset(ex);
    free(ex);
}

void tatp_exchange_release_all(void)
{
    while (NULL != idle_buffers) {
        tatp_pooled_buffers *b = idle_buffers;
        idle_buffers = b->next;
        exchange_buffers_free(b->buffers);
        free(b);
    }
}

/* ---- memory of a run ---- */

static tatp_pooled_buffers *acquire_buffers(void)
{
    OPAL_THREAD_LOCK(&lock);
    tatp_pooled_buffers *b = idle_buffers;
    if (NULL != b)
        idle_buffers = b->next;
    OPAL_THREAD_UNLOCK(&lock);
    if (NULL != b)
        return b;
    b = calloc(1, sizeof *b);
    if (NULL == b)
        return NULL;
    b->buffers = exchange_buffers_new();
    if (NULL == b->buffers) {
        free(b);
        return NULL;
    }
    return b;
}

int tatp_exchange_acquire(tatp_exchange *ex)
{
    tatp_exchange_memory *memory = ex->memory;
    if (NULL == memory->buffers)
        memory->buffers = acquire_buffers();
    if (NULL == memory->buffers)
        return -ENOMEM;
    return exchange_reserve(ex->engine, memory->buffers->buffers);
}

void tatp_exchange_release(tatp_exchange_memory *memory, const coll_group *group)
{
    if (group->runtime->has_lost(group->runtime->context))
        memory->buffers = NULL; /* a message that was given up may still arrive there */
    if (NULL == memory->buffers)
        return;
    OPAL_THREAD_LOCK(&lock);
    memory->buffers->next = idle_buffers;
    idle_buffers = memory->buffers;
    OPAL_THREAD_UNLOCK(&lock);
    memory->buffers = NULL;
}

/* ---- preparation ---- */

static void describe_targets(tatp_exchange *ex, const coll_group *group,
                             const tatp_exchange_layout *layout)
{
    tatp_bundle_memory memory = {0};
    if (tatp_bundles_pairs(ex->bundles) > 0)
        memory = tatp_find_bundle_memory(ex->segment, ex->index, group, layout);
    for (size_t i = 0; i < layout->shares; i++) {
        exchange_target *target = &ex->target[i];
        exchange_window *window = &ex->window[i * EXCHANGE_DEPTH];
        target->aggregator = layout->aggregator[layout->share[i].domain];
        target->list = &layout->share[i].list;
        tatp_bundles_describe(ex->bundles, layout->share[i].domain, &memory, window, target);
        if (NULL == ex->segment || target->aggregator == group->rank ||
            !coll_is_local(group, target->aggregator))
            continue;
        tatp_find_windows(ex->segment, ex->index, group, layout, target->aggregator, window);
        target->window = window;
    }
}

static int make_engine(tatp_exchange *ex, const coll_group *group,
                       const tatp_exchange_layout *layout)
{
    exchange_task task = {
        .rank = group->rank,
        .ordered = layout->ordered,
        .cycle_size = layout->cycle_size,
        .num_cycles = layout->num_cycles,
        .message_size = layout->message_size,
        .short_error = MPI_ERR_IO,
        .targets = layout->shares,
        .contributors = ex->contributors.count,
        .domains = layout->domains,
        .domain = layout->domain,
        .contributor = ex->contributors.item,
    };
    ex->target = calloc(layout->shares + 1, sizeof *ex->target);
    ex->window = calloc(layout->shares + 1, EXCHANGE_DEPTH * sizeof *ex->window);
    if (NULL == ex->target || NULL == ex->window)
        return -ENOMEM;
    task.target = ex->target;
    describe_targets(ex, group, layout);
    for (size_t i = 0; i < ex->contributors.count; i++) {
        exchange_contributor *contributor = &ex->contributors.item[i];
        contributor->shared = NULL != ex->segment && contributor->rank != task.rank &&
                              coll_is_local(group, contributor->rank);
    }
    if (NULL != ex->segment && layout->aggregates) {
        exchange_window *own = &ex->window[layout->shares * EXCHANGE_DEPTH];
        tatp_find_windows(ex->segment, ex->index, group, layout, task.rank, own);
        task.window = own;
    }
    ex->engine = exchange_new(&task);
    return NULL == ex->engine ? -ENOMEM : tatp_exchange_acquire(ex);
}

/* Requests that no rank carries for others, and the connections that they need, are on their way
 * while the ranks of a node share memory. */
int tatp_exchange_prepare(tatp_exchange *ex, coll_group *group, const tatp_exchange_layout *layout)
{
    tatp_requests requests = {0};
    bool shares = !layout->ordered, early = !shares || !tatp_bundles_wanted(group, layout);
    int rc = early ? tatp_requests_start(group, layout, NULL, &requests) : OMPI_SUCCESS;
    int shared = OMPI_SUCCESS;
    if (shares)
        shared = tatp_share_windows(ex->memory, group, layout, &ex->bundles, &ex->segment);
    if (!early)
        rc = tatp_requests_start(group, layout, ex->bundles, &requests);
    rc = OMPI_SUCCESS != rc ? rc : shared;
    rc = tatp_requests_complete(group, layout, &requests, &ex->contributors, rc);
    if (OMPI_SUCCESS == rc)
        rc = make_engine(ex, group, layout);
    if (NULL != ex->bundles)
        tatp_bundles_settle(ex->bundles);
    return rc;
}

/* Without adjacent pieces an aggregator may have fewer pages than all of its contributors. */
bool tatp_exchange_merges(const tatp_exchange *ex, tatp_io *io)
{
    int64_t pieces, merged, pages, merged_pages;
    if (NULL == ex->engine)
        return false;
    exchange_count_pieces(ex->engine, access_blocks, &pieces, &merged);
    if (aggregation_merges(pieces, pieces - merged))
        return true;
    exchange_count_pieces(ex->engine, access_pages_estimate, &pages, &merged_pages);
    if (aggregation_merges(pieces, pages - merged_pages) && tatp_io_may_map(io))
        return true;
    tatp_bundles_count_pieces(ex->bundles, &pieces, &merged);
    return aggregation_merges(pieces, pieces - merged);
}

/* The engine keeps the union of the contributors' lists. */
int64_t tatp_exchange_bytes(const tatp_exchange *ex)
{
    size_t runs = 0;
    for (size_t i = 0; i < ex->contributors.count; i++)
        runs += ex->contributors.item[i].list.capacity + ex->contributors.item[i].list.count;
    return tatp_bundles_kept_bytes(ex->bundles) + (int64_t)(runs * sizeof(access_run));
}

void tatp_exchange_reset(tatp_exchange *ex)
{
    exchange_free(ex->engine);
    tatp_segment_release(ex->segment);
    tatp_bundles_free(ex->bundles);
    ex->engine = NULL;
    ex->bundles = NULL;
    ex->segment = NULL;
    free(ex->target);
    free(ex->window);
    ex->target = NULL;
    ex->window = NULL;
    tatp_contributors_release(&ex->contributors);
}

/* ---- transport ---- */

static int start_send(void *context, int peer, const void *data, size_t bytes, bool synchronous,
                      exchange_request *request)
{
    const coll_runtime *runtime = ((const coll_group *)context)->runtime;
    return runtime->isend(runtime->context, peer, COLL_TAG_DATA, data, bytes, synchronous, request);
}

static int start_receive(void *context, int peer, void *data, size_t bytes,
                         exchange_request *request)
{
    const coll_runtime *runtime = ((const coll_group *)context)->runtime;
    return runtime->irecv(runtime->context, peer, COLL_TAG_DATA, data, bytes, request);
}

static int test_message(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    const coll_runtime *runtime = ((const coll_group *)context)->runtime;
    return runtime->test(runtime->context, request, complete, bytes);
}

static int make_progress(void *context)
{
    const coll_runtime *runtime = ((const coll_group *)context)->runtime;
    return runtime->progress(runtime->context);
}

/* ---- store ---- */

/* Bytes that are read in the time of a request: where the file is in memory, and where a server is
 * asked. */
enum { MOST_LOCAL_HOLE = 16 * 1024, MOST_HOLE = 64 * 1024 };

/* Times the file access cycle by cycle: a piece may take less time than reading the clock. */
typedef struct access_timer {
    const exchange_probe *probe; /* the caller's, or NULL */
    double begin, seconds;
} access_timer;

static void time_access(void *context, int64_t cycle, enum exchange_moment moment)
{
    access_timer *timer = context;
    if (EXCHANGE_ACCESS_BEGINS == moment)
        timer->begin = MPI_Wtime();
    if (EXCHANGE_ACCESS_ENDS == moment)
        timer->seconds += MPI_Wtime() - timer->begin;
    if (NULL != timer->probe)
        timer->probe->note(timer->probe->context, cycle, moment);
}

int tatp_exchange_run(tatp_exchange *ex, coll_group *group, tatp_io *io, exchange_run *run,
                      exchange_result *result, tatp_exchange_times *times)
{
    tatp_transfer transfer;
    access_timer timer = {.probe = run->probe};
    const exchange_transport transport = {group, start_send, start_receive, test_message,
                                          make_progress};
    const exchange_store store = {&transfer,      tatp_io_write,
                                  tatp_io_read,   tatp_io_lock,
                                  tatp_io_unlock, io->lock_unit > 0 ? MOST_HOLE : MOST_LOCAL_HOLE};
    const exchange_probe probe = {&timer, time_access};
    double start = MPI_Wtime();
    tatp_transfer_init(&transfer, io);
    run->transport = &transport;
    run->store = &store;
    run->probe = &probe;
    int rc = exchange_execute(ex->engine, run, result);
    times->access = timer.seconds;
    times->shuffle = MPI_Wtime() - start - timer.seconds;
    return rc;
}
