/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose processes are reordered: MPI_Cart_create and MPI_Graph_create of the MPI get
 * one that is in the new order already, and a distributed graph is made anew. */
#include "mpi/calls.h"
#include "mpi/front.h"
#include "mpi/group.h"
#include "mpi/process.h"

#define REORDER_CALL(name) mpi.name
#include "reorder/communicator.h"

static void report(bool is_error, const char *line)
{
    front_log(is_error ? 0 : 1, "%s%s", is_error ? "not reordered: " : "", line);
}

/* Whether communicators are to be reordered. Those that are none, or inter-communicators, are left
 * to the MPI, which refuses them, as are those of several jobs, which may not all have the library.
 */
static bool make_request(MPI_Comm comm, bool reorder, reorder_task task, reorder_request *q)
{
    int is_inter = 0;
    const char *record = front_process_is_ready() ? front_process_record() : NULL;
    if (record == NULL || comm == MPI_COMM_NULL ||
        mpi.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter ||
        !front_group_is_of_job(comm))
        return false;
    task.record = *record != '\0' ? record : NULL;
    *q = (reorder_request){comm, reorder ? front_process_node() | 1 : 0, report, task, NULL};
    return true;
}

static front_word order(front_word comm, bool reorder, reorder_task task)
{
    reorder_request q;
    return make_request((MPI_Comm)comm, reorder, task, &q) ? (front_word)reorder_communicator(q)
                                                           : comm;
}

front_word front_order_grid(front_word comm, int dims, const int *extent, const int *periodic,
                            bool reorder)
{
    const reorder_grid grid = {dims, extent, periodic};
    return order(comm, reorder, (reorder_task){.grid = &grid});
}

front_word front_order_graph(front_word comm, int ranks, const int *index, const int *edge,
                             bool reorder)
{
    return order(comm, reorder, (reorder_task){.ranks = ranks, .index = index, .edge = edge});
}

void front_order_release(front_word comm, front_word ordered, const front_word *created)
{
    /* a word has bits that a handle does not have */
    if (created != NULL)
        front_group_note_order((MPI_Comm)comm, (MPI_Comm)ordered != (MPI_Comm)comm,
                               *(const MPI_Comm *)(const void *)created);
    reorder_release((MPI_Comm)comm, (MPI_Comm)ordered);
}

void front_order_dist_graph(front_word comm, const int *weights, front_word info, bool reorder,
                            front_word *created)
{
    reorder_request q;
    MPI_Comm *graph = (MPI_Comm *)(void *)created;
    const MPI_Comm made = *graph;
    if (!make_request(made, reorder, (reorder_task){.ranks = 0}, &q))
        return;
    reorder_dist_graph(q, weights, (MPI_Info)info, graph);
    front_group_note_order((MPI_Comm)comm, *graph != made, *graph);
}
