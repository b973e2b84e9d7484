/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transportation problem by a sparse auction: assigns units to nodes, of limited capacity, so
 * that hop-bytes are low.
 *
 * Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals of
 * Operations Research 20 (1989): units bid for the capacity of nodes, all units of one node pay one
 * price, and a full node evicts its lowest bidder. One phase from prices of zero.
 */
#ifndef PLAN_AUCTION_H
#define PLAN_AUCTION_H

#include "matrix/matrix.h"
#include "topo/distances.h"

/* The node of a unit without bytes. */
#define AUCTION_NOWHERE SIZE_MAX

typedef struct auction_input {
    const matrix *bytes;    /* units x nodes, >= 0 */
    const topo *topology;   /* of a flat one, hop-bytes are least where most bytes stay */
    const size_t *capacity; /* of each node, in units; in all at least the units with bytes */
    size_t units;           /* with bytes */
    double epsilon; /* > 0, the least rise of a price, hop-bytes: the result is within units *
                       epsilon of the minimum, unless a price war doubled epsilon */
} auction_input;

/* Sets node_of_unit of each row. Equal input gives equal output; ties prefer the node of the unit
 * before. Epsilon doubles after every 16 bids per unit, which ends price wars. -ENOMEM. */
int auction_solve(const auction_input *in, size_t *node_of_unit);

#endif
