/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators in a new order, for both front ends. A front end includes this in one file, after
 * mpi.h, and defines REORDER_CALL(NAME) as its way to MPI_NAME.
 *
 * Collective over the old communicator. Nobody is reordered where one process lacks memory for it,
 * or does not want it, or after an error of the MPI.
 */
#ifndef REORDER_COMMUNICATOR_H
#define REORDER_COMMUNICATOR_H

#include "base/arena.h"
#include "reorder/reorder.h"

typedef struct reorder_request {
    MPI_Comm old;
    int64_t key; /* other than 0, shared by a node's processes; 0: this one wants no new order */
    reorder_report *report; /* on rank 0 */
    reorder_task task;      /* of rank 0; `most` is the same on all */
    const int *list;        /* one of those of task.edge, of this process */
} reorder_request;

/* ---- the order ---- */

/* Returns the old communicator where all keep their numbers, else a new one, which reorder_release
 * frees. Arrays of rank 0, which places the processes, are zeroed: where an error of the MPI leaves
 * them so, they are of one node, or of no neighbours. */
static inline MPI_Comm reorder_communicator(reorder_request q)
{
    const int length = q.task.most > 0 ? 1 + 2 * q.task.most : 0;
    struct base_arena arena = {0};
    MPI_Comm ordered = q.old;
    int rank, processes, are_ready = 0, number = REORDER_KEEPS;
    REORDER_CALL(Comm_rank)(q.old, &rank);
    REORDER_CALL(Comm_size)(q.old, &processes);
    const size_t count = rank == 0 ? (size_t)processes : 0;
    int64_t *key = base_arena_alloc(&arena, count, sizeof *key);
    int *numbers = base_arena_alloc(&arena, count, sizeof *numbers);
    int *lists = base_arena_alloc(&arena, count, (size_t)length * sizeof *lists);
    const int is_ready = q.key != 0 && !arena.failed;
    REORDER_CALL(Allreduce)(&is_ready, &are_ready, 1, MPI_INT, MPI_MIN, q.old);
    if (are_ready) {
        REORDER_CALL(Gather)(&q.key, 1, MPI_INT64_T, key, 1, MPI_INT64_T, 0, q.old);
        if (length > 0) {
            REORDER_CALL(Gather)(q.list, length, MPI_INT, lists, length, MPI_INT, 0, q.old);
            q.task.edge = lists;
        }
        if (rank == 0)
            reorder_place(&q.task, key, processes, numbers, q.report);
        REORDER_CALL(Scatter)(numbers, 1, MPI_INT, &number, 1, MPI_INT, 0, q.old);
    }
    if (number != REORDER_KEEPS &&
        REORDER_CALL(Comm_split)(q.old, 0, number, &ordered) != MPI_SUCCESS)
        ordered = q.old;
    base_arena_release(&arena);
    return ordered;
}

static inline void reorder_release(MPI_Comm old, MPI_Comm ordered)
{
    if (ordered != old)
        (void)REORDER_CALL(Comm_free)(&ordered);
}

/* ---- distributed graphs ---- */

/* Reads the lists of sources and of destinations, as task.edge has them. */
static inline int reorder_read_lists(MPI_Comm graph, int in, int out, int most, int *lists)
{
    int *from = lists + 1, *to = lists + 2 + 2 * most;
    from[-1] = in;
    to[-1] = out;
    for (int i = 0; i < out; i++)
        to[most + i] = 1;
    return REORDER_CALL(Dist_graph_neighbors)(graph, in, from, from + most, out, to, to + most);
}

/* Each process gets the lists of the one that had its rank in *graph, as this one had `rank`, and
 * *graph becomes one of `ordered`. weights: NULL, or MPI_UNWEIGHTED. */
static inline void reorder_replace(MPI_Comm ordered, int rank, int *lists, int most,
                                   const int *weights, MPI_Info info, MPI_Comm *graph)
{
    const int *from = lists + 1, *to = lists + 2 + 2 * most;
    MPI_Comm made;
    if (REORDER_CALL(Sendrecv_replace)(lists, 2 + 4 * most, MPI_INT, rank, 0, MPI_ANY_SOURCE, 0,
                                       ordered, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        REORDER_CALL(Dist_graph_create_adjacent)(
            ordered, from[-1], from, weights != NULL ? weights : from + most, to[-1], to,
            weights != NULL ? weights : to + most, info, 0, &made) != MPI_SUCCESS)
        return;
    REORDER_CALL(Comm_free)(graph);
    *graph = made;
}

/* *graph, which the MPI has made: so it has checked what the program gave, and says which
 * neighbours each process has. It is the old communicator of the request, and becomes one in the
 * new order. weights, info: of the program. */
static inline void reorder_dist_graph(reorder_request q, const int *weights, MPI_Info info,
                                      MPI_Comm *graph)
{
    struct base_arena arena = {0};
    int in = 0, out = 0, is_weighted = 0, most = 0, rank, ranks;
    REORDER_CALL(Comm_rank)(q.old, &rank);
    REORDER_CALL(Comm_size)(q.old, &ranks);
    REORDER_CALL(Dist_graph_neighbors_count)(q.old, &in, &out, &is_weighted);
    REORDER_CALL(Allreduce)(in > out ? &in : &out, &most, 1, MPI_INT, MPI_MAX, q.old);
    const bool is_large = most > REORDER_MOST_NEIGHBORS / ranks;
    if (is_large && rank == 0 && q.key != 0)
        q.report(false, "the graph keeps its order: its ranks have too many neighbours");
    if (is_large || most == 0)
        return;
    int *lists = base_arena_alloc(&arena, 2 + 4 * (size_t)most, sizeof *lists);
    if (lists == NULL || reorder_read_lists(q.old, in, out, most, lists) != MPI_SUCCESS)
        q.key = 0;
    q.task.ranks = ranks;
    q.task.most = most;
    q.list = lists == NULL ? NULL : lists + 1 + 2 * most;
    MPI_Comm ordered = reorder_communicator(q);
    if (ordered != q.old)
        reorder_replace(ordered, rank, lists, most, is_weighted ? NULL : weights, info, graph);
    reorder_release(q.old, ordered);
    base_arena_release(&arena);
}

#endif
