/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks that access most of a domain, on each node. For this folder only.
 */
#ifndef PLAN_BEST_H
#define PLAN_BEST_H

#include <stdbool.h>

#include "plan/costs.h"

struct best_rank {
    size_t place; /* index in costs.ranks.item */
    double bytes;
};

/* Of entry e of the sums, a domain and a node: rank[start[e]] .. rank[start[e + 1] - 1], in the
 * order of places; no more than the node has capacity, of equal ranks the first. */
struct best {
    size_t *start;
    struct best_rank *rank;
};

/* Of the wanted entries; the others have no ranks. In the arena of the costs, in O(nnz * capacity)
 * time. -ENOMEM. */
int find_best(struct costs *costs, const matrix *requests, const bool *wanted, struct best *best);

#endif
