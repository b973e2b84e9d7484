/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An assignment in two steps, nodes and then ranks. For this folder only.
 */
#ifndef PLAN_STEPS_H
#define PLAN_STEPS_H

#include "lap/lap.h"
#include "plan/classes.h"
#include "plan/sums.h"

/* Minimum cost over `classes`, where each byte that the aggregator accesses itself saves `own`.
 * *total, the cost as though each domain had the best rank of its node, is a lower bound. */
struct two_steps {
    const plan_input *in;
    struct held held;
    const struct classes *classes;
    double own;
    const lap_solver *solver;
};

/* -EINVAL: not enough capacity for all domains, a node is out of range; -ERANGE; -ENOMEM. */
int assign_in_two_steps(const struct two_steps *steps, size_t *rank_of_domain, double *total);

/* Minimum hop-bytes by these steps, for problems of any size. Errors as above. */
int assign_large(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain,
                 double *bound);

/* Assigns domains with known nodes to ranks. -ENOMEM. */
int assign_ranks(const matrix *requests, const struct ranks *ranks, const size_t *node_of_domain,
                 const lap_solver *solver, size_t *rank_of_domain);

#endif
