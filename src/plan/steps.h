/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of an assignment. For this folder only.
 */
#ifndef PLAN_STEPS_H
#define PLAN_STEPS_H

#include "plan/costs.h"

/* Domains to nodes: minimum sum of costs, within the capacity of each node, as though each domain
 * had the best rank of its node. -EINVAL: less capacity than domains; -ERANGE; -ENOMEM. */
int choose_nodes(struct costs *costs, size_t *node_of_domain);

/* Assigns domains with known nodes to the ranks of these, so that the bytes that ranks access of
 * their own domains are maximal. -ENOMEM. */
int assign_ranks(struct costs *costs, const matrix *requests, const size_t *node_of_domain,
                 size_t *rank_of_domain);

/* One after the other. Errors as above. */
int assign_in_two_steps(struct costs *costs, const matrix *requests, size_t *rank_of_domain);

/* Moves domains to ranks of their nodes that are nearer to the network, where a domain saves as
 * much as before: hop-bytes and loads stay. Only ranks that `requests` list for a domain can get
 * it. -ENOMEM. */
int prefer_near_ranks(const plan_input *in, size_t *rank_of_domain);

#endif
