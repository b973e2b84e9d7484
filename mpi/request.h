/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Non-blocking calls, as generalized requests of the MPI. They run on stacks of their own
 * (base/fiber.h), while the program waits for requests or tests them, or is in a blocking
 * collective call on a file.
 */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include <stdint.h>

#include "base/fiber.h"
#include "mpi/calls.h"

typedef struct front_request {
    fiber_call on_stack;
    MPI_Request handle; /* that the program has */
    MPI_File file;      /* that it is of */
    int error;          /* the class, and ... */
    int64_t moved;      /* ... bytes, when it has run */
    atomic_int users;   /* the queue, and the MPI until it frees the handle */
} front_request;

/* `bytes` for a zeroed object that begins with a request, a stack for it, and its handle. NULL, and
 * MPI_REQUEST_NULL, if memory is exhausted. */
void *front_request_new(size_t bytes, MPI_Request *handle);
/* Starts `run`, which is called with on_stack and fills error and `moved`; the object is freed
 * when nobody needs it any more. */
void front_request_start(fiber_queue *queue, front_request *request, void (*run)(fiber_call *call));

/* The MPI has asked requests for their status in this thread. */
typedef struct front_failure {
    int error;     /* of one of them; 0: none has failed */
    MPI_File file; /* of that one, which may be closed */
    int mark; /* the source of their statuses, whose tag is the error, and of no other status */
} front_failure;

/* Whether a request has failed that a function has completed. flag: whether it has completed them;
 * NULL: it has. */
bool front_request_take_failure(const int *flag, front_failure *failure);

/* A call on the file of this queue waits: it leaves its stack, or lets calls on other files
 * continue. False: there are none. */
bool front_request_pause(const fiber_queue *queue);
/* Lets calls continue until the queue is empty. */
void front_requests_finish(const fiber_queue *queue);

#endif
