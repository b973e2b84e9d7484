/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is on which node: the check that all of plan shares, and the ranks node by node. For this
 * folder only.
 */
#ifndef PLAN_INPUT_H
#define PLAN_INPUT_H

#include "plan/problem.h"

/* Ranks of node n: rank[start[n]] .. rank[start[n + 1] - 1], ascending. */
struct ranks {
    size_t nodes;
    size_t *start, *rank;
};

/* -EINVAL where a rank's node is not one of the topology, or sums by node have another shape. */
int plan_check_nodes(const plan_input *in);

/* -EINVAL as above, or where a rank of the assignment is out of range. */
int plan_check_assignment(const plan_input *in, const size_t *rank_of_domain);

/* -EINVAL as above; -ENOMEM. */
int plan_list_ranks(const plan_input *in, struct ranks *ranks);
void plan_release_ranks(struct ranks *ranks);

/* Bytes of domains and the node that they are on: rows of ranks or, where these are not complete,
 * of nodes. */
static inline const matrix *plan_bytes_on_nodes(const plan_input *in)
{
    return in->node_bytes != NULL ? in->node_bytes : in->requests;
}

static inline size_t plan_node_of_row(const plan_input *in, size_t row)
{
    return in->node_bytes != NULL ? row : in->node_of_rank[row];
}

/* Domains that node n may serve: its ranks, within per_node. */
size_t plan_seats(size_t ranks_on_node, size_t per_node, size_t domains);

#endif
