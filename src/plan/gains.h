/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a unit gains on each node: hop-bytes, negative, with a topology that is not flat; with a
 * flat one the hop-bytes saved by what need not leave its node. For auction.c only.
 */
#ifndef PLAN_GAINS_H
#define PLAN_GAINS_H

#include "matrix/matrix.h"
#include "plan/distance.h"

typedef struct gains {
    const matrix *bytes;
    const topo *topology;

    /* With a flat topology all NULL. */
    double *entry; /* of each entry of `bytes`: its node serves the unit */
    double *away;  /* of each entry: another node of the same class does */
    double *far;   /* of each unit: at most that much where no entry has its class */
    float *hops;   /* hops[q * stride + p]: from class p to a node at q; exact below 2^24 */
    size_t stride;
    double *class; /* what gains_of_classes found, `stride` entries */
} gains;

/* -ENOMEM. Release with gains_release in any case. */
int gains_set_up(gains *g, const matrix *bytes, const topo *t);

void gains_release(gains *g);

static inline double gain_of_entry(const gains *g, size_t e)
{
    return g->entry != NULL ? g->entry[e]
                            : (TOPO_OTHER_NODE - TOPO_SAME_NODE) * (double)g->bytes->value[e];
}

/* Finds the gain of a unit at each class, on a node that does not access it: g->class[p], -INFINITY
 * at the classes of its entries. Makes g->far[unit] exact. O(entries of the unit * classes). */
void gains_of_classes(gains *g, size_t unit);

#endif
