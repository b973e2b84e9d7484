/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances by node class. A flat topology has one class. For the files of this folder only.
 */
#ifndef PLAN_DISTANCE_H
#define PLAN_DISTANCE_H

#include "topo/distances.h"

static inline int is_flat(const topo *t)
{
    return t->places == 0;
}

static inline size_t count_of_classes(const topo *t)
{
    return is_flat(t) ? 1 : t->places;
}

static inline size_t class_of_node(const topo *t, size_t n)
{
    return is_flat(t) ? 0 : t->place_of_node[n];
}

/* Hops from a node of class p to another one of q. For p == q with one node the number is unused,
 * but at least TOPO_SAME_NODE. */
static inline double hops_of_classes(const topo *t, size_t p, size_t q)
{
    double hops = is_flat(t) ? TOPO_OTHER_NODE : t->between[p * t->places + q];
    return hops > TOPO_SAME_NODE ? hops : TOPO_SAME_NODE;
}

#endif
