/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Refines a division of a graph in two. Source: Fiduccia and Mattheyses, "A linear-time heuristic
 * for improving network partitions", DAC 1982, with a heap in place of buckets, since weights
 * are of any size. Private to this folder.
 */
#ifndef SETMATCH_TWO_WAY_H
#define SETMATCH_TWO_WAY_H

#include "setmatch/gains.h"

/* Memory for graphs of up to `room` vertices, to be used again and again. */
typedef struct two_way {
    size_t room;
    int64_t *gain;
    size_t *place;
    vertex *heap[2];
    vertex *moved; /* in the order of the moves */
    unsigned char *has_moved;
    size_t work;
} two_way;

/* -ENOMEM. */
int two_way_init(two_way *t, size_t room);

void two_way_release(two_way *t);

/* What the two sides may hold, in ranks, and by how much they may be over it: coarse vertices
 * seldom add up to what fits exactly. */
typedef struct two_way_limits {
    uint64_t capacity[2];
    uint64_t tolerance;
    size_t passes;   /* at most */
    size_t patience; /* a pass ends after so many moves without gain */
} two_way_limits;

/* Moves vertices (side[v] is 0 or 1) as long as what is over the limits becomes less, or the cut
 * does at no more over them. Never makes it worse. Returns how much less the cut is, which is
 * negative only where a side was over its limit. Adds to t->work how many vertices were looked at.
 */
int64_t two_way_refine(two_way *t, const affinity *g, const two_way_limits *limits,
                       unsigned char *side);

#endif
