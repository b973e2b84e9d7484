/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank-to-node map of a file's ranks, and the hops between nodes. Known once for a group of ranks,
 * whatever files they open. */
#ifndef MCA_FCOLL_TATP_NODES_H
#define MCA_FCOLL_TATP_NODES_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"

#include "topo/topo.h"

typedef struct tatp_nodes tatp_nodes;

tatp_nodes *tatp_nodes_new(void); /* NULL: no memory */
void tatp_nodes_free(tatp_nodes *nodes);

/* What else the ranks exchange when a file is opened. */
typedef struct tatp_opening {
    int64_t digest;       /* of this rank's settings */
    bool settings_differ; /* the result: not all ranks have the same */
    /* Rank 0's; the result: the same on all ranks. Without padding. */
    struct {
        int64_t stripe, targets; /* that the file system says; 0: nothing */
        int64_t cycle;           /* bytes; 0: by messages */
        int64_t records;         /* whether the accesses of the file are recorded */
    } root;
} tatp_opening;

/* Finds the nodes and their distances unless all ranks know them; `source` is the value of
 * parameter topology. rc: this rank's status so far. Returns the largest error class over all
 * ranks. Collective. */
int tatp_nodes_init(tatp_nodes *nodes, coll_group *group, const char *source, tatp_opening *opening,
                    int rc);
/* For a rank that has no memory for the file: tatp_nodes_init returns that on all other ranks.
 * Allocates nothing. Collective. */
void tatp_nodes_refuse(struct ompi_communicator_t *communicator);

/* ---- on all ranks ---- */

/* Nodes are numbered by their lowest rank. */
typedef struct tatp_node_map {
    size_t nodes;
    size_t *node_of_rank;  /* per rank of the communicator */
    size_t *ranks_on_node; /* per node */
    char **host;           /* per node, its name; rank 0 alone has it ... */
    topo topology;         /* ... and this */
} tatp_node_map;

const tatp_node_map *tatp_nodes_map(const tatp_nodes *nodes);

/* ---- on the leader of a node ---- */

/* Distances inside the node, as rows_steps of src/plan has them. */
typedef struct tatp_inside {
    unsigned char *steps; /* between any two ranks; NULL: no rank is near another one, or this rank
                             is not the leader */
    unsigned char *nearness; /* of each rank; NULL: all are as near to the network */
} tatp_inside;
const tatp_inside *tatp_nodes_inside(const tatp_nodes *nodes);

#endif
