/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which process gets which rank of a Cartesian communicator or of a graph, so that few neighbours
 * are on different nodes. Equal input gives equal output.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef REORDER_REORDER_H
#define REORDER_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "matrix/matrix.h"

/* A grid as MPI_Cart_create takes it. At most 2^32 - 1 ranks. */
typedef struct reorder_grid {
    size_t dims;
    const int *extent;   /* >= 1 */
    const int *periodic; /* whether the first and the last coordinate are neighbours */
} reorder_grid;

/* Room for a line of text. */
#define REORDER_LINE 1024

/* Its ranks; 0: more than `most`, or an extent below 1. */
size_t reorder_ranks(const reorder_grid *grid, size_t most);

/* A distributed graph may have so many neighbours of all ranks, each counted as that of the rank
 * with most: 64 MiB on rank 0. */
enum { REORDER_MOST_NEIGHBORS = 64 << 17 };

/* What is to be placed: by the record if there is one, else by the graph, else by the grid. */
typedef struct reorder_task {
    const reorder_grid *grid;
    const matrix *graph; /* weights between ranks; NULL if there is none, empty if unreadable */
    const char *record;  /* a view file, as for rmaps/dla; NULL or "" if there is none */
    size_t ranks;        /* of the new communicator */
    /* Instead of the graph, for each rank a list: the number of its neighbours, and `most` elements
     * each for the neighbours and their weights; or NULL. */
    const int *lists;
    size_t most;
} reorder_task;

/* What rank 0 does: number[i] of process i from key[i], its own one if it is beyond the ranks.
 * `line` says what is done. -ECANCELED: nothing is gained; -EINVAL: the record cannot be used, and
 * `line` says why; -ENOMEM. */
int reorder_place(const reorder_task *task, const int64_t *key, size_t processes, int *number,
                  char line[REORDER_LINE]);

/* A number: all processes keep their own ones. */
enum { REORDER_KEEPS = -1 };

/* The same for all: an error sets REORDER_KEEPS. */
void reorder_place_all(const reorder_task *task, const int64_t *key, size_t processes, int *number,
                       void (*report)(bool is_error, const char *line));

/* The edges of MPI_Graph_create, each of weight 1. -EINVAL: a rank is out of range; -ENOMEM. The
 * caller releases the matrix. */
int reorder_read_graph(const int *index, const int *edge, size_t ranks, matrix *graph);

/* What is between nodes if each process keeps its rank, and as placed: pairs of neighbours of a
 * grid, the weight of a graph. */
typedef struct reorder_gain {
    int64_t before, after;
} reorder_gain;

/* Sets the node of each rank, as many ranks on a node as processes: node[i] < nodes is that of
 * process i. The processes keep their nodes if no other order has fewer pairs of neighbours on two
 * nodes.
 *
 * A node gets consecutive ranks of a walk over the grid: along one dimension, through columns whose
 * cross-section is a box. The walk turns at the ends, so that any number of consecutive ranks are
 * near each other. All dimensions and a few extents of the box are compared: with equal nodes, the
 * blocks of a factorization of the grid are among them (Gropp, "Using Node Information to Implement
 * MPI Cartesian Topologies", EuroMPI 2018). Of equal ones, the one with the smallest extents of the
 * first dimensions is chosen: its nodes have slabs of an array in C order.
 * O(ranks * dims) for each of at most 24 walks. -ENOMEM. */
int reorder_grid_place(const reorder_grid *grid, const size_t *node, size_t nodes,
                       size_t *node_of_rank, reorder_gain *gain);

#endif
