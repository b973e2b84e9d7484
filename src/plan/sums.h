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
    double *most;  /* maximum of one of these ranks */
};

/* The summands: bytes, or the blocks that LATP counts. */
struct held {
    const matrix *by_rank;
    const matrix *by_node; /* the sums, if by_rank has the largest entries only; else NULL */
    int count_entries;     /* each entry of by_rank that is not 0 counts 1 */
};

static inline struct held held_bytes(const plan_input *in)
{
    return (struct held){.by_rank = in->requests, .by_node = in->node_bytes};
}

/* O(nnz + p + nodes + a) time. -ENOMEM. Release with sums_release. */
int sums_of_ranks(const struct held *held, const struct ranks *ranks, struct sums *sums);

void sums_release(struct sums *sums);

#endif
