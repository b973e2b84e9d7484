/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of module nodes share. The hops between nodes come from a file of the user or from
 * the job's environment; rank 0 alone learns them, since it alone decides. Distances inside a node
 * come from the launcher or from hwloc; the leader of the node alone learns them. */
#ifndef MCA_FCOLL_TATP_NODES_INTERNAL_H
#define MCA_FCOLL_TATP_NODES_INTERNAL_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"

/* ---- fcoll_tatp_nodes_local.c ---- */

/* Distances between the ranks of this node, from the localities that the launcher gives. *given:
 * it gives that of any rank, or the node has one rank. Local. */
int tatp_inside_read(const coll_group *group, tatp_inside *inside, bool *given);
void tatp_inside_release(tatp_inside *inside);
/* Whether this rank may use fewer processors than there are. Local. */
bool tatp_may_be_bound(void);
/* The same from what each rank's own hwloc says; *inside changes on leaders only, and there unless
 * `given`. Collective. */
int tatp_inside_ask(coll_group *group, bool given, tatp_inside *inside);
/* On the leader of a node: whether the launcher gave localities, or each rank's hwloc was asked. */
void tatp_inside_report(const coll_group *group, bool given, bool asked);

/* ---- fcoll_tatp_nodes_distance.c ---- */

/* Sends a string (NULL: an empty message) to a peer that expects one from each of several ranks. */
int tatp_send_text(coll_group *group, const char *text, int peer);
/* Where those that are received go. */
typedef struct tatp_texts {
    char **text; /* the caller frees it and each string; NULL: no memory */
    size_t (*index_of)(const void *context, int rank);
    const void *context;
} tatp_texts;
/* Receives those of `count` ranks whatever happens. rc: this rank's status so far. */
int tatp_receive_texts(coll_group *group, size_t count, tatp_texts *texts, int rc);

/* On rank 0: the topology that `source` names. *is_open: it names none, and the job's environment
 * decides; the topology is flat so far. Reports errors. */
int tatp_distances_read(tatp_node_map *map, const char *source, bool *is_open);
/* Whether this rank is the leader of its node, and the environment has the node's address. Local.
 */
bool tatp_has_address(const coll_group *group);
/* Hops from the addresses of all nodes; *is_open becomes false on rank 0 if it could use them. An
 * unusable address is reported, and is no error. Collective. */
int tatp_distances_ask(tatp_node_map *map, coll_group *group, bool *is_open);
/* On rank 0: no source has given distances. */
void tatp_distances_report_flat(const tatp_node_map *map);

#endif
