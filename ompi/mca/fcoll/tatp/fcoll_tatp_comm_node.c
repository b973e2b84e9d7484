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

/* Of the senders of a tag. */
typedef struct addition {
    int (*add)(void *sum, int from, const int64_t *element, size_t count);
    void *sum;
    bool has_failed; /* the sum is no longer needed */
} addition;

static int take_addend(void *context, tatp_message *message)
{
    addition *a = context;
    int rc = OMPI_SUCCESS;
    if (1 == message->count)
        rc = (int)message->element[0];
    else if (message->count > 0 && !a->has_failed)
        rc = tatp_from_errno(a->add(a->sum, message->from, message->element, message->count));
    a->has_failed = a->has_failed || OMPI_SUCCESS != rc;
    return rc;
}

static int add_senders(tatp_comm *comm, enum tatp_tag tag, int senders,
                       int (*add)(void *, int, const int64_t *, size_t), void *sum, int rc)
{
    addition a = {add, sum, OMPI_SUCCESS != rc};
    const tatp_arrivals arrivals = {
        .tag = tag, .expected = (size_t)senders, .take = take_addend, .context = &a};
    return tatp_message_complete(comm, &arrivals, NULL, 0, rc);
}

int tatp_gather_by_node(tatp_comm *comm, const tatp_node_gather *gather, void *sum,
                        const tatp_message *own, int rc)
{
    int sent = OMPI_SUCCESS;
    tatp_message node = {.from = comm->rank};
    if (tatp_comm_is_leader(comm)) {
        if (OMPI_SUCCESS == rc)
            rc = tatp_from_errno(gather->add_rank(sum, own->from, own->element, own->count));
        rc = add_senders(comm, gather->to_leader, comm->locals - 1, gather->add_rank, sum, rc);
        if (OMPI_SUCCESS == rc)
            rc = tatp_from_errno(gather->node_sum(sum, &node.element, &node.count));
    } else {
        sent = send_or_fail(comm, own, rc, comm->local[0], gather->to_leader);
    }
    if (0 == comm->rank) {
        if (OMPI_SUCCESS == rc && node.count > 0)
            rc = tatp_from_errno(gather->add_node(sum, node.from, node.element, node.count));
        rc = add_senders(comm, gather->to_root, comm->leaders - 1, gather->add_node, sum, rc);
    } else if (tatp_comm_is_leader(comm)) {
        sent = send_or_fail(comm, &node, rc, 0, gather->to_root);
    }
    free(node.element);
    return OMPI_SUCCESS != rc ? rc : sent;
}
