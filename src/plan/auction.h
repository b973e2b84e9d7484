/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sparse auction that assigns units to nodes. For fitted.c only.
 *
 * Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals of
 * Operations Research 20 (1989): units bid for the capacity of nodes, all units of one node pay one
 * price, and a full node evicts its lowest bidder.
 */
#ifndef PLAN_AUCTION_H
#define PLAN_AUCTION_H

#include "matrix/matrix.h"
#include "topo/distances.h"

/* The node of a unit without bytes. */
#define AUCTION_NOWHERE SIZE_MAX

/* Node n gets least[n] to most[n] units; the sum of `least` is at most the number of units with
 * bytes, that of `most` at least. A node with most[n] == 0 gets none. */
typedef struct auction_input {
    const matrix *bytes; /* units x nodes, >= 0 */
    const topo *topology;
    const size_t *least, *most;
    size_t units;   /* with bytes */
    double epsilon; /* > 0, hop-bytes: the result is within units * epsilon of the minimum, unless
                       a price war doubled epsilon (see below) */
} auction_input;

/* Sets node_of_unit of each row. One phase from prices of zero. Epsilon doubles after every 16 bids
 * per unit, which ends price wars. -ENOMEM. */
int auction_solve(const auction_input *in, size_t *node_of_unit);

#endif
