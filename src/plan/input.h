/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of the input, and the ranks by node. For this folder only.
 */
#ifndef PLAN_INPUT_H
#define PLAN_INPUT_H

#include "plan/problem.h"

/* Ranks of node n: rank[start[n]] .. rank[start[n + 1] - 1], ascending. */
struct ranks {
    size_t nodes;
    size_t *start, *rank;
};

/* -EINVAL: a rank's node is out of range, or sums by node have the wrong shape. */
int plan_check_nodes(const plan_input *in);

/* -EINVAL as above, or where a rank of the assignment is out of range. */
int plan_check_assignment(const plan_input *in, const size_t *rank_of_domain);

/* -EINVAL as above; -ENOMEM. */
int plan_list_ranks(const plan_input *in, struct ranks *ranks);
void plan_release_ranks(struct ranks *ranks);

/* Bytes of domains by rank or, if these are incomplete, by node; and the node of a row of them. */
static inline const matrix *plan_bytes_on_nodes(const plan_input *in)
{
    return in->node_bytes != NULL ? in->node_bytes : in->requests;
}

static inline size_t plan_node_of_row(const plan_input *in, size_t row)
{
    return in->node_bytes != NULL ? row : in->node_of_rank[row];
}

/* The maximum number of domains on a node: its ranks, limited by per_node. */
size_t plan_capacity(size_t ranks_on_node, size_t per_node, size_t domains);

#endif
