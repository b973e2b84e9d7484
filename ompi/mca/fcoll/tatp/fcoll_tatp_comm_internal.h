/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of module comm share. */
#ifndef MCA_FCOLL_TATP_COMM_INTERNAL_H
#define MCA_FCOLL_TATP_COMM_INTERNAL_H

#include "ompi/compat/compat_loss.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"

/* The non-blocking calls on one file. */
typedef struct tatp_queue {
    _Atomic(tatp_request *) first;
    tatp_request *running; /* the first one, while it has the processor */
    struct tatp_queue *next_busy;
} tatp_queue;

struct tatp_comm {
    struct ompi_communicator_t *communicator;
    coll_runtime runtime;
    tatp_queue queue;
    bool has_lost;   /* a rank: nothing is waited for any more */
    int lost_before; /* processes, at the last look */
};

/* Whether the caller is a non-blocking call, on a stack of its own. */
bool tatp_queue_is_running(const tatp_queue *queue);
/* Leaves that stack until `awaited` is complete, or (NULL) until the next progress. */
void tatp_queue_pause(tatp_queue *queue, ompi_request_t *awaited);

/* Where the communicator has lost a rank: revokes it, which ends all that waits for messages. A
 * rank that is lost while it sends may leave shared memory in a state in which those of others do
 * not arrive any more, so that not only what waits for that rank would wait without end. */
static inline void tatp_comm_check_loss(tatp_comm *comm)
{
    if (compat_has_lost(comm->communicator, &comm->lost_before))
        compat_revoke(comm->communicator);
}

#endif
