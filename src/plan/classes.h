/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The node classes of a topology (topo/distances.h) with the nodes of each. For this folder only.
 */
#ifndef PLAN_CLASSES_H
#define PLAN_CLASSES_H

#include "topo/distances.h"

/* Nodes of class p: member[start[p]] .. member[start[p + 1] - 1], ascending. A flat topology is one
 * class. */
struct classes {
    size_t nodes, count;
    size_t *of_node, *start, *member;
    const uint16_t *between; /* of the topology: between[p * count + q]; NULL for a single class */
    double *within; /* within[p]: hops between two nodes of class p; `same` if it has one */
    double same;    /* hops between two ranks of one node */
};

/* Refers to the topology, owned by the caller. -ENOMEM. Release with classes_release. */
int classes_from_topo(const topo *t, struct classes *classes);

/* All nodes 1 apart, ranks of one node 0: the cost of a node is the bytes of the domain that the
 * node does not access. -ENOMEM. */
int classes_apart(size_t nodes, struct classes *classes);

void classes_release(struct classes *classes);

#endif
