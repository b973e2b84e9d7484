/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of ranks that are built up by merging, and their way onto nodes. Private to this folder.
 */
#ifndef SETMATCH_PACK_H
#define SETMATCH_PACK_H

#include "setmatch/candidates.h"
#include "setmatch/free_nodes.h"

/* Sets that are not placed yet, as the vertices of a graph. Merged sets keep their ranks in the
 * order of merging: set c is the list first[c], next[...], ... last[c]. */
typedef struct sets_graph {
    affinity g;
    vertex *first, *last; /* by set */
    vertex *next;         /* by rank */
    free_nodes free;
    size_t *node; /* by rank: SIZE_MAX until it is placed */
} sets_graph;

/* Every rank a set of its own. -ENOMEM. */
int sets_init(sets_graph *s, const affinity *ranks, const site *nodes, size_t *node);

void sets_release(sets_graph *s);

/* Merges sets into `count` sets: the members of to[] = c, in ascending order of order[] (NULL: of
 * their numbers). Sets with NO_VERTEX have been placed, and are left out. -ENOMEM. */
int sets_merge(sets_graph *s, const vertex *to, size_t count, const vertex *order, size_t ordered);

/* Places up to `most` ranks from the front of set c on a node with enough free slots; the rest of
 * the set stays. */
void sets_take(sets_graph *s, vertex c, size_t most, size_t node);

/* Places every set that is left: the largest first, on the node that it is bound to most and that
 * can hold it, otherwise on the one with the fewest sufficient slots; what fits nowhere is cut.
 * `ranks` is the graph of the ranks. -ENOMEM. */
int sets_pack(sets_graph *s, const affinity *ranks);

#endif
