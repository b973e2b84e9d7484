/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of module nodes share. The hops between nodes come from a file of the user or from
 * the job's environment; rank 0 alone learns them, since it alone decides. Where ranks are bound on
 * their node comes from the launcher or from hwloc; the leader of the node alone learns it. */
#ifndef COLLECTIVE_NODES_INTERNAL_H
#define COLLECTIVE_NODES_INTERNAL_H

#include "collective/nodes.h"

/* ---- nodes_local.c ---- */

/* How near the ranks of this node are to its network devices, from the localities that the launcher
 * gives. *nearness stays where none is bound. *given: it gives that of any rank, or the node has
 * one rank. Local. */
int coll_nearness_read(const coll_group *group, unsigned char **nearness, bool *given);
/* Whether this rank may use fewer processors than there are. Local. */
bool coll_may_be_bound(void);
/* The same from what each rank's own hwloc says; *nearness changes on leaders only, and there
 * unless `given`. Collective. */
int coll_nearness_ask(coll_group *group, bool given, unsigned char **nearness);
/* On the leader of a node: whether the launcher gave localities, or each rank's hwloc was asked. */
void coll_nearness_report(const coll_group *group, bool given, bool asked);

/* ---- nodes_distance.c ---- */

/* On rank 0: the topology that the parameter names. *is_open: it names none, and the job's
 * environment decides; the topology is flat so far. Reports errors. */
int coll_distances_read(coll_nodes *nodes, coll_process *process, parameter_texts text,
                        bool *is_open);
/* Whether this rank is the leader of its node, and the environment has the node's address. Local.
 */
bool coll_has_address(const coll_group *group);
/* Hops from the addresses of all nodes; *is_open becomes false on rank 0 if it could use them. An
 * unusable address is reported, and is no error. Collective. */
int coll_distances_ask(coll_nodes *nodes, coll_group *group, bool *is_open);
/* On rank 0: no source has given distances. */
void coll_distances_report_flat(const coll_nodes *nodes, coll_process *process);

#endif
