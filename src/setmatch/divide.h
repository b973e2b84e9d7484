/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multilevel bisection: coarsen by merging pairs of vertices, divide the coarsest graph in two, and
 * refine the division on every level while uncoarsening. Source: Karypis and Kumar, "A fast and
 * high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput. 20
 * (1998). Private to this folder.
 */
#ifndef SETMATCH_DIVIDE_H
#define SETMATCH_DIVIDE_H

#include "setmatch/two_way.h"

/* Divides a graph between two sides of these capacities, whose sum suffices for all ranks. With one
 * rank per vertex no side exceeds its capacity. `t` was initialised for as many vertices. Each
 * variant (0, 1, ...) visits vertices in another order. The best of `tries` (> 0) such divisions
 * counts, or of fewer if the best is found twice. -ENOMEM. */
int divide_in_two(two_way *t, const affinity *g, const uint64_t capacity[2], size_t variant,
                  size_t tries, unsigned char *side);

#endif
