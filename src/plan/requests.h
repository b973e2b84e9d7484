/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a decision needs, as messages from the ranks to the leaders of their nodes and from those to
 * the process that plans, the root: C (plan/rows.h), and where domains may be fitted the bytes of
 * each node in each unit.
 *
 * A message is an array of int64 elements, never exactly one: the number of elements of C, those,
 * and the steps of units. One without elements says nothing. Functions return 0 or a negative errno
 * value; a message that is made is the caller's to free.
 */
#ifndef PLAN_REQUESTS_H
#define PLAN_REQUESTS_H

#include "plan/pieces.h"
#include "plan/rows.h"

/* What a process adds up. Set the members; zeroed is the beginning of what is not stated. */
typedef struct request_sums {
    size_t units, most_units;   /* their number, 0: they are not counted; of a node at most */
    rows_node node;             /* at a leader: as for rows_node_add ... */
    int64_t *unit_bytes;        /* ... and the bytes of the node in each unit */
    rows_builder all;           /* at the root: rows_builder_new ... */
    pieces_bytes *all_units;    /* ... and the bytes of all nodes; the caller's */
    const size_t *node_of_rank; /* borrowed */
} request_sums;

/* Of a rank: its shares, and what it accesses in each unit (units: NULL is allowed). -ENOMEM. */
int requests_describe(const domain_share *share, size_t shares, const pieces *units,
                      const access_list *accesses, int64_t **element, size_t *count);

/* At a leader: adds the message of a rank of its node, and makes that of the node. sums: a
 * request_sums. -EINVAL: malformed; -ERANGE; -ENOMEM. */
int requests_add_rank(void *sums, int rank, const int64_t *element, size_t count);
int requests_sum_node(void *sums, int64_t **element, size_t *count);

/* At the root: adds the message of a node, by the rank of its leader, or sums of what nodes have
 * unlisted (plan/rows.h), of rank -1. Errors as above. */
int requests_add_node(void *sums, int leader, const int64_t *element, size_t count);

/* Releases the memory, but not all_units. */
void requests_release(request_sums *sums);

#endif
