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
    MPI_Request handle; /* MPI_REQUEST_NULL: the program has none */
    MPI_File file;      /* that it is of */
    int error;          /* the class, and ... */
    int64_t moved;      /* ... bytes, when it has run */
    atomic_int users;   /* the queue, and the MPI until it frees the handle */
} front_request;

/* `bytes` for a zeroed object that begins with a request, and a stack for it. NULL if memory is
 * exhausted. */
void *front_request_new(size_t bytes);
/* Starts `run`, which is called with on_stack and fills error and `moved`; the object is freed
 * when nobody needs it any more. handle: NULL if the program is to have none; also MPI_REQUEST_NULL
 * where the MPI has an error, which is returned. */
int front_request_start(fiber_queue *queue, front_request *request, void (*run)(fiber_call *call),
                        MPI_Request *handle);

/* The error of requests that this thread has completed since the last time, and its file, which may
 * be closed; 0: none. The source of a status with an error is FRONT_FAILED, and its tag the error.
 */
int front_request_take_error(MPI_File *file);
enum { FRONT_FAILED = -4711 };

/* Where a call on the file of this queue waits: leaves its stack, or lets calls on other files
 * continue. False: there are none. */
bool front_request_pause(const fiber_queue *queue);
/* Until the queue is empty. */
void front_requests_finish(const fiber_queue *queue);

#endif
