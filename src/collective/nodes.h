/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank-to-node map of a file's ranks, and the hops between nodes. Known once for a group of ranks,
 * whatever files they open. */
#ifndef COLLECTIVE_NODES_H
#define COLLECTIVE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/group.h"

#include "topo/topo.h"

typedef struct coll_nodes coll_nodes;

coll_nodes *coll_nodes_new(void); /* NULL: no memory */
void coll_nodes_free(coll_nodes *nodes);

/* What else the ranks exchange when a file is opened. */
typedef struct coll_opening {
    const char *topology; /* on rank 0: the parameter's value; NULL: none */
    bool strict;          /* as coll_refuse */
    int64_t digest;       /* of this rank's settings */
    bool settings_differ; /* the result: not all ranks have the same */
    /* Rank 0's; the result: the same on all ranks. Without padding. */
    struct {
        int64_t stripe, targets; /* that the file system says; 0: nothing */
        int64_t cycle;           /* bytes; 0: by messages */
        int64_t records;         /* whether the accesses of the file are recorded */
    } root;
} coll_opening;

/* Finds the nodes and their distances unless all ranks know them. rc: this rank's status so far.
 * Returns the largest error class over all ranks. Collective. */
int coll_nodes_init(coll_nodes *nodes, coll_group *group, coll_opening *opening, int rc);

/* For a rank that has no memory for the file: the values with which it takes part in the first
 * reduction, of maxima. Then coll_nodes_init returns -ENOMEM's class on all other ranks, without
 * anything further. */
enum { COLL_OPENING_VALUES = 9 };
void coll_nodes_refuse(int64_t value[COLL_OPENING_VALUES]);

/* ---- on all ranks ---- */

/* Nodes are numbered by their lowest rank. */
typedef struct coll_node_map {
    size_t nodes;
    size_t *node_of_rank;  /* per rank of the communicator */
    size_t *ranks_on_node; /* per node */
    char **host;           /* per node, its name; rank 0 alone has it ... */
    topo topology;         /* ... and this */
} coll_node_map;

const coll_node_map *coll_nodes_map(const coll_nodes *nodes);

/* ---- on the leader of a node ---- */

/* How near each rank of the node is to its network devices (topo/machine.h), more is nearer. NULL:
 * all are as near, or this rank is not the leader. */
const unsigned char *coll_nodes_nearness(const coll_nodes *nodes);

#endif
