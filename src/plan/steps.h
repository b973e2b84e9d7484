/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of an assignment. For this folder only.
 */
#ifndef PLAN_STEPS_H
#define PLAN_STEPS_H

#include "lap/lap.h"
#include "plan/costs.h"

/* Why an assignment of domains to nodes is the least, in the arena of the costs: the cost of a
 * domain on a node is at least the sum of both duals, and the same where it was assigned. */
struct node_proof {
    double total;
    const double *domain_dual, *node_dual;
    const size_t *quota; /* of each domain: the length of its list */
};

/* Domains to nodes: minimum sum of costs, within the capacity of each node, as though each domain
 * had the best rank of its node: a lower bound of any assignment. -EINVAL: less capacity than
 * domains; -ERANGE; -ENOMEM. */
int choose_nodes(struct costs *costs, size_t *node_of_domain, struct node_proof *proof);

/* Assigns domains with known nodes to the ranks of these, so that the bytes that ranks access of
 * their own domains are maximal. -ENOMEM. */
int assign_ranks(struct costs *costs, const matrix *requests, const size_t *node_of_domain,
                 const lap_solver *solver, size_t *rank_of_domain);

/* One after the other. Errors as above. */
int assign_in_two_steps(struct costs *costs, const matrix *requests, const lap_solver *solver,
                        size_t *rank_of_domain, struct node_proof *proof);

/* Domains to ranks at once: the minimum. `known` is the cost of an assignment, such as that by two
 * steps. Errors as above. */
int choose_ranks(struct costs *costs, const plan_input *in, const lap_solver *solver,
                 const struct node_proof *proof, double known, size_t *rank_of_domain,
                 double *total);

/* Moves domains to ranks of their nodes that are nearer to the network, where a domain saves as
 * much as before: hop-bytes and loads stay. Only ranks that `requests`, or savings, list for a
 * domain can get it. -ENOMEM. */
int prefer_network(const plan_input *in, size_t *rank_of_domain);

#endif
