/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of assigning a domain to a node. For this folder only.
 */
#ifndef PLAN_COSTS_H
#define PLAN_COSTS_H

#include "plan/classes.h"
#include "plan/sums.h"

struct costs {
    const struct classes *classes;
    const struct sums *sums;
    double own; /* saving per byte that the aggregator accesses itself, with the best rank */
    double *at_classes; /* domains x classes, see costs_at_classes */
};

/* Up to O(nnz + classes * classes * domains) time, less where few classes access a domain. -ENOMEM.
 */
int costs_init(struct costs *costs, const struct classes *classes, const struct sums *sums,
               double own);
void costs_release(struct costs *costs);

/* For each class the hop-bytes of domain j on a node of the class that accesses none of it. */
static inline const double *costs_at_classes(const struct costs *costs, size_t j)
{
    return costs->at_classes + j * costs->classes->count;
}

/* The same on the node of entry e of the sums. */
static inline double cost_of_entry(const struct costs *costs, const double *at_class, size_t e)
{
    const struct classes *classes = costs->classes;
    size_t p = classes->of_node[costs->sums->node[e]];
    return at_class[p] - (classes->within[p] - classes->same) * costs->sums->bytes[e] -
           costs->own * costs->sums->most[e];
}

#endif
