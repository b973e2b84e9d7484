/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What it costs to have a domain served on a node. For this folder only.
 */
#ifndef PLAN_COSTS_H
#define PLAN_COSTS_H

#include "plan/places.h"
#include "plan/sums.h"

/* `own`: what each byte saves that the serving rank accesses itself, taken for the best rank. */
struct costs {
    const struct places *places;
    const struct sums *sums;
    double own;
    double *at_places;
};

/* Up to O(nnz + places * places * domains) time, less where few places access a domain. -ENOMEM. */
int costs_init(struct costs *costs, const struct places *places, const struct sums *sums,
               double own);
void costs_release(struct costs *costs);

/* For each place the hop-bytes of domain j on a node there that accesses none of it. */
static inline const double *costs_at_places(const struct costs *costs, size_t j)
{
    return costs->at_places + j * costs->places->count;
}

/* The same on the node of entry e of the sums. */
static inline double cost_of_entry(const struct costs *costs, const double *at_place, size_t e)
{
    const struct places *places = costs->places;
    size_t p = places->of_node[costs->sums->node[e]];
    return at_place[p] - (places->within[p] - places->same) * costs->sums->bytes[e] -
           costs->own * costs->sums->most[e];
}

#endif
