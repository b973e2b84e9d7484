/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/request.h"

#include <stdlib.h>

#include "mpi/front.h"

static fiber_pool pool = FIBER_POOL_INIT;
atomic_int front_requests;

/* ---- errors ---- */

/* An MPI ends the job where the query function of a generalized request returns an error, as the
 * request is of no file. Instead, the library's function that completes the request returns it. */
static _Thread_local int queried_error;
static _Thread_local MPI_File queried_file;

int front_request_take_error(MPI_File *file)
{
    const int error = queried_error;
    *file = queried_file;
    queried_error = MPI_SUCCESS;
    return error;
}

/* ---- the request ---- */

static void release(front_request *request)
{
    if (atomic_fetch_sub(&request->users, 1) > 1)
        return;
    free(request);
    front_requests--;
}

static int query(void *state, MPI_Status *status)
{
    const front_request *request = state;
    mpi.Status_set_elements_x(status, MPI_BYTE, request->moved);
    mpi.Status_set_cancelled(status, 0);
    if (request->error != MPI_SUCCESS) {
        status->MPI_SOURCE = FRONT_FAILED;
        status->MPI_TAG = queried_error = request->error;
        queried_file = request->file;
    }
    return MPI_SUCCESS;
}

static int free_state(void *state)
{
    release(state);
    return MPI_SUCCESS;
}

/* A collective call cannot be cancelled. */
static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void end(fiber_call *call)
{
    front_request *request = (front_request *)call;
    if (request->handle != MPI_REQUEST_NULL)
        mpi.Grequest_complete(request->handle);
    release(request);
}

void *front_request_new(size_t bytes)
{
    front_request *request = calloc(1, bytes);
    if (request == NULL || fiber_reserve(&pool, &request->on_stack))
        return request;
    free(request);
    return NULL;
}

int front_request_start(fiber_queue *queue, front_request *request, void (*run)(fiber_call *call),
                        MPI_Request *handle)
{
    int rc = MPI_SUCCESS;
    request->handle = MPI_REQUEST_NULL;
    if (handle != NULL) {
        rc = mpi.Grequest_start(query, free_state, cancel, request, &request->handle);
        *handle = request->handle;
    }
    request->users = 1 + (request->handle != MPI_REQUEST_NULL);
    request->on_stack.run = run;
    request->on_stack.end = end;
    front_requests++;
    fiber_start(&pool, queue, &request->on_stack);
    front_progress();
    return rc;
}

/* ---- progress ---- */

bool front_progress(void)
{
    fiber_progress(&pool);
    return pool.busy != NULL;
}

bool front_request_pause(const fiber_queue *queue)
{
    if (!fiber_is_running(queue))
        return front_progress();
    fiber_pause(queue);
    return true;
}

void front_requests_finish(const fiber_queue *queue)
{
    while (queue->first != NULL)
        front_progress();
}
