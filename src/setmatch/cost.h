/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The paper's objective over a graph of ranks. Private to this folder.
 */
#ifndef SETMATCH_COST_H
#define SETMATCH_COST_H

#include "setmatch/affinity.h"
#include "setmatch/input.h"

/* The sum of weight / bandwidth over all edges; the bandwidths are those of the input. */
double affinity_cost(const affinity *ranks, const setmatch_input *input, const size_t *node);

/* The distance class of two nodes, an index in setmatch_network's bandwidth[]. 0: one node;
 * 1 + level: one group of that level, but of none before; 1 + levels: beyond. network NULL: no
 * levels. */
size_t network_distance(const setmatch_network *network, size_t nodes, size_t a, size_t b);

#endif
