/* SPDX-License-Identifier: BSD-3-Clause */
/* src/exchange over PML, shared memory and fbtl. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp_exchange_internal.h"
#include "ompi/mca/pml/pml.h"
#include "opal/threads/mutex.h"

/* Buffers of one run, kept from call to call and from file to file. */
typedef struct pooled_buffers {
    struct pooled_buffers *next;
    exchange_buffers *buffers;
} pooled_buffers;

struct tatp_exchange {
    tatp_sharing sharing;
    tatp_contributors contributors;
    exchange_target *target;
    exchange_window *window; /* EXCHANGE_DEPTH for each target, and for the own domain */
    exchange *engine;
    pooled_buffers *buffers; /* of the next run */
};

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static pooled_buffers *idle_buffers;

tatp_exchange *tatp_exchange_new(const ompi_process_name_t *process)
{
    tatp_exchange *ex = calloc(1, sizeof *ex);
    if (NULL != ex)
        ex->sharing = (tatp_sharing){.process = process, .refused_bytes = SIZE_MAX};
    return ex;
}

void tatp_exchange_free(tatp_exchange *ex)
{
    if (NULL == ex)
        return;
    tatp_exchange_reset(ex);
    tatp_sharing_release(&ex->sharing);
    free(ex);
}

void tatp_exchange_release_all(void)
{
    while (NULL != idle_buffers) {
        pooled_buffers *b = idle_buffers;
        idle_buffers = b->next;
        exchange_buffers_free(b->buffers);
        free(b);
    }
    tatp_segments_free();
}

/* ---- memory of a run ---- */

static pooled_buffers *acquire_buffers(void)
{
    OPAL_THREAD_LOCK(&lock);
    pooled_buffers *b = idle_buffers;
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
    if (NULL == ex->buffers)
        ex->buffers = acquire_buffers();
    if (NULL == ex->buffers)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return tatp_from_errno(exchange_reserve(ex->engine, ex->buffers->buffers));
}

void tatp_exchange_release(tatp_exchange *ex)
{
    if (NULL == ex->buffers)
        return;
    OPAL_THREAD_LOCK(&lock);
    ex->buffers->next = idle_buffers;
    idle_buffers = ex->buffers;
    OPAL_THREAD_UNLOCK(&lock);
    ex->buffers = NULL;
}

/* ---- preparation ---- */

static void describe_targets(tatp_exchange *ex, const tatp_comm *comm,
                             const tatp_exchange_layout *layout, bool is_shared)
{
    for (size_t i = 0; i < layout->shares; i++) {
        exchange_target *target = &ex->target[i];
        exchange_window *window = &ex->window[i * EXCHANGE_DEPTH];
        target->aggregator = layout->aggregator[layout->share[i].domain];
        target->list = &layout->share[i].list;
        if (!is_shared || target->aggregator == tatp_comm_rank(comm) ||
            !tatp_comm_is_local(comm, target->aggregator))
            continue;
        tatp_find_windows(&ex->sharing, comm, layout, target->aggregator, window);
        target->window = window;
    }
}

static int make_engine(tatp_exchange *ex, const tatp_comm *comm, const tatp_exchange_layout *layout,
                       bool is_shared)
{
    exchange_task task = {
        .rank = tatp_comm_rank(comm),
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
        return OMPI_ERR_OUT_OF_RESOURCE;
    task.target = ex->target;
    describe_targets(ex, comm, layout, is_shared);
    for (size_t i = 0; i < ex->contributors.count; i++) {
        exchange_contributor *contributor = &ex->contributors.item[i];
        contributor->shared = is_shared && contributor->rank != task.rank &&
                              tatp_comm_is_local(comm, contributor->rank);
    }
    if (is_shared && layout->aggregates) {
        exchange_window *own = &ex->window[layout->shares * EXCHANGE_DEPTH];
        tatp_find_windows(&ex->sharing, comm, layout, task.rank, own);
        task.window = own;
    }
    ex->engine = exchange_new(&task);
    return NULL == ex->engine ? OMPI_ERR_OUT_OF_RESOURCE : tatp_exchange_acquire(ex);
}

int tatp_exchange_prepare(tatp_exchange *ex, tatp_comm *comm, const tatp_exchange_layout *layout)
{
    int rc = tatp_exchange_requests(comm, layout, &ex->contributors);
    bool is_shared = !layout->ordered && tatp_share_windows(&ex->sharing, comm, layout);
    return OMPI_SUCCESS == rc ? make_engine(ex, comm, layout, is_shared) : rc;
}

void tatp_exchange_reset(tatp_exchange *ex)
{
    tatp_exchange_release(ex);
    exchange_free(ex->engine);
    ex->engine = NULL;
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
    ompi_request_t *started = NULL;
    int rc =
        MCA_PML_CALL(isend(data, bytes, MPI_BYTE, peer, TATP_TAG_DATA,
                           synchronous ? MCA_PML_BASE_SEND_SYNCHRONOUS : MCA_PML_BASE_SEND_STANDARD,
                           tatp_comm_communicator(context), &started));
    *request = OMPI_SUCCESS == rc ? started : NULL;
    return rc;
}

static int start_receive(void *context, int peer, void *data, size_t bytes,
                         exchange_request *request)
{
    ompi_request_t *started = NULL;
    int rc = MCA_PML_CALL(irecv(data, bytes, MPI_BYTE, peer, TATP_TAG_DATA,
                                tatp_comm_communicator(context), &started));
    *request = OMPI_SUCCESS == rc ? started : NULL;
    return rc;
}

static int test_message(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    ompi_request_t *message = *request;
    ompi_status_public_t status;
    *complete = REQUEST_COMPLETE(message);
    if (!*complete)
        return OMPI_SUCCESS;
    int rc = tatp_wait(context, &message, &status);
    *bytes = OMPI_SUCCESS == rc ? status._ucount : 0;
    *request = NULL;
    return rc;
}

static void make_progress(void *context)
{
    tatp_progress(context);
}

/* ---- store ---- */

typedef struct timed_store {
    const tatp_io *io;
    double seconds;
} timed_store;

static int write_piece(void *context, int64_t offset, const char *data, int64_t bytes,
                       int64_t *done)
{
    timed_store *store = context;
    double start = MPI_Wtime();
    int rc = tatp_io_write(store->io, offset, data, bytes, done);
    store->seconds += MPI_Wtime() - start;
    return rc;
}

static int read_piece(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    timed_store *store = context;
    double start = MPI_Wtime();
    int rc = tatp_io_read(store->io, offset, data, bytes, done);
    store->seconds += MPI_Wtime() - start;
    return rc;
}

int tatp_exchange_run(tatp_exchange *ex, tatp_comm *comm, const tatp_io *io, exchange_run *run,
                      exchange_result *result, tatp_exchange_times *times)
{
    timed_store timed = {.io = io};
    const exchange_transport transport = {comm, start_send, start_receive, test_message,
                                          make_progress};
    const exchange_store store = {&timed, write_piece, read_piece};
    double start = MPI_Wtime();
    run->transport = &transport;
    run->store = &store;
    int rc = exchange_execute(ex->engine, run, result);
    times->access = timed.seconds;
    times->shuffle = MPI_Wtime() - start - timed.seconds;
    return rc;
}
