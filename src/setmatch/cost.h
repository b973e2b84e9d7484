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

#endif
