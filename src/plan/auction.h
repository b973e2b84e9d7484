/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sparse auction: units to nodes. For fitted.c only.
 *
 * Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals of
 * Operations Research 20 (1989): units bid for the places on nodes, places of one node have one
 * price, and the lowest bidder of a full node gives way.
 */
#ifndef PLAN_AUCTION_H
#define PLAN_AUCTION_H

#include "matrix/matrix.h"
#include "topo/distances.h"

/* The node of a unit that nobody accesses. */
#define AUCTION_NOWHERE SIZE_MAX

/* Node n serves least[n] to most[n] units; the sum of `least` is at most the number of units with
 * bytes, that of `most` at least. A node where most[n] is 0 serves none. */
typedef struct auction_input {
    const matrix *bytes; /* units x nodes, >= 0 */
    const topo *topology;
    const size_t *least, *most;
    size_t units;   /* that have bytes */
    double epsilon; /* > 0, hop-bytes: the result is within units * epsilon of the least, unless
                       a price war made epsilon double (see below) */
} auction_input;

typedef struct auction_result {
    size_t *node_of_unit; /* the caller's, rows entries */
    double lower_bound;   /* of hop-bytes, from the prices: holds whatever epsilon was */
    size_t bids;
} auction_result;

/* One phase from prices of zero. After every 16 bids a unit epsilon doubles, so that price wars
 * end. -ENOMEM. */
int auction_solve(const auction_input *in, auction_result *result);

/* Hop-bytes of unit u when node n serves it, in O(nodes that access it). */
double auction_hop_bytes(const matrix *bytes, const topo *t, size_t u, size_t n);

#endif
