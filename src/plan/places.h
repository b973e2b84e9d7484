/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The places of a topology with the nodes of each. For this folder only.
 */
#ifndef PLAN_PLACES_H
#define PLAN_PLACES_H

#include "topo/distances.h"

/* Nodes of place p: member[start[p]] .. member[start[p + 1] - 1], ascending. A flat topology is one
 * place. */
struct places {
    size_t nodes, count;
    size_t *of_node, *start, *member;
    const uint16_t *between; /* of the topology: between[p * count + q]; NULL for a single place */
    double *within;          /* between two nodes of place p; `same` where there is only one */
    double same;             /* between two ranks of one node */
};

/* Refers to the topology, which stays the caller's. -ENOMEM. Release with places_release. */
int places_from_topo(const topo *t, struct places *places);

/* All nodes 1 apart, ranks of one node 0: the cost of a choice is what the node lacks. -ENOMEM. */
int places_apart(size_t nodes, struct places *places);

void places_release(struct places *places);

#endif
