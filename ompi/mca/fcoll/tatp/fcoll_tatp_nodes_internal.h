/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of module nodes share: the hops between nodes, from a file of the user or from the
 * job's environment. Rank 0 alone learns them, since it alone decides. */
#ifndef MCA_FCOLL_TATP_NODES_INTERNAL_H
#define MCA_FCOLL_TATP_NODES_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"

/* On rank 0: the topology that `source` names. *is_open: it names none, and the job's environment
 * decides; the topology is flat so far. Reports errors. */
int tatp_distances_read(tatp_node_map *map, const char *source, bool *is_open);
/* Whether this rank is the leader of its node, and the environment has the node's address. Local.
 */
bool tatp_has_address(const tatp_comm *comm);
/* Hops from the addresses of all nodes; *is_open becomes false on rank 0 if it could use them. An
 * unusable address is reported, and is no error. Collective. */
int tatp_distances_ask(tatp_node_map *map, tatp_comm *comm, bool *is_open);
/* On rank 0: no source has given distances. */
void tatp_distances_report_flat(const tatp_node_map *map);

#endif
