/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counted values of a view matrix as an undirected graph of ranks. Private to this folder.
 */
#ifndef SETMATCH_GRAPH_H
#define SETMATCH_GRAPH_H

#include "setmatch/affinity.h"

/* The neighbours of rank i, ascending, are neighbour[start[i]] .. neighbour[start[i + 1] - 1]. */
typedef struct setmatch_graph {
    size_t ranks;
    size_t *start;
    size_t *neighbour;
} setmatch_graph;

/* -EINVAL: not square, a negative value, a threshold above 100; -ENOMEM. */
int setmatch_graph_init(setmatch_graph *graph, const matrix *view, unsigned threshold);

/* The same from values that are already added up. -ENOMEM. */
int setmatch_graph_from_affinity(setmatch_graph *graph, const affinity *ranks, unsigned threshold);

void setmatch_graph_release(setmatch_graph *graph);

#endif
