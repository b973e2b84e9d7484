/* SPDX-License-Identifier: BSD-3-Clause */
/* The component. */
#include "topo_dla.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/compat/compat_fit.h"

char *topo_dla_file;

static int register_parameters(void)
{
    if (!compat_fits_library("topo:dla"))
        return OMPI_ERR_NOT_AVAILABLE;
    int index = mca_base_component_var_register(
        &mca_topo_dla_component.topoc_version, "file",
        "View file by which communicators with reorder are placed, as rmaps_dla_file",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY,
        &topo_dla_file);
    return index < 0 ? index : OMPI_SUCCESS;
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

/* Whether the user has named the component: --mca topo dla,basic. */
static bool is_asked_for(void)
{
    static const char separators[] = ", ";
    char *const *names = NULL;
    (void)mca_base_var_get_value(mca_base_var_find("ompi", "topo", NULL, NULL), &names, NULL, NULL);
    for (const char *at = NULL != names ? *names : NULL; NULL != at && '\0' != *at;) {
        size_t length = strcspn(at, separators);
        if (3 == length && 0 == strncmp(at, "dla", length))
            return true;
        at += length + strspn(at + length, separators);
    }
    return false;
}

/* Zeroed: Open MPI sets the functions that are NULL to its own ones. */
static mca_topo_base_module_t *make_module(int *priority, uint32_t type)
{
    if (!is_asked_for())
        return NULL;
    mca_topo_base_module_t *module = calloc(1, sizeof *module);
    if (NULL == module)
        return NULL;
    OBJ_CONSTRUCT(module, mca_topo_base_module_t);
    module->type = type;
    topo_dla_set_functions(module);
    *priority = 50;
    return module;
}

#if OMPI_MAJOR_VERSION >= 5
static mca_topo_base_module_t *query(const ompi_communicator_t *comm, const ompi_group_t *group,
                                     int *priority, uint32_t type)
{
    (void)group;
    return NULL != comm ? make_module(priority, type) : NULL;
}
#define QUERY topoc_query
#else
static mca_topo_base_module_t *query(const ompi_communicator_t *comm, int *priority, uint32_t type)
{
    (void)comm;
    return make_module(priority, type);
}
#define QUERY topoc_comm_query
#endif

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
    .QUERY = query,
};
