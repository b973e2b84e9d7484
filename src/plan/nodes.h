/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Assignment of domains to nodes for any costs. For this folder only.
 */
#ifndef PLAN_NODES_H
#define PLAN_NODES_H

#include "lap/lap.h"
#include "plan/costs.h"

/* Minimum sum of costs, at most capacity[n] domains on node n. -EINVAL: less capacity than domains;
 * -ERANGE; -ENOMEM. */
int choose_nodes(const struct costs *costs, const size_t *capacity, const lap_solver *solver,
                 size_t *node_of_domain, double *total);

#endif
