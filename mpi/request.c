/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/request.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/front.h"

static fiber_pool pool = FIBER_POOL_INIT;
atomic_int front_requests;

/* ---- errors ---- */

/* An MPI ends the job where the query function of a generalized request returns an error, as the
 * request is of no file. Instead, the library's function that completes the request returns it. The
 * MPI also asks requests that the function does not complete, since others are not complete. */
static _Thread_local front_failure found;

/* Statuses that are not written, and request objects that the MPI uses again, have older ones. */
static int new_mark(void)
{
    static atomic_int next = INT_MIN;
    return next++;
}

bool front_request_take_failure(const int *flag, front_failure *failure)
{
    *failure = found;
    found.error = MPI_SUCCESS;
    if (failure->error == MPI_SUCCESS || (flag != NULL && *flag == 0))
        return false;
    found.mark = 0;
    return true;
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
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    if (request->error != MPI_SUCCESS) {
        const int mark = found.mark != 0 ? found.mark : new_mark();
        found = (front_failure){request->error, request->file, mark};
        status->MPI_SOURCE = mark;
        status->MPI_TAG = request->error;
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
    mpi.Grequest_complete(request->handle);
    release(request);
}

void *front_request_new(size_t bytes, MPI_Request *handle)
{
    front_request *request = calloc(1, bytes);
    const bool has_stack = request != NULL && fiber_reserve(&pool, &request->on_stack);
    *handle = MPI_REQUEST_NULL;
    if (has_stack &&
        mpi.Grequest_start(query, free_state, cancel, request, handle) == MPI_SUCCESS) {
        request->handle = *handle;
        return request;
    }
    if (has_stack)
        fiber_unreserve(&pool, &request->on_stack);
    free(request);
    return NULL;
}

void front_request_start(fiber_queue *queue, front_request *request, void (*run)(fiber_call *call))
{
    request->users = 2;
    request->on_stack.run = run;
    request->on_stack.end = end;
    front_requests++;
    fiber_start(&pool, queue, &request->on_stack);
    front_progress();
}

/* ---- progress ---- */

bool front_progress(void)
{
    fiber_progress(&pool);
    return pool.busy != NULL;
}

/* The last one is most often behind the others. The MPI has the object of a call that has ended. */
void front_run(int count, const void *requests)
{
    for (const MPI_Request *handle = requests; count-- > 0;) {
        const front_request *r = NULL;
        pthread_mutex_lock(&pool.lock);
        for (fiber_queue *q = pool.busy; q != NULL && r == NULL; q = q->next_busy)
            for (r = (const front_request *)q->first; r != NULL && r->handle != handle[count];)
                r = (const front_request *)r->on_stack.next;
        pthread_mutex_unlock(&pool.lock);
        while (r != NULL && r->users > 1)
            front_progress();
    }
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
