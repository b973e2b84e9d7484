/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators in a new order, for both front ends. A front end includes this in one file, after
 * mpi.h, and defines REORDER_CALL(NAME) as its way to MPI_NAME.
 *
 * Collective over the old communicator. Functions return an error of the MPI. Nobody is reordered
 * where one process lacks memory for it, or does not want it.
 */
#ifndef REORDER_COMMUNICATOR_H
#define REORDER_COMMUNICATOR_H

#include "base/arena.h"
#include "reorder/reorder.h"

typedef struct reorder_request {
    MPI_Comm old;
    int64_t key; /* other than 0, shared by a node's processes; 0: this one wants no new order */
    void (*report)(bool is_error, const char *line); /* on rank 0 */
} reorder_request;

/* ---- the order ---- */

/* list: as task->lists, of this process; all: on rank 0, room for those of all. */
static inline int reorder_find_number(const reorder_request *q, const reorder_task *task,
                                      const int *list, int processes, struct base_arena *arena,
                                      int *number)
{
    const int length = (int)(task->most > 0 ? 1 + 2 * task->most : 0);
    const size_t count = (size_t)processes;
    reorder_task gathered = *task;
    int64_t *key = base_arena_alloc(arena, count, sizeof *key);
    int *numbers = base_arena_alloc(arena, count, sizeof *numbers);
    int *lists = base_arena_alloc(arena, count, (size_t)length * sizeof *lists);
    int is_ready = q->key != 0 && !arena->failed, are_ready;
    int rc = REORDER_CALL(Allreduce)(&is_ready, &are_ready, 1, MPI_INT, MPI_MIN, q->old);
    if (rc != MPI_SUCCESS || !are_ready)
        return rc;
    gathered.lists = length > 0 ? lists : NULL;
    rc = REORDER_CALL(Gather)(&q->key, 1, MPI_INT64_T, key, 1, MPI_INT64_T, 0, q->old);
    if (rc == MPI_SUCCESS && length > 0)
        rc = REORDER_CALL(Gather)(list, length, MPI_INT, lists, length, MPI_INT, 0, q->old);
    if (rc == MPI_SUCCESS && count > 0)
        reorder_place_all(&gathered, key, count, numbers, q->report);
    return rc == MPI_SUCCESS
               ? REORDER_CALL(Scatter)(numbers, 1, MPI_INT, number, 1, MPI_INT, 0, q->old)
               : rc;
}

/* Sets *ordered to the old communicator where all keep their numbers, and after an error; else to a
 * new one, which the caller frees. The task is that of rank 0. list: as task->lists, of this
 * process, if task->most is not 0; `most` is the same on all of them. */
static inline int reorder_communicator(const reorder_request *q, const reorder_task *task,
                                       const int *list, MPI_Comm *ordered)
{
    struct base_arena arena = {0};
    int rank, processes, number = REORDER_KEEPS;
    MPI_Comm made = q->old;
    REORDER_CALL(Comm_rank)(q->old, &rank);
    REORDER_CALL(Comm_size)(q->old, &processes);
    int rc = reorder_find_number(q, task, list, rank == 0 ? processes : 0, &arena, &number);
    if (rc == MPI_SUCCESS && number != REORDER_KEEPS)
        rc = REORDER_CALL(Comm_split)(q->old, 0, number, &made);
    *ordered = rc == MPI_SUCCESS ? made : q->old;
    base_arena_release(&arena);
    return rc;
}

static inline void reorder_release(const reorder_request *q, MPI_Comm *ordered)
{
    if (*ordered != q->old)
        (void)REORDER_CALL(Comm_free)(ordered);
}

/* ---- distributed graphs ---- */

/* Two lists as in reorder_task: of sources, and of destinations. */
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
static inline int reorder_replace(MPI_Comm ordered, int rank, const int *own, int *moved, int most,
                                  const int *weights, MPI_Info info, MPI_Comm *graph)
{
    const int length = 2 + 4 * most, *from = moved + 1, *to = moved + 2 + 2 * most;
    MPI_Comm made;
    int rc = REORDER_CALL(Sendrecv)(own, length, MPI_INT, rank, 0, moved, length, MPI_INT,
                                    MPI_ANY_SOURCE, 0, ordered, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = REORDER_CALL(Dist_graph_create_adjacent)(
            ordered, from[-1], from, weights != NULL ? weights : from + most, to[-1], to,
            weights != NULL ? weights : to + most, info, 0, &made);
    if (rc == MPI_SUCCESS) {
        (void)REORDER_CALL(Comm_free)(graph);
        *graph = made;
    }
    return rc;
}

/* *graph, which the MPI has made: so it has checked what the program gave, and says which
 * neighbours each process has. It is the old communicator of the request, and becomes one in the
 * new order. weights, info: of the program. */
static inline int reorder_dist_graph(reorder_request q, const char *record, const int *weights,
                                     MPI_Info info, MPI_Comm *graph)
{
    struct base_arena arena = {0};
    int in = 0, out = 0, is_weighted = 0, most = 0, rank, ranks;
    MPI_Comm ordered = q.old;
    REORDER_CALL(Comm_rank)(q.old, &rank);
    REORDER_CALL(Comm_size)(q.old, &ranks);
    REORDER_CALL(Dist_graph_neighbors_count)(q.old, &in, &out, &is_weighted);
    int rc = REORDER_CALL(Allreduce)(in > out ? &in : &out, &most, 1, MPI_INT, MPI_MAX, q.old);
    if (rc == MPI_SUCCESS && most > REORDER_MOST_NEIGHBORS / ranks && rank == 0 && q.key != 0)
        q.report(false, "the graph keeps its order: its ranks have too many neighbours");
    if (rc != MPI_SUCCESS || most == 0 || most > REORDER_MOST_NEIGHBORS / ranks)
        return rc;
    const reorder_task task = {.record = record, .ranks = (size_t)ranks, .most = (size_t)most};
    int *own = base_arena_alloc(&arena, 1 + 2 * task.most, 2 * sizeof *own);
    int *moved = base_arena_alloc(&arena, 1 + 2 * task.most, 2 * sizeof *moved);
    if (arena.failed || reorder_read_lists(q.old, in, out, most, own) != MPI_SUCCESS)
        q.key = 0;
    rc = reorder_communicator(&q, &task, q.key != 0 ? own + 1 + 2 * most : NULL, &ordered);
    if (ordered != q.old) {
        rc = reorder_replace(ordered, rank, own, moved, most, is_weighted ? NULL : weights, info,
                             graph);
        (void)REORDER_CALL(Comm_free)(&ordered);
    }
    base_arena_release(&arena);
    return rc;
}

#endif
