/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multilevel bisection: coarsen by merging pairs of vertices, divide the coarsest graph in two, and
 * refine the division on every level while uncoarsening. Source: Karypis and Kumar, "A fast and
 * high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput. 20
 * (1998). Private to this folder.
 */
#ifndef SETMATCH_DIVIDE_H
#define SETMATCH_DIVIDE_H

#include <stdbool.h>

#include "setmatch/two_way.h"

typedef struct divide_rules {
    size_t seed;   /* of the order in which vertices are visited */
    bool is_large; /* the graph is one of many ranks, or a part of it: in less time */
} divide_rules;

/* Divides a graph between two sides of these capacities, whose sum suffices for all ranks. With one
 * rank per vertex no side exceeds its capacity. side[v], out: 0 or 1 in the bit TWO_WAY_SIDE. `t`
 * was initialised for as many vertices. -ENOMEM. */
int divide_in_two(two_way *t, const affinity *g, const uint64_t capacity[2],
                  const divide_rules *rules, unsigned char *side);

#endif
