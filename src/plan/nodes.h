/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Assignment of domains to nodes for any costs. For this folder only.
 */
#ifndef PLAN_NODES_H
#define PLAN_NODES_H

#include "lap/lap.h"
#include "plan/costs.h"

/* Minimum sum of costs, within the capacity of each node. Allocates in the arena of the costs.
 * -EINVAL: less capacity than domains; -ERANGE; -ENOMEM. */
int choose_nodes(struct costs *costs, const lap_solver *solver, size_t *node_of_domain,
                 double *total);

#endif
