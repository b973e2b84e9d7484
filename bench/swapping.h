/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A placement that changes by swaps of two ranks, or of a rank and a free slot. Private to this
 * folder.
 */
#ifndef BENCH_SWAPPING_H
#define BENCH_SWAPPING_H

#include "setmatch/affinity.h"

/* Places: the ranks, then the free slots, which are ranks without neighbours. */
typedef struct swapping {
    const affinity *ranks;
    size_t nodes, places;
    size_t *node;    /* by place; the caller fills it */
    int64_t *weight; /* weight[v * nodes + n]: of the arcs of rank v to node n */
} swapping;

/* The arena owns the memory. -ENOMEM, also if an earlier allocation there failed. */
int swapping_init(swapping *s, struct base_arena *arena, const affinity *ranks, size_t nodes,
                  size_t places);

/* Computes weight[] from node[]. */
void swapping_weigh(swapping *s);

/* By how much swapping two places on different nodes reduces the cut. */
int64_t swapping_gain(const swapping *s, size_t a, size_t b);

/* An upper bound of the gain, exact unless the two are adjacent, that is faster to compute. */
static inline int64_t swapping_most_gain(const swapping *s, size_t a, size_t b)
{
    const int64_t *of_a = s->weight + a * s->nodes, *of_b = s->weight + b * s->nodes;
    size_t from = s->node[a], to = s->node[b], ranks = s->ranks->vertices;
    return (a < ranks ? of_a[to] - of_a[from] : 0) + (b < ranks ? of_b[from] - of_b[to] : 0);
}

void swapping_apply(swapping *s, size_t a, size_t b);

#endif
