/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks send to the leader of their node, and leaders to rank 0, by those that pass on what a group
 * of them sends: no rank has many senders, and none but rank 0 has much to receive. A message of
 * one element is an error class, or 0: the sender has no elements. */
#include <errno.h>
#include <stdlib.h>

#include "access/encoding.h"
#include "collective/group.h"

static int send_or_fail(coll_group *group, const coll_message *message, int rc, int peer,
                        enum coll_tag tag)
{
    int64_t class = group->runtime->error_class(rc);
    bool has_elements = rc == 0 && message->count > 0;
    return coll_message_send(group, has_elements ? message->element : &class,
                             has_elements ? message->count : 1, peer, tag);
}

/* The senders of a tag add to one sum. */
typedef struct addition {
    coll_add *add;
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

static int add_senders(coll_group *group, enum coll_tag tag, int senders, coll_add *add, void *sum,
                       int rc)
{
    addition a = {add, sum, rc != 0};
    const coll_arrivals arrivals = {
        .tag = tag, .expected = (size_t)senders, .take = take_addend, .context = &a};
    return coll_message_complete(group, &arrivals, NULL, 0, rc);
}

int coll_gather_node(coll_group *group, enum coll_tag tag, const coll_message *own, coll_add *add,
                     void *sum, int rc)
{
    if (!group->is_leader) {
        int sent = send_or_fail(group, own, rc, group->local[0], tag);
        return rc != 0 ? rc : sent;
    }
    if (rc == 0)
        rc = add(sum, own->from, own->element, own->count);
    return add_senders(group, tag, group->locals - 1, add, sum, rc);
}

/* ---- on to rank 0 ---- */

/* A message has, for each rank with elements, the rank, their number, and these; totals are those
 * of the rank TOTALS. */
enum { RANK, COUNT, HEAD, TOTALS = -1 };
typedef struct passage {
    int senders, receiver; /* of this rank; the latter is negative on rank 0 */
    access_message message;
    size_t totals; /* where they begin in the message; 0: there are none yet */
    coll_add *add; /* at rank 0, which keeps none of them */
    void *sum;
} passage;

static int add_totals(int64_t *total, const int64_t *element, size_t count)
{
    bool overflows = false;
    for (size_t i = 0; i < count; i++)
        overflows |= __builtin_add_overflow(total[i], element[i], &total[i]);
    return overflows ? -ERANGE : 0;
}

static int pass_on(void *context, int from, const int64_t *element, size_t count)
{
    const int64_t head[HEAD] = {[RANK] = from, [COUNT] = (int64_t)count};
    passage *p = context;
    if (from == TOTALS && p->totals > 0)
        return add_totals(p->message.element + p->totals, element, count);
    int rc = access_message_append(&p->message, head, HEAD);
    if (from == TOTALS)
        p->totals = p->message.count;
    return rc == 0 ? access_message_append(&p->message, element, count) : rc;
}

static int take_passed(void *context, int from, const int64_t *element, size_t count)
{
    const passage *p = context;
    const int64_t *end = element + count;
    int rc = 0;
    (void)from;
    for (; element < end && rc == 0; element += HEAD + element[COUNT])
        rc = p->add(p->sum, (int)element[RANK], element + HEAD, (size_t)element[COUNT]);
    return rc;
}

static int gather_along(coll_group *group, enum coll_tag tag, passage *p, const coll_message *own,
                        const coll_message *totals, int rc)
{
    bool is_root = p->receiver < 0;
    int sent = 0;
    if (!is_root) {
        p->add = pass_on;
        p->sum = p;
    }
    if (rc == 0 && own->count > 0)
        rc = p->add(p->sum, own->from, own->element, own->count);
    if (rc == 0 && totals->count > 0)
        rc = p->add(p->sum, TOTALS, totals->element, totals->count);
    rc = add_senders(group, tag, p->senders, take_passed, p, rc);
    if (!is_root) {
        const coll_message passed = {.element = p->message.element, .count = p->message.count};
        sent = send_or_fail(group, &passed, rc, p->receiver, tag);
    }
    free(p->message.element);
    return rc != 0 ? rc : sent;
}

/* Returns the receiver of a leader, -1 on rank 0. Of n leaders about sqrt(n) have as many senders,
 * which are those that follow them; rank 0 has these leaders besides. Few leaders send to rank 0.
 */
static int find_receiver(const coll_group *group, int *senders)
{
    int width = 16, index = group->leader_index;
    while (width * width < group->leaders)
        width++;
    int behind = group->leaders - index - 1;
    bool passes = index % width == 0;
    *senders = !passes ? 0 : behind < width - 1 ? behind : width - 1;
    if (index == 0)
        *senders += (group->leaders - 1) / width;
    return index == 0 ? -1 : group->leader[passes ? 0 : index - index % width];
}

int coll_gather_leaders(coll_group *group, enum coll_tag tag, const coll_message *own,
                        const coll_message *totals, coll_add *add, void *sum, int rc)
{
    passage p = {.add = add, .sum = sum};
    p.receiver = find_receiver(group, &p.senders);
    return gather_along(group, tag, &p, own, totals, rc);
}

int coll_gather_ranks(coll_group *group, enum coll_tag tag, const coll_message *own, coll_add *add,
                      void *sum, int rc)
{
    passage p = {.receiver = group->local[0], .add = add, .sum = sum};
    if (group->is_leader) {
        p.receiver = find_receiver(group, &p.senders);
        p.senders += group->locals - 1;
    }
    return gather_along(group, tag, &p, own, &(coll_message){0}, rc);
}
