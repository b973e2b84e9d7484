/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multilevel bisection: pairs of vertices are merged until few are left, these are divided in two,
 * and the division is refined while the pairs are taken apart again. Source: Karypis and Kumar, "A
 * fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput.
 * 20 (1998). Private to this folder.
 */
#ifndef SETMATCH_DIVIDE_H
#define SETMATCH_DIVIDE_H

#include "setmatch/two_way.h"

/* Divides a graph between two sides of these capacities, whose sum is enough for all ranks. With
 * one rank a vertex no side is over its capacity. `t` has room for the graph. Each turn (0, 1,
 * ...) goes another way. -ENOMEM. */
int divide_in_two(two_way *t, const affinity *g, const uint64_t capacity[2], size_t turn,
                  unsigned char *side);

#endif
