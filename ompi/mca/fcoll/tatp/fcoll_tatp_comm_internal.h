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
    int rank, size;
    int *local; /* ranks of this node, ascending */
    int locals;
    int *leader;               /* of all nodes, as their ranks see them, ascending */
    int leaders, leader_index; /* of this node's leader; 0 leaders: not known yet */
    int64_t metadata;          /* bytes of messages of int64 that were sent */
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
 * not arrive any more, so that not only what waits for that rank would wait for ever. */
static inline void tatp_comm_check_loss(tatp_comm *comm)
{
    if (compat_has_lost(comm->communicator, &comm->lost_before))
        compat_revoke(comm->communicator);
}

/* An element of each rank; for blocking calls. */
int tatp_allgather(tatp_comm *comm, int own, int *all);
/* Starts to send; tatp_wait completes it. */
int tatp_isend(tatp_comm *comm, const void *data, size_t bytes, int peer, enum tatp_tag tag,
               ompi_request_t **request);
/* As tatp_receive, of a message that may be shorter: *bytes becomes its length. */
int tatp_receive_some(tatp_comm *comm, void *data, size_t *bytes, int peer, enum tatp_tag tag);

/* Sends a message of any number of elements. */
int tatp_message_send(tatp_comm *comm, const int64_t *element, size_t count, int peer,
                      enum tatp_tag tag);

#endif
