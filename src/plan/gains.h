/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gain of a unit on each node: its hop-bytes, negated; with a flat topology the hop-bytes saved
 * by bytes that stay on their node. For auction.c only.
 */
#ifndef PLAN_GAINS_H
#define PLAN_GAINS_H

#include "base/arena.h"
#include "matrix/matrix.h"
#include "plan/distance.h"

typedef struct gains {
    const matrix *bytes;
    const topo *topology;

    /* All NULL for a flat topology. */
    double *entry; /* of each entry of `bytes`: on its node */
    double *away;  /* of each entry: on another node of the same class */
    double *far;   /* of each unit: upper bound for classes without entries */
    float *hops;   /* hops[q * stride + p]: from class p to a node of q; exact below 2^24 */
    size_t stride;
    double *class; /* result of gains_of_classes, `stride` entries */
} gains;

/* Allocates in the arena. -ENOMEM. */
int gains_set_up(gains *g, struct base_arena *arena, const matrix *bytes, const topo *t);

static inline double gain_of_entry(const gains *g, size_t e)
{
    return g->entry != NULL ? g->entry[e]
                            : (TOPO_OTHER_NODE - TOPO_SAME_NODE) * (double)g->bytes->value[e];
}

/* Finds the gain of a unit in each class, on a node that does not access it: g->class[p], -INFINITY
 * for the classes of its entries. Makes g->far[unit] exact. O(entries of the unit * classes). */
void gains_of_classes(gains *g, size_t unit);

#endif
