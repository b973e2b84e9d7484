/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An assignment in two steps, nodes and then ranks. For this folder only.
 */
#ifndef PLAN_STEPS_H
#define PLAN_STEPS_H

#include "lap/lap.h"
#include "plan/costs.h"

/* Domains to nodes: minimum sum of costs, within the capacity of each node. Allocates in the arena
 * of the costs. -EINVAL: less capacity than domains; -ERANGE; -ENOMEM. */
int choose_nodes(struct costs *costs, const lap_solver *solver, size_t *node_of_domain,
                 double *total);

/* Minimum cost. *total, the cost as though each domain had the best rank of its node, is a lower
 * bound. -EINVAL: not enough capacity for all domains, a node is out of range; -ERANGE; -ENOMEM. */
int assign_in_two_steps(const plan_input *in, const struct held *held, const lap_solver *solver,
                        size_t *rank_of_domain, double *total);

/* Minimum hop-bytes by these steps, for problems of any size. Errors as above. */
int assign_large(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                 double *bound);

/* Assigns domains with known nodes to ranks; `arena` is for scratch. -ENOMEM. */
int assign_ranks(struct base_arena *arena, const matrix *requests, const struct groups *ranks,
                 const size_t *node_of_domain, const lap_solver *solver, size_t *rank_of_domain);

#endif
