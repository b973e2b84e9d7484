/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collective calls: MPI_File_iwrite_all and its family, and the split ones.
 *
 * Such a call runs the code of the blocking one on a stack of its own (src/base/fiber.h), which
 * Open MPI's progress enters. The calls on a file follow one another in the order of their start,
 * which is the same on all ranks, so that their messages and reductions cannot meet each other's.
 */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "opal/runtime/opal_progress.h"
#include "ompi/compat/compat.h"

/* What the user holds. `super` comes first: Open MPI sees nothing else. */
struct tatp_request {
    ompi_request_t super;
    fiber_call on_stack;
    int (*run)(void *call, ompi_status_public_t *status);
    void (*release)(void *call);
    void *call;
};

static void construct_request(tatp_request *request);
static void destruct_request(tatp_request *request);
OBJ_CLASS_DECLARATION(tatp_request);
OBJ_CLASS_INSTANCE(tatp_request, ompi_request_t, construct_request, destruct_request);

static fiber_pool pool = FIBER_POOL_INIT;
static atomic_bool progress_registered;

/* ---- the request ---- */

static int free_handle(ompi_request_t **request)
{
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* A collective operation cannot be cancelled. */
static int cancel_handle(ompi_request_t *request, int flag)
{
    (void)request;
    (void)flag;
    return OMPI_SUCCESS;
}

static tatp_request *request_of(fiber_call *on_stack)
{
    return (tatp_request *)((char *)on_stack - offsetof(tatp_request, on_stack));
}

static void run_request(fiber_call *on_stack)
{
    tatp_request *request = request_of(on_stack);
    int rc = request->run(request->call, &request->super.req_status);
    request->super.req_status.MPI_ERROR = tatp_error_class(rc);
}

static void release_request(tatp_request *request)
{
    request->release(request->call);
    OBJ_RELEASE(request);
}

static void end_request(fiber_call *on_stack)
{
    tatp_request *request = request_of(on_stack);
    ompi_request_complete(&request->super, true);
    release_request(request);
}

static void construct_request(tatp_request *request)
{
    ompi_request_t *super = &request->super;
    OMPI_REQUEST_INIT(super, false);
    super->req_type = OMPI_REQUEST_IO;
    super->req_free = free_handle;
    super->req_cancel = cancel_handle;
    super->req_status = ompi_status_empty;
    request->on_stack = (fiber_call){.run = run_request, .end = end_request};
}

static void destruct_request(tatp_request *request)
{
    OMPI_REQUEST_FINI(&request->super);
}

tatp_request *tatp_request_new(int (*run)(void *call, ompi_status_public_t *status),
                               void (*release)(void *call), void *call)
{
    tatp_request *request = OBJ_NEW(tatp_request);
    if (NULL == request)
        return NULL;
    if (!fiber_reserve(&pool, &request->on_stack)) {
        OBJ_RELEASE(request);
        return NULL;
    }
    request->run = run;
    request->release = release;
    request->call = call;
    return request;
}

void tatp_request_free(tatp_request *request)
{
    if (NULL == request)
        return;
    fiber_unreserve(&pool, &request->on_stack);
    release_request(request);
}

/* ---- waiting ---- */

static bool is_ready(fiber_queue *queue)
{
    tatp_comm *comm = (tatp_comm *)((char *)queue - offsetof(tatp_comm, queue));
    tatp_comm_check_loss(comm);
    return NULL == comm->awaited || compat_is_complete(comm->awaited);
}

void tatp_comm_pause(tatp_comm *comm, ompi_request_t *awaited)
{
    comm->awaited = awaited;
    fiber_pause(&comm->queue);
    comm->awaited = NULL;
}

static int progress_calls(void)
{
    return fiber_progress(&pool);
}

void tatp_request_start(tatp_comm *comm, struct ompi_file_t *file, tatp_request *request,
                        ompi_request_t **handle)
{
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    request->super.req_mpi_object.file = file;
    OBJ_RETAIN(request); /* one reference is the user's, one the queue's */
    *handle = &request->super;
    comm->queue.is_ready = is_ready;
    fiber_start(&pool, &comm->queue, &request->on_stack);
    if (!atomic_exchange(&progress_registered, true))
        opal_progress_register(progress_calls);
    (void)progress_calls();
}

void tatp_requests_finish(const tatp_comm *comm)
{
    while (NULL != comm->queue.first)
        opal_progress();
}

void tatp_requests_release(void)
{
    if (atomic_exchange(&progress_registered, false))
        opal_progress_unregister(progress_calls);
    fiber_pool_release(&pool);
}
