/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank-to-node map of a file's ranks, and the hops between nodes. Known once for a group of ranks,
 * whatever files they open. */
#ifndef COLLECTIVE_NODES_H
#define COLLECTIVE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/group.h"
#include "collective/parameters.h"

#include "topo/topo.h"

typedef struct coll_nodes coll_nodes;

coll_nodes *coll_nodes_new(void); /* NULL if memory is exhausted */
void coll_nodes_free(coll_nodes *nodes);

/* Whether this rank knows the nodes and their distances. Local. */
bool coll_nodes_are_known(const coll_nodes *nodes);
/* Finds them, and the leaders (group.h), unless all ranks know them. text: on rank 0. Returns the
 * largest error class over all ranks. Collective. */
int coll_nodes_find(coll_nodes *nodes, coll_group *group, parameter_texts text);

/* Nodes are numbered by their lowest rank. */
typedef struct coll_node_map {
    size_t nodes;
    int64_t capacity;      /* division_chosen_capacity */
    size_t *ranks_on_node; /* per node; leaders of nodes alone have it */
    size_t *node_of_rank;  /* per rank of the communicator; rank 0 alone has it ... */
    char **host;           /* ... the name of each node ... */
    topo topology;         /* ... and this */
} coll_node_map;

const coll_node_map *coll_nodes_map(const coll_nodes *nodes);

/* ---- on the leader of a node ---- */

/* How near each rank of the node is to its network devices (topo/machine.h), more is nearer. NULL:
 * all are as near, or this rank is not the leader. */
const unsigned char *coll_nodes_nearness(const coll_nodes *nodes);

#endif
