/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is on which node: the check that all of plan shares, and the ranks node by node. For this
 * folder only.
 */
#ifndef PLAN_INPUT_H
#define PLAN_INPUT_H

#include "plan/plan.h"

/* Ranks of node n: rank[start[n]] .. rank[start[n + 1] - 1], ascending. */
struct ranks {
    size_t nodes;
    size_t *start, *rank;
};

/* -EINVAL where a rank's node is not one of the topology. */
int plan_check_nodes(const plan_input *in);

/* -EINVAL as above; -ENOMEM. */
int plan_list_ranks(const plan_input *in, struct ranks *ranks);
void plan_release_ranks(struct ranks *ranks);

/* Domains that node n may serve: its ranks, within per_node. */
size_t plan_seats(size_t ranks_on_node, size_t per_node, size_t domains);

#endif
