/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The node of each rank and the distances between nodes, from the command line's files.
 */
#ifndef TOOLS_TATP_NETWORK_H
#define TOOLS_TATP_NETWORK_H

#include <stdbool.h>

#include "nodes.h"
#include "topo/topo.h"

/* NULL where an option is not given. */
typedef struct tatp_network_options {
    const char *distances; /* file of hops between nodes or ranks */
    const char *topology;  /* file in any format of topo_fabric_read */
    const char *hosts;     /* of the ranks, in the syntax of tool_parse_hosts */
} tatp_network_options;

typedef struct tatp_network {
    topo topology;
    size_t *node_of_rank; /* each < topology.nodes */
    tool_hosts hosts;     /* zeroed without an option */
} tatp_network;

/* Reads the files. Without files, all nodes are equally far apart; without hosts, the distances are
 * those between ranks. `requests`, the file that gives the number of ranks, is for messages. Ends
 * the program after a message if a file is unusable. */
void tatp_network_read(const tatp_network_options *options, const char *requests, size_t ranks,
                       tatp_network *network);
void tatp_network_release(tatp_network *network);

/* The network of a job of Slurm on those hosts, as scontrol prints it; *known is false where it
 * does not, and one switch stands for it. Ends the program after a message if that fails. */
topo_fabric *tatp_network_of_job(const char *hosts, bool *known);

/* topo_from_fabric; ends the program after a message about the file on failure. */
void tatp_network_hops(const topo_fabric *fabric, const char *file, const char *const *host,
                       size_t count, topo *t);

/* Reads a topology file; ends the program after a message if it is unusable. */
topo_fabric *tatp_network_read_fabric(const char *file);

#endif
