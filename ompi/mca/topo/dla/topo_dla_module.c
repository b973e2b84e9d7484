/* SPDX-License-Identifier: BSD-3-Clause */
/* A split by the numbers of src/reorder gives a communicator in their order, from which Open MPI
 * makes the new one. */
#include "topo_dla.h"

#include <unistd.h>

#include "base/mix.h"
#include "mpi.h"
#include "opal/util/output.h"

#define REORDER_CALL(name) PMPI_##name
#include "reorder/communicator.h"

/* ---- the order ---- */

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

static reorder_request make_request(ompi_communicator_t *old, bool reorder)
{
    return (reorder_request){old, find_key(reorder), report};
}

/* ---- grids ---- */

static int create_grid(mca_topo_base_module_t *module, ompi_communicator_t *old, int dims,
                       const int *extent, const int *periodic, bool reorder,
                       ompi_communicator_t **created)
{
    const reorder_grid grid = {(size_t)dims, extent, periodic};
    const reorder_task task = {
        &grid, NULL, topo_dla_file, reorder_ranks(&grid, (size_t)ompi_comm_size(old)), NULL, 0};
    MPI_Comm ordered;
    if (0 == task.ranks)
        return mca_topo_base_cart_create(module, old, dims, extent, periodic, reorder, created);
    const reorder_request request = make_request(old, reorder);
    int rc = reorder_communicator(&request, &task, NULL, &ordered);
    if (MPI_SUCCESS == rc) {
        rc = mca_topo_base_cart_create(module, ordered, dims, extent, periodic, reorder, created);
        reorder_release(&request, &ordered);
    }
    return rc;
}

/* ---- graphs ---- */

static int create_graph(mca_topo_base_module_t *module, ompi_communicator_t *old, int ranks,
                        const int *index, const int *edge, bool reorder,
                        ompi_communicator_t **created)
{
    matrix graph = {0};
    MPI_Comm ordered;
    if (reorder && 0 == ompi_comm_rank(old))
        (void)reorder_read_graph(index, edge, (size_t)ranks, &graph);
    const reorder_task task = {NULL, &graph, topo_dla_file, (size_t)ranks, NULL, 0};
    const reorder_request request = make_request(old, reorder && ranks <= ompi_comm_size(old));
    int rc = reorder_communicator(&request, &task, NULL, &ordered);
    matrix_release(&graph);
    if (MPI_SUCCESS == rc) {
        rc = mca_topo_base_graph_create(module, ordered, ranks, index, edge, reorder, created);
        reorder_release(&request, &ordered);
    }
    return rc;
}

/* ---- distributed graphs ---- */

static int order_dist_graph(const int *weights, struct opal_info_t *info, bool reorder,
                            ompi_communicator_t **created)
{
    return reorder_dist_graph(make_request(*created, reorder), topo_dla_file, weights,
                              (MPI_Info)info, created);
}

static int create_dist_graph(mca_topo_base_module_t *module, ompi_communicator_t *old, int count,
                             const int source[], const int degree[], const int target[],
                             const int weight[], struct opal_info_t *info, int reorder,
                             ompi_communicator_t **created)
{
    int rc = mca_topo_base_dist_graph_create(module, old, count, source, degree, target, weight,
                                             info, reorder, created);
    return MPI_SUCCESS == rc ? order_dist_graph(weight, info, reorder, created) : rc;
}

static int create_adjacent(mca_topo_base_module_t *module, ompi_communicator_t *old, int sources,
                           const int source[], const int source_weight[], int targets,
                           const int target[], const int target_weight[], struct opal_info_t *info,
                           int reorder, ompi_communicator_t **created)
{
    int rc = mca_topo_base_dist_graph_create_adjacent(module, old, sources, source, source_weight,
                                                      targets, target, target_weight, info, reorder,
                                                      created);
    return MPI_SUCCESS == rc ? order_dist_graph(source_weight, info, reorder, created) : rc;
}

/* ---- the module ---- */

void topo_dla_set_functions(mca_topo_base_module_t *module)
{
    if (OMPI_COMM_CART == module->type)
        module->topo.cart.cart_create = create_grid;
    else if (OMPI_COMM_GRAPH == module->type)
        module->topo.graph.graph_create = create_graph;
    else {
        module->topo.dist_graph.dist_graph_create = create_dist_graph;
        module->topo.dist_graph.dist_graph_create_adjacent = create_adjacent;
    }
}
