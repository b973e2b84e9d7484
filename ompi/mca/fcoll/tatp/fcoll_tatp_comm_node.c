/* SPDX-License-Identifier: BSD-3-Clause */
/* From all ranks to the leader of their node, which adds them up, and from the leaders to rank 0.
 *
 * A message of one element is an error class, or 0: the sender has no elements. */
#include <stdlib.h>

#include "fcoll_tatp_comm_internal.h"

static int send_or_fail(tatp_comm *comm, const tatp_message *message, int rc, int peer,
                        enum tatp_tag tag)
{
    int64_t class = tatp_error_class(rc);
    bool has_elements = OMPI_SUCCESS == rc && message->count > 0;
    return tatp_message_send(comm, has_elements ? message->element : &class,
                             has_elements ? message->count : 1, peer, tag);
}

/* Waits for a message of any rank. The sender's error is the result. */
static int receive_or_fail(tatp_comm *comm, enum tatp_tag tag, tatp_message *message)
{
    bool found = false;
    int rc = OMPI_SUCCESS;
    while (OMPI_SUCCESS == rc && !found) {
        rc = tatp_message_poll(comm, tag, message, &found);
        if (OMPI_SUCCESS == rc && !found)
            rc = tatp_progress(comm);
    }
    if (OMPI_SUCCESS == rc && 1 == message->count) {
        rc = (int)message->element[0];
        message->count = 0;
    }
    return rc;
}

/* Receives the message of every sender, whatever happens. Returns the first error. */
static int add_senders(tatp_comm *comm, enum tatp_tag tag, int64_t senders,
                       int (*add)(void *, const tatp_message *), void *sum, int rc)
{
    for (int64_t i = 0; i < senders; i++) {
        tatp_message message = {0};
        int received = receive_or_fail(comm, tag, &message);
        if (OMPI_SUCCESS == rc)
            rc = received;
        if (OMPI_SUCCESS == rc && message.count > 0)
            rc = add(sum, &message);
        free(message.element);
    }
    return rc;
}

int tatp_gather_by_node(tatp_comm *comm, const tatp_node_gather *gather, void *sum,
                        const tatp_message *own, int rc)
{
    int sent = OMPI_SUCCESS;
    tatp_message node = {.from = comm->rank};
    if (tatp_comm_is_leader(comm)) {
        if (OMPI_SUCCESS == rc)
            rc = gather->add_rank(sum, own);
        rc = add_senders(comm, gather->to_leader, comm->locals - 1, gather->add_rank, sum, rc);
        if (OMPI_SUCCESS == rc)
            rc = gather->node_sum(sum, &node);
    } else {
        sent = send_or_fail(comm, own, rc, comm->local[0], gather->to_leader);
    }
    if (0 == comm->rank) {
        if (OMPI_SUCCESS == rc && node.count > 0)
            rc = gather->add_node(sum, &node);
        rc = add_senders(comm, gather->to_root, comm->leaders - 1, gather->add_node, sum, rc);
    } else if (tatp_comm_is_leader(comm)) {
        sent = send_or_fail(comm, &node, rc, 0, gather->to_root);
    }
    free(node.element);
    return OMPI_SUCCESS != rc ? rc : sent;
}
