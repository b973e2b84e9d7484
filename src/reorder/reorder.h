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

#include "base/arena.h"

/* A grid as MPI_Cart_create takes it. */
typedef struct reorder_grid {
    int dims;
    const int *extent;   /* >= 1 */
    const int *periodic; /* whether the first and the last coordinate are neighbours */
} reorder_grid;

/* What is to be placed: by the record if there is one, else by the grid, else by the graph. */
typedef struct reorder_task {
    const char *record; /* a view file, as for rmaps/dla; NULL if there is none */
    const reorder_grid *grid;
    int ranks; /* of the graph */
    /* A graph as MPI_Graph_create takes it, whose edges have weight 1. Or where `most` is not 0,
     * edge[] has for each rank a list: the number of its neighbours, and `most` elements each for
     * the neighbours and their weights. */
    const int *index, *edge;
    int most;
} reorder_task;

/* The lists of all ranks may have so many neighbours: 64 MiB on rank 0. */
enum { REORDER_MOST_NEIGHBORS = 64 << 17 };

/* A number: all processes keep their own ones. */
enum { REORDER_KEEPS = -1 };

/* Says what is done, or why the record cannot be used, which is an error. */
typedef void reorder_report(bool is_error, const char *line);

/* Rank 0 sets number[i] of process i from key[i], its own one if it is beyond the ranks; all are
 * REORDER_KEEPS after an error. -ECANCELED: nothing is gained, or the ranks do not fit; -EINVAL:
 * the record or the graph cannot be used; -ENOMEM. */
int reorder_place(const reorder_task *task, const int64_t *key, int processes, int *number,
                  reorder_report *report);

/* Processes and ranks on nodes. */
typedef struct reorder_nodes {
    size_t ranks, count;
    size_t *processes;  /* of each node */
    size_t *of_process; /* the node of each process */
    size_t *of_rank;    /* the node of each rank, a result: as many ranks as processes */
} reorder_nodes;

/* Sets the node of each rank, and cut[] to the pairs of neighbours on two nodes if each process
 * keeps its rank, and then; a pair in a periodic dimension of extent 2 counts twice, as the two are
 * neighbours on both sides. The processes keep their nodes if no other order has fewer, and in more
 * than 32 dimensions.
 *
 * A node gets consecutive ranks of a walk over the grid: along one dimension, through columns whose
 * cross-section is a box. The walk turns at the ends, so that any number of consecutive ranks are
 * near each other. All dimensions and a few extents of the box are compared: with equal nodes, the
 * blocks of the best factorization are seldom better (Gropp, "Using Node Information to Implement
 * MPI Cartesian Topologies", EuroMPI 2018). The first of equal ones goes along the last possible
 * dimension, and has the smallest extents of the next dimensions: its nodes have slabs of an array
 * in C order.
 * O(ranks * dims) for each of at most 48 walks, whose estimates are below the least cut so far.
 * arena: for work. -ENOMEM. */
int reorder_grid_place(const reorder_grid *grid, const reorder_nodes *nodes,
                       struct base_arena *arena, double cut[2]);

#endif
