/* SPDX-License-Identifier: BSD-3-Clause */
/* A split by the numbers of src/reorder gives a communicator in their order, from which Open MPI
 * makes the new one. */
#include "topo_dla.h"

#include <unistd.h>

#include "base/mix.h"
#include "mpi.h"
#include "opal/util/output.h"
#include "reorder/reorder.h"

/* ---- the order ---- */

static int broadcast(void *old, int *value)
{
    return PMPI_Bcast(value, 1, MPI_INT, 0, old);
}

static int gather(void *old, int64_t key, int64_t *keys)
{
    return PMPI_Gather(&key, 1, MPI_INT64_T, keys, 1, MPI_INT64_T, 0, old);
}

static int scatter(void *old, const int *numbers, int *number)
{
    return PMPI_Scatter(numbers, 1, MPI_INT, number, 1, MPI_INT, 0, old);
}

static void report(bool is_error, const char *line)
{
    if (is_error)
        opal_output(0, "topo:dla: not reordered: %s", line);
    else
        opal_output_verbose(1, ompi_topo_base_framework.framework_output, "topo:dla: %s", line);
}

/* The number of this process's node, by what the launcher and the system call it. 0: the process is
 * not to be reordered. */
static int64_t find_key(bool reorder)
{
    const char *launched = compat_proc_hostname(ompi_proc_local_proc);
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    uint64_t key = base_digest_text(0, NULL != launched ? launched : "");
    return reorder ? (int64_t)(base_digest_text(key, name) | 1) : 0;
}

/* The processes of the old communicator in their new order: itself, or one that the caller frees.
 */
static int order_processes(ompi_communicator_t *old, const reorder_task *task, bool reorder,
                           MPI_Comm *ordered)
{
    const reorder_group group = {.context = old,
                                 .rank = ompi_comm_rank(old),
                                 .processes = ompi_comm_size(old),
                                 .broadcast = broadcast,
                                 .gather = gather,
                                 .scatter = scatter,
                                 .report = report};
    int number, rc = reorder_number(&group, task, find_key(reorder), &number);
    *ordered = old;
    return MPI_SUCCESS == rc && REORDER_KEEPS != number ? PMPI_Comm_split(old, 0, number, ordered)
                                                        : rc;
}

static void release_order(ompi_communicator_t *old, MPI_Comm *ordered)
{
    if (*ordered != old)
        (void)PMPI_Comm_free(ordered);
}

/* ---- grids ---- */

int topo_dla_cart_create(mca_topo_base_module_t *module, ompi_communicator_t *old, int dims,
                         const int *extent, const int *periodic, bool reorder,
                         ompi_communicator_t **created)
{
    const reorder_grid grid = {(size_t)dims, extent, periodic};
    const reorder_task task = {&grid, NULL, topo_dla_file,
                               reorder_ranks(&grid, (size_t)ompi_comm_size(old))};
    MPI_Comm ordered;
    if (0 == task.ranks)
        return mca_topo_base_cart_create(module, old, dims, extent, periodic, reorder, created);
    int rc = order_processes(old, &task, reorder, &ordered);
    if (MPI_SUCCESS == rc) {
        rc = mca_topo_base_cart_create(module, ordered, dims, extent, periodic, reorder, created);
        release_order(old, &ordered);
    }
    return rc;
}

/* ---- graphs ---- */

int topo_dla_graph_create(mca_topo_base_module_t *module, ompi_communicator_t *old, int ranks,
                          const int *index, const int *edge, bool reorder,
                          ompi_communicator_t **created)
{
    matrix graph = {0};
    MPI_Comm ordered;
    if (reorder && 0 == ompi_comm_rank(old))
        (void)reorder_read_graph(index, edge, (size_t)ranks, &graph);
    const reorder_task task = {NULL, &graph, topo_dla_file, (size_t)ranks};
    int rc = order_processes(old, &task, reorder && ranks <= ompi_comm_size(old), &ordered);
    matrix_release(&graph);
    if (MPI_SUCCESS == rc) {
        rc = mca_topo_base_graph_create(module, ordered, ranks, index, edge, reorder, created);
        release_order(old, &ordered);
    }
    return rc;
}
