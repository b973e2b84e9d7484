/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transportation problem by a sparse auction: assigns units to nodes, of limited capacity, so
 * that hop-bytes are low.
 *
 * Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals of
 * Operations Research 20 (1989): units bid for the capacity of nodes, all units of one node pay one
 * price, and a full node evicts its lowest bidder. One phase from prices of zero. On a network with
 * levels (topo_levels) units bid for the groups of the highest one first, then within each group
 * for those of the next, and at last for its nodes. Without levels, as on a torus, hops count
 * between the nodes that have bytes of a unit; all others are equally far.
 */
#ifndef PLAN_AUCTION_H
#define PLAN_AUCTION_H

#include "matrix/matrix.h"
#include "topo/distances.h"

/* The node of a unit without bytes. */
#define AUCTION_NOWHERE SIZE_MAX

/* Sets node_of_unit of each row of `bytes` (units x nodes, >= 0), so that node n gets at most
 * capacity[n] of the units with bytes, which all together have room. The bytes that stay in their
 * group are within one hundredth of all bytes of the most, level by level, unless units bid more
 * than four times in the mean: the steps of prices begin with a thousandth of a unit's bytes, and
 * double with each bid per unit. Equal input gives equal output; ties prefer the node of the unit
 * before. -ENOMEM. */
int auction_solve(const matrix *bytes, const topo *topology, const size_t *capacity,
                  size_t *node_of_unit);

#endif
