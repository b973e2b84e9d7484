/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hops between the nodes of a job (distances.h), and the descriptions of a network that they are
 * derived from (network.h).
 *
 * Units: hops, the number of links that a message crosses. A rank is 0 hops from itself; two ranks
 * of one node are at most TOPO_SAME_NODE apart, two nodes at least 1. Host names compare without
 * case. Functions return 0 or a negative errno value; outputs are set only on success.
 * doc/topology.md describes the formats.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "topo/distances.h"
#include "topo/network.h"

#endif
