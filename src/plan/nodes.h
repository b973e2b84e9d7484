/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The choice of nodes, whatever a node costs. For this folder only.
 */
#ifndef PLAN_NODES_H
#define PLAN_NODES_H

#include "lap/lap.h"
#include "plan/costs.h"

/* Least sum of costs, at most seats[n] domains on node n. -EINVAL: fewer seats than domains;
 * -ERANGE; -ENOMEM. */
int choose_nodes(const struct costs *costs, const size_t *seats, const lap_solver *solver,
                 size_t *node_of_domain, double *total);

#endif
