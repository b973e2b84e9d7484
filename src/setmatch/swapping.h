/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A placement in which ranks change places two by two. Private to this folder.
 */
#ifndef SETMATCH_SWAPPING_H
#define SETMATCH_SWAPPING_H

#include "setmatch/affinity.h"

/* A free slot is a rank without bonds: places are ranks, and free slots behind them. */
typedef struct swapping {
    const affinity *ranks;
    size_t nodes, places;
    size_t *node;   /* by place; the user fills it */
    int64_t *bound; /* bound[v * nodes + n]: what binds rank v to node n */
} swapping;

/* -ENOMEM. Release with swapping_release, also after an error. */
int swapping_init(swapping *s, const affinity *ranks, size_t nodes, size_t places);

void swapping_release(swapping *s);

/* After node[] was filled. */
void swapping_bind(swapping *s);

/* How much less is cut when places on different nodes are swapped. */
int64_t swapping_gain(const swapping *s, size_t a, size_t b);

/* The same as though nothing bound the two to each other: at least that much, and quicker to know.
 */
static inline int64_t swapping_most_gain(const swapping *s, size_t a, size_t b)
{
    const int64_t *of_a = s->bound + a * s->nodes, *of_b = s->bound + b * s->nodes;
    size_t from = s->node[a], to = s->node[b], ranks = s->ranks->vertices;
    return (a < ranks ? of_a[to] - of_a[from] : 0) + (b < ranks ? of_b[from] - of_b[to] : 0);
}

void swapping_apply(swapping *s, size_t a, size_t b);

#endif
