/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI as the runtime of src/collective, for blocking and non-blocking calls alike.
 *
 * A blocking call waits inside Open MPI's progress. A non-blocking one runs on a stack of its own
 * (fcoll_tatp_request.c), which it leaves whenever it would wait. Everything that waits is in this
 * module. */
#ifndef MCA_FCOLL_TATP_COMM_H
#define MCA_FCOLL_TATP_COMM_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/compat/compat_loss.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_error.h"
#include "ompi/request/request.h"

#include "base/fiber.h"
#include "collective/runtime.h"

/* A call that runs later, on a stack of its own. Those of one tatp_comm run one after another, in
 * the order of their start, which is the same on all ranks. */
typedef struct tatp_request tatp_request;

/* Zero at first. */
typedef struct tatp_comm {
    struct ompi_communicator_t *communicator;
    coll_runtime runtime;    /* has values as soon as there is a communicator */
    fiber_queue queue;       /* the non-blocking calls on the file */
    ompi_request_t *awaited; /* by the one that runs; NULL if it polls */
    bool has_lost;           /* a rank: nothing is waited for any more */
    int lost_before;         /* processes, at the last look */
} tatp_comm;

/* Uses this communicator from now on, which has the ranks of the one before. Local. */
void tatp_comm_attach(tatp_comm *comm, struct ompi_communicator_t *communicator);
/* A rank without a tatp_comm takes part in a reduction of maxima by it. */
int tatp_reduce_max(struct ompi_communicator_t *communicator, int64_t *value, size_t count);

/* ---- non-blocking calls (fcoll_tatp_request.c) ---- */

/* Allocates all that the call takes; `run` returns its error and fills the status. `release` frees
 * the call. NULL if memory is exhausted, and the call is not released. */
tatp_request *tatp_request_new(int (*run)(void *call, ompi_status_public_t *status),
                               void (*release)(void *call), void *call);
/* Frees a request that was not started, and its call; NULL is allowed. */
void tatp_request_free(tatp_request *request);
/* Starts the call; *handle is what the user waits for. */
void tatp_request_start(tatp_comm *comm, struct ompi_file_t *file, tatp_request *request,
                        ompi_request_t **handle);
/* Waits until all calls started on this tatp_comm are complete. */
void tatp_requests_finish(const tatp_comm *comm);
void tatp_requests_release(void); /* what is kept for later calls: for the component's close */

/* ---- inside this module ---- */

/* A non-blocking call leaves its stack until `awaited` is complete, or (NULL) until the next
 * progress. */
void tatp_comm_pause(tatp_comm *comm, ompi_request_t *awaited);

/* Revokes a communicator that has lost a rank, which ends all that waits for messages. A rank that
 * is lost while it sends may leave shared memory in a state in which those of others do not arrive
 * any more, so that not only what waits for that rank would wait without end. */
static inline void tatp_comm_check_loss(tatp_comm *comm)
{
    if (compat_has_lost(comm->communicator, &comm->lost_before))
        compat_revoke(comm->communicator);
}

#endif
