/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank-to-node map of a file's ranks, and the hops between nodes. Known once for a group of ranks,
 * whatever files they open. */
#ifndef COLLECTIVE_NODES_H
#define COLLECTIVE_NODES_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/group.h"
#include "collective/parameters.h"

#include "topo/topo.h"

/* Nodes are numbered by their lowest rank. Zeroed: they are not known. */
typedef struct coll_nodes {
    bool is_known; /* what follows */
    size_t count;
    int64_t capacity;      /* division_chosen_capacity */
    size_t *ranks_on_node; /* per node; leaders of nodes alone have it */
    size_t *node_of_rank;  /* per rank of the communicator; rank 0 alone has it ... */
    char **host;           /* ... the name of each node ... */
    topo topology;         /* ... and this */
    /* On the leader of a node: how near each rank of the node is to its network devices
     * (topo/machine.h), more is nearer. NULL: all are as near, or this rank is not the leader. */
    unsigned char *nearness;
} coll_nodes;

void coll_nodes_release(coll_nodes *nodes);
/* Finds them, and the leaders (group.h), unless all ranks know them. text: on rank 0. Returns the
 * largest error class over all ranks. Collective. */
int coll_nodes_find(coll_nodes *nodes, coll_group *group, parameter_texts text);

/* The variable by which `tatp run` tells the ranks where it has placed them: their number, and a
 * digest of which share a node, however nodes are numbered; or why it could not. */
#define COLL_PLACED "TATP_PLACED"
#define COLL_PLACED_FORMAT "%zu:%016" PRIx64
uint64_t coll_nodes_digest(const size_t *node_of_rank, size_t ranks);
/* Rank 0 of the first file that all ranks of the job open prints a line if they are elsewhere, as
 * by options of the launcher. Local. */
void coll_nodes_check_placement(const coll_nodes *nodes, const coll_group *group);

#endif
