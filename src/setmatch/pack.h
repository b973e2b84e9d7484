/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of ranks that are merged, and their placement on nodes. Private to this folder.
 */
#ifndef SETMATCH_PACK_H
#define SETMATCH_PACK_H

#include "setmatch/candidates.h"
#include "setmatch/free_nodes.h"

/* Sets with unplaced ranks, as the vertices of a graph. Merged sets keep their ranks in the order
 * of merging: set c is the list first[c], next[...], ... last[c]. */
typedef struct sets_graph {
    affinity g;
    vertex *first, *last;               /* by set */
    vertex *next;                       /* by rank */
    vertex *merged_first, *merged_last; /* scratch memory of sets_merge */
    free_nodes free;
    size_t *node;            /* by rank: SIZE_MAX until it is placed */
    struct base_arena arena; /* of all arrays; methods may add theirs */
} sets_graph;

/* One set per rank. -ENOMEM. Release with sets_release, also after an error. */
int sets_init(sets_graph *s, const affinity *ranks, const allocation *nodes, size_t *node);

void sets_release(sets_graph *s);

/* Merges sets into `count` sets: the members of to[] = c, in ascending order of order[] (NULL: of
 * their numbers). Sets with NO_VERTEX are placed, and omitted. -ENOMEM. */
int sets_merge(sets_graph *s, const vertex *to, size_t count, const vertex *order, size_t ordered);

/* Places the first `count` ranks of set c, or all if there are fewer, on a node with enough free
 * slots; the rest remains in the set. */
void sets_place(sets_graph *s, vertex c, size_t count, size_t node);

/* Places all remaining sets, the largest first, on the node with enough free slots to which they
 * have the greatest weight, otherwise on the one with the fewest sufficient slots; sets that fit no
 * node are split. `ranks` is the graph of the ranks; NULL: no weights. -ENOMEM. */
int sets_pack(sets_graph *s, const affinity *ranks);

#endif
