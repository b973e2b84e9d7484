/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nodes of a job's ranks, and how far from each other they are.
 */
#ifndef TOOLS_NETWORK_H
#define TOOLS_NETWORK_H

#include "topo/topo.h"

/* What the command line says; NULL where it says nothing. */
typedef struct tatp_places {
    const char *distances; /* file of hops between nodes or ranks */
    const char *topology;  /* or any file that tells a network */
    const char *hosts;     /* of the ranks; as tool_parse_hosts has them */
} tatp_places;

typedef struct tatp_network {
    topo topology;
    size_t *node_of_rank; /* each < topology.nodes */
} tatp_network;

/* For so many ranks; without files all nodes are equally far apart, and without hosts the distances
 * are those between ranks. `requests` is the file that has the ranks. Returns 0, or TOOL_FAILURE
 * after a message; release in both cases. */
int tatp_read_network(const tatp_places *places, const char *requests, size_t ranks,
                      tatp_network *network);

void tatp_network_release(tatp_network *network);

#endif
