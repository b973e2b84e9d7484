/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Refines a division of a graph in two. Source: Fiduccia and Mattheyses, "A linear-time heuristic
 * for improving network partitions", DAC 1982, with a heap instead of buckets, since weights have
 * any magnitude. Private to this folder.
 */
#ifndef SETMATCH_TWO_WAY_H
#define SETMATCH_TWO_WAY_H

#include "setmatch/affinity.h"

/* Memory for graphs of up to a number of vertices, used for any number of refinements. */
typedef struct two_way {
    struct gains_vertex *vertices; /* of those that were in a heap */
    struct gains_entry *heap[2];
    vertex *listed; /* vertices that were in a heap */
    vertex *moved;  /* in the order of the moves */
    size_t work;    /* vertices visited by all refinements */
} two_way;

/* The arena owns the memory. -ENOMEM, also if an earlier allocation there failed. */
int two_way_init(two_way *t, struct base_arena *arena, size_t max_vertices);

/* Usual values of all_listed below: where time does not matter, and where it does. */
enum { TWO_WAY_ALL_LISTED = 512, TWO_WAY_FEW_LISTED = 64 };

/* Capacities of the two sides in ranks, and the accepted excess: sizes of coarse vertices seldom
 * add up to a capacity. */
typedef struct two_way_limits {
    uint64_t capacity[2];
    uint64_t tolerance;
    size_t max_passes;
    size_t patience; /* a pass ends after this number of moves without gain */
    /* In graphs of up to so many vertices all may move from the start. In larger ones only those
     * with a neighbour on the other side, which are few. */
    size_t all_listed;
} two_way_limits;

/* side[v] is 0 or 1, plus TWO_WAY_NEAR if v may have a neighbour on the other side, or has none at
 * all. So what is known of a coarse graph saves looking at most vertices of the finer one. */
enum { TWO_WAY_SIDE = 1, TWO_WAY_NEAR = 2 };

/* Moves vertices while that reduces the excess over the limits, or the cut without raising the
 * excess, and sets TWO_WAY_NEAR anew. Returns the reduction of the cut, which is negative only
 * where a side exceeded its limit. Adds the number of visited vertices to t->work. */
int64_t two_way_refine(two_way *t, const affinity *g, const two_way_limits *limits,
                       unsigned char *side);

#endif
