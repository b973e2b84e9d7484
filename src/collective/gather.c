/* SPDX-License-Identifier: BSD-3-Clause */
/* From all ranks to the leader of their node, which adds them up, and from the leaders to rank 0.
 *
 * A message of one element is an error class, or 0: the sender has no elements. */
#include <stdlib.h>

#include "collective/group.h"

static int send_or_fail(coll_group *group, const coll_message *message, int rc, int peer,
                        enum coll_tag tag)
{
    int64_t class = group->runtime->error_class(rc);
    bool has_elements = rc == 0 && message->count > 0;
    return coll_message_send(group, has_elements ? message->element : &class,
                             has_elements ? message->count : 1, peer, tag);
}

/* Of the senders of a tag. */
typedef struct addition {
    int (*add)(void *sum, int from, const int64_t *element, size_t count);
    void *sum;
    bool has_failed; /* the sum is no longer needed */
} addition;

static int take_addend(void *context, coll_message *message)
{
    addition *a = context;
    int rc = 0;
    if (message->count == 1)
        rc = (int)message->element[0];
    else if (message->count > 0 && !a->has_failed)
        rc = a->add(a->sum, message->from, message->element, message->count);
    a->has_failed = a->has_failed || rc != 0;
    return rc;
}

static int add_senders(coll_group *group, enum coll_tag tag, int senders,
                       int (*add)(void *, int, const int64_t *, size_t), void *sum, int rc)
{
    addition a = {add, sum, rc != 0};
    const coll_arrivals arrivals = {
        .tag = tag, .expected = (size_t)senders, .take = take_addend, .context = &a};
    return coll_message_complete(group, &arrivals, NULL, 0, rc);
}

int coll_gather_by_node(coll_group *group, const coll_node_gather *gather, void *sum,
                        const coll_message *own, int rc)
{
    int sent = 0;
    coll_message node = {.from = group->rank};
    if (coll_is_leader(group)) {
        if (rc == 0)
            rc = gather->add_rank(sum, own->from, own->element, own->count);
        rc = add_senders(group, gather->to_leader, group->locals - 1, gather->add_rank, sum, rc);
        if (rc == 0)
            rc = gather->node_sum(sum, &node.element, &node.count);
    } else {
        sent = send_or_fail(group, own, rc, group->local[0], gather->to_leader);
    }
    if (group->rank == 0) {
        if (rc == 0 && node.count > 0)
            rc = gather->add_node(sum, node.from, node.element, node.count);
        rc = add_senders(group, gather->to_root, group->leaders - 1, gather->add_node, sum, rc);
    } else if (coll_is_leader(group)) {
        sent = send_or_fail(group, &node, rc, 0, gather->to_root);
    }
    free(node.element);
    return rc != 0 ? rc : sent;
}
