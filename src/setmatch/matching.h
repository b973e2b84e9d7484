/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pairs of vertices that merge when a graph is coarsened: heavy-edge matching (Karypis and Kumar,
 * SIAM J. Sci. Comput. 20, 1998). Private to this folder.
 */
#ifndef SETMATCH_MATCHING_H
#define SETMATCH_MATCHING_H

#include "setmatch/affinity.h"

typedef struct match_rules {
    uint64_t largest;     /* of a pair, in ranks */
    size_t seed;          /* of the order in which vertices are visited */
    const size_t *within; /* by vertex: only vertices with the same value merge; NULL for all */
} match_rules;

/* The graph in which pairs have merged: to[v] is the vertex that v becomes part of. Vertices are
 * visited in an order unrelated to their numbers, so that merging does not run through a grid in
 * one direction. Returns 1, and no graph, if there are few pairs. -ENOMEM. */
int match_and_contract(affinity *coarse, const affinity *g, const match_rules *m, vertex *to);

#endif
