/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose processes are reordered: MPI_Cart_create and MPI_Graph_create of the MPI get
 * one that is in the new order already, and a distributed graph is made anew. */
#include "mpi/calls.h"
#include "mpi/front.h"
#include "mpi/process.h"

#define REORDER_CALL(name) mpi.name
#include "reorder/communicator.h"

static void report(bool is_error, const char *line)
{
    front_log(is_error ? 0 : 1, "%s%s", is_error ? "not reordered: " : "", line);
}

static reorder_request make_request(MPI_Comm comm, bool reorder)
{
    return (reorder_request){comm, reorder ? front_process_node() | 1 : 0, report};
}

/* Returns the old communicator where the processes keep their order, or after an error. */
static MPI_Comm order(MPI_Comm comm, const reorder_task *task, bool reorder)
{
    const reorder_request request = make_request(comm, reorder);
    (void)reorder_communicator(&request, task, NULL, &comm);
    return comm;
}

/* Processes of the communicator; 0 where it is not to be reordered. */
static int count_processes(MPI_Comm comm)
{
    int processes = 0, is_inter = 0;
    if (!front_process_is_ready() || front_process_record() == NULL || comm == MPI_COMM_NULL ||
        mpi.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return 0;
    mpi.Comm_size(comm, &processes);
    return processes;
}

front_word front_order_grid(front_word comm, int dims, const int *extent, const int *periodic,
                            bool reorder)
{
    const reorder_grid grid = {dims > 0 ? (size_t)dims : 0, extent, periodic};
    const size_t most = (size_t)count_processes((MPI_Comm)comm);
    const reorder_task task = {&grid, NULL, front_process_record(), reorder_ranks(&grid, most),
                               NULL,  0};
    return task.ranks > 0 ? (front_word)order((MPI_Comm)comm, &task, reorder) : comm;
}

front_word front_order_graph(front_word comm, int ranks, const int *index, const int *edge,
                             bool reorder)
{
    matrix graph = {0};
    int rank;
    if (ranks <= 0 || ranks > count_processes((MPI_Comm)comm))
        return comm;
    mpi.Comm_rank((MPI_Comm)comm, &rank);
    if (reorder && rank == 0) /* the others only need to know where they go */
        (void)reorder_read_graph(index, edge, (size_t)ranks, &graph);
    const reorder_task task = {NULL, &graph, front_process_record(), (size_t)ranks, NULL, 0};
    MPI_Comm ordered = order((MPI_Comm)comm, &task, reorder);
    matrix_release(&graph);
    return (front_word)ordered;
}

void front_order_release(front_word comm, front_word ordered)
{
    MPI_Comm made = (MPI_Comm)ordered;
    if (made != (MPI_Comm)comm) /* a word has bits that a handle does not have */
        mpi.Comm_free(&made);
}

void front_order_dist_graph(const int *weights, front_word info, bool reorder, front_word *created)
{
    const char *record = front_process_is_ready() ? front_process_record() : NULL;
    if (record == NULL)
        return;
    MPI_Comm *graph = (MPI_Comm *)(void *)created;
    (void)reorder_dist_graph(make_request(*graph, reorder), record, weights, (MPI_Info)info, graph);
}
