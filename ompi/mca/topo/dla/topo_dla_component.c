/* SPDX-License-Identifier: BSD-3-Clause */
/* The component topo/dla: communicators with a topology that are made with reorder give processes
 * ranks by their nodes. It is used where it is asked for: --mca topo dla,basic. A split by the
 * numbers of src/reorder gives a communicator in their order, from which Open MPI makes the new
 * one. */
#include "ompi/compat/compat.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mix.h"
#include "mpi.h"
#include "ompi/compat/compat_asked.h"
#include "ompi/compat/compat_fit.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/mca/topo/topo.h"
#include "opal/util/output.h"

#define REORDER_CALL(name) PMPI_##name
#include "reorder/communicator.h"

OMPI_DECLSPEC extern mca_topo_base_component_t mca_topo_dla_component;

/* These are parameters. topo_dla_file is a view file, or NULL. */
static char *topo_dla_file;
static bool topo_dla_placed;

/* ---- the order ---- */

static void topo_report(bool is_error, const char *line)
{
    if (is_error)
        opal_output(0, "topo:dla: not reordered: %s", line);
    else
        opal_output_verbose(1, ompi_topo_base_framework.framework_output, "topo:dla: %s", line);
}

/* Spawned processes, which the stock mappers place, inherit the parameter. */
static bool is_placed(void)
{
    MPI_Comm parent;
    PMPI_Comm_get_parent(&parent);
    return topo_dla_placed && MPI_COMM_NULL == parent;
}

/* One rank says so, once. */
static void report_placed(void)
{
    static bool is_said;
    if (0 == ompi_comm_rank(&ompi_mpi_comm_world.comm) && !is_said)
        topo_report(true,
                    "rmaps/dla has chosen the nodes of the ranks; to reorder them instead, start "
                    "the job without --map-by dla and rmaps_dla_file");
    is_said = true;
}

/* The key is of this node, by what the launcher and the system call it. */
static reorder_request topo_make_request(ompi_communicator_t *old, bool reorder, reorder_task task)
{
    const char *launched = compat_proc_hostname(ompi_proc_local_proc);
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    uint64_t key = base_digest_text(0, NULL != launched ? launched : "");
    key = base_digest_text(key, name) | 1;
    task.record = NULL != topo_dla_file && '\0' != *topo_dla_file ? topo_dla_file : NULL;
    const bool keeps = reorder && is_placed();
    if (keeps)
        report_placed();
    return (reorder_request){old, reorder && !keeps ? (int64_t)key : 0, topo_report, task, NULL};
}

/* ---- what the new order means to a record ---- */

/* Whether its ranks are those of the job, or would be without a new order. */
static bool topo_has_ranks_of_job(ompi_communicator_t *comm)
{
    const opal_process_name_t own = ompi_proc_local_proc->super.proc_name;
    bool is_same = true;
    for (int i = 0; i < ompi_comm_size(comm) && is_same && !compat_is_reordered(comm); i++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, i);
        is_same = name.jobid == own.jobid && name.vpid == (opal_vpid_t)i;
    }
    return is_same;
}

/* compat_is_reordered reads it. is_new: processes have other ranks than in the old communicator. */
static void note_order(ompi_communicator_t *old, bool is_new, ompi_communicator_t *created)
{
    if (NULL != created && MPI_COMM_NULL != created)
        created->c_topo->reorder =
            compat_is_reordered(old) || (is_new && topo_has_ranks_of_job(old));
}

/* ---- the communicators ---- */

static int create_grid(mca_topo_base_module_t *module, ompi_communicator_t *old, int dims,
                       const int *extent, const int *periodic, bool reorder,
                       ompi_communicator_t **created)
{
    const reorder_grid grid = {dims, extent, periodic};
    const reorder_task task = {.grid = &grid};
    MPI_Comm ordered = reorder_communicator(topo_make_request(old, reorder, task));
    int rc = mca_topo_base_cart_create(module, ordered, dims, extent, periodic, reorder, created);
    if (MPI_SUCCESS == rc)
        note_order(old, ordered != old, *created);
    reorder_release(old, ordered);
    return rc;
}

static int create_graph(mca_topo_base_module_t *module, ompi_communicator_t *old, int ranks,
                        const int *index, const int *edge, bool reorder,
                        ompi_communicator_t **created)
{
    const reorder_task task = {.ranks = ranks, .index = index, .edge = edge};
    MPI_Comm ordered = reorder_communicator(topo_make_request(old, reorder, task));
    int rc = mca_topo_base_graph_create(module, ordered, ranks, index, edge, reorder, created);
    if (MPI_SUCCESS == rc)
        note_order(old, ordered != old, *created);
    reorder_release(old, ordered);
    return rc;
}

/* rc: of Open MPI, which has made it. Returns that. */
static int order_dist_graph(int rc, ompi_communicator_t *old, const int *weights,
                            struct opal_info_t *info, bool reorder, ompi_communicator_t **created)
{
    if (MPI_SUCCESS == rc) {
        const ompi_communicator_t *const made = *created;
        reorder_dist_graph(topo_make_request(*created, reorder, (reorder_task){.ranks = 0}),
                           weights, (MPI_Info)info, created);
        note_order(old, *created != made, *created);
    }
    return rc;
}

static int create_dist_graph(mca_topo_base_module_t *module, ompi_communicator_t *old, int count,
                             const int source[], const int degree[], const int target[],
                             const int weight[], struct opal_info_t *info, int reorder,
                             ompi_communicator_t **created)
{
    int rc = mca_topo_base_dist_graph_create(module, old, count, source, degree, target, weight,
                                             info, reorder, created);
    return order_dist_graph(rc, old, weight, info, reorder, created);
}

static int create_adjacent(mca_topo_base_module_t *module, ompi_communicator_t *old, int sources,
                           const int source[], const int source_weight[], int targets,
                           const int target[], const int target_weight[], struct opal_info_t *info,
                           int reorder, ompi_communicator_t **created)
{
    int rc = mca_topo_base_dist_graph_create_adjacent(module, old, sources, source, source_weight,
                                                      targets, target, target_weight, info, reorder,
                                                      created);
    return order_dist_graph(rc, old, source_weight, info, reorder, created);
}

/* ---- the component ---- */

static int register_parameters(void)
{
    if (!compat_fits_library("topo:dla"))
        return OMPI_ERR_NOT_AVAILABLE;
    int index = mca_base_component_var_register(
        &mca_topo_dla_component.topoc_version, "file",
        "View file by which communicators with reorder are placed, as rmaps_dla_file",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY,
        &topo_dla_file);
    if (index >= 0)
        index = mca_base_component_var_register(
            &mca_topo_dla_component.topoc_version, "placed",
            "Communicators keep their order, because the job is placed by file access; rmaps/dla "
            "sets it",
            MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0, OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_READONLY,
            &topo_dla_placed);
    return index < 0 ? index : OMPI_SUCCESS;
}

static int init_query(__attribute__((unused)) bool enable_progress_threads,
                      __attribute__((unused)) bool enable_mpi_threads)
{
    return OMPI_SUCCESS;
}

/* Zeroed: Open MPI sets the functions that are NULL to its own ones. Those that create
 * communicators are collective over the old one. Ranks that differ in `reorder` keep their order.
 */
static mca_topo_base_module_t *topo_query(COMPAT_TOPO_PARAMETERS)
{
    if (NULL == comm || !compat_is_asked_for("topo", "dla", NULL))
        return NULL;
    mca_topo_base_module_t *module = calloc(1, sizeof *module);
    if (NULL == module)
        return NULL;
    OBJ_CONSTRUCT(module, mca_topo_base_module_t);
    module->type = type;
    if (OMPI_COMM_CART == type)
        module->topo.cart.cart_create = create_grid;
    else if (OMPI_COMM_GRAPH == type)
        module->topo.graph.graph_create = create_graph;
    else {
        module->topo.dist_graph.dist_graph_create = create_dist_graph;
        module->topo.dist_graph.dist_graph_create_adjacent = create_adjacent;
    }
    *priority = 50;
    return module;
}

mca_topo_base_component_t mca_topo_dla_component = {
    .topoc_version =
        {
            MCA_TOPO_BASE_VERSION_2_2_0,
            .mca_component_name = "dla",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                  OMPI_RELEASE_VERSION),
            .mca_register_component_params = register_parameters,
        },
    .topoc_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .topoc_init_query = init_query,
    .COMPAT_TOPO_QUERY = topo_query,
};
