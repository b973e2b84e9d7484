/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of ranks that access neighbouring regions, each in an order for splitting. Private to this
 * folder.
 */
#ifndef SETMATCH_SETS_H
#define SETMATCH_SETS_H

#include "setmatch/graph.h"

/* Set s is rank[start[s]] .. rank[start[s + 1] - 1]; sets are numbered by their lowest rank. */
typedef struct setmatch_partition {
    size_t sets;
    size_t *start; /* sets + 1 entries */
    size_t *rank;
} setmatch_partition;

/* -ENOMEM. */
int setmatch_partition_init(setmatch_partition *partition, const setmatch_graph *graph);

void setmatch_partition_release(setmatch_partition *partition);

/* Places the sets of the graph as setmatch_place does; the slots must suffice. -ENOMEM. */
int match_graph(const setmatch_graph *graph, const size_t *slots, size_t nodes,
                size_t *node_of_rank);

#endif
