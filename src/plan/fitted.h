/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fitted file domains: the accessed range is cut into units, and units are assigned to aggregators
 * with low hop-bytes so that no aggregator owns more units than with equal shares. This is a
 * transportation problem, solved by a sparse auction. doc/fitted.md has the method.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success. Equal input gives
 * equal output. Sums are exact below 2^53.
 */
#ifndef PLAN_FITTED_H
#define PLAN_FITTED_H

#include "matrix/matrix.h"
#include "topo/distances.h"

typedef struct fitted_input {
    const matrix *bytes;  /* units x nodes: bytes of the unit that the node's ranks access,
                             >= 0; units in the order of the file */
    const topo *topology; /* its nodes are the columns of `bytes` */
    const size_t *node_of_aggregator; /* `aggregators` entries, each < topology->nodes */
    size_t aggregators;               /* at least 1 */
} fitted_input;

/* The aggregator of each unit, and the hop-bytes of that: they count TOPO_SAME_NODE for a byte that
 * stays on its node, whichever rank of the node is its aggregator. No aggregator has more than
 * ceil(units with bytes / aggregators) units with bytes; the units of a node are dealt evenly to
 * its aggregators in file order, as contiguous as that allows. A unit without bytes gets the
 * aggregator of its left neighbour while that has less than ceil(units / aggregators) in all, else
 * another. Ties prefer the node of the left neighbour. The hop-bytes are within 1 % of all bytes of
 * the least, unless a price war raised the steps of prices. -ENOMEM. */
int fitted_assign(const fitted_input *in, size_t *aggregator_of_unit, double *hop_bytes);

#endif
