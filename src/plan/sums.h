/* SPDX-License-Identifier: BSD-3-Clause
 *
 * C summed over the ranks of each node, domain by domain. For this folder only.
 */
#ifndef PLAN_SUMS_H
#define PLAN_SUMS_H

#include "plan/input.h"

/* Domain j: entries start[j] .. start[j + 1] - 1, nodes ascending, each node once. */
struct sums {
    size_t nodes, domains;
    size_t *start;
    size_t *node;
    double *bytes; /* of the domain, accessed by the ranks of the node */
    double *most;  /* by one of them */
};

/* count_entries: each entry of `requests` that is not 0 counts 1. O(nnz + p + nodes + a) time.
 * -ENOMEM. Release with sums_release. */
int sums_of_ranks(const matrix *requests, const struct ranks *ranks, int count_entries,
                  struct sums *sums);

/* The same from sums that are nodes x domains. -ENOMEM. */
int sums_of_nodes(const plan_node_requests *in, struct sums *sums);

void sums_release(struct sums *sums);

#endif
