/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The component and its parameters.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rmaps_dla_register(void);
static int rmaps_dla_open(void);
static int rmaps_dla_query(pmix_mca_base_module_t **module, int *priority);

rmaps_dla_settings rmaps_dla;

PRTE_EXPORT extern prte_rmaps_base_component_t prte_mca_rmaps_dla_component;
prte_rmaps_base_component_t prte_mca_rmaps_dla_component = {
    PRRTE_RMAPS_VERSION,

    .pmix_mca_component_name = "dla",
    PMIX_MCA_BASE_MAKE_VERSION(component, PRTE_VERSION_MAJOR, PRTE_VERSION_MINOR,
                               PRTE_VERSION_RELEASE),
    .pmix_mca_open_component = rmaps_dla_open,
    .pmix_mca_query_component = rmaps_dla_query,
    .pmix_mca_register_component_params = rmaps_dla_register,
};

/* ---- parameters ---- */

static void set_variable(const char *name, const char *value)
{
    char variable[96];
    (void)snprintf(variable, sizeof(variable), "PRTE_MCA_%s", name);
    if (NULL != value)
        (void)setenv(variable, value, false);
}

/* mpirun passes on the parameters of PRRTE's own components only, unless they are on its line. */
static const char *take_environment(const char *name)
{
    char variable[96];
    (void)snprintf(variable, sizeof(variable), "OMPI_MCA_%s", name);
    const char *value = getenv(variable);
    set_variable(name, value);
    return value;
}

/* Nor does it pass those on from the user's file of Open MPI's parameters, which go after the
 * environment. */
static void take_user_file(void)
{
    pmix_mca_base_var_file_value_t *value;
    pmix_list_t values;
    char path[4096];
    const char *home = getenv("HOME");
    if (NULL == home || sizeof(path) <= strlen(home) + sizeof("/.openmpi/mca-params.conf"))
        return;
    (void)snprintf(path, sizeof(path), "%s/.openmpi/mca-params.conf", home);
    PMIX_CONSTRUCT(&values, pmix_list_t);
    PRRTE_READ_PARAMETERS(path, &values);
    PMIX_LIST_FOREACH(value, &values, pmix_mca_base_var_file_value_t)
    {
        if (0 == strncmp(value->mbvfv_var, "rmaps_dla_", strlen("rmaps_dla_")) &&
            NULL == take_environment(value->mbvfv_var))
            set_variable(value->mbvfv_var, value->mbvfv_value);
    }
    PMIX_LIST_DESTRUCT(&values);
}

static void register_var(const char *name, const char *help, pmix_mca_base_var_type_t type,
                         void *storage)
{
    char full[64];
    (void)snprintf(full, sizeof(full), "rmaps_dla_%s", name);
    (void)take_environment(full);
    (void)pmix_mca_base_component_var_register(&prte_mca_rmaps_dla_component, name, help, type,
                                               storage);
}

static int rmaps_dla_register(void)
{
    rmaps_dla = (rmaps_dla_settings){.priority = DLA_DEFAULT_PRIORITY};
    take_user_file();
    register_var("priority", DLA_PRIORITY_HELP, PMIX_MCA_BASE_VAR_TYPE_INT, &rmaps_dla.priority);
    register_var("verbose", DLA_VERBOSE_HELP, PMIX_MCA_BASE_VAR_TYPE_INT, &rmaps_dla.verbose);
    register_var("spec", "The text of --map-by dla:..., which schizo/dla takes from mpirun's line",
                 PMIX_MCA_BASE_VAR_TYPE_STRING, &rmaps_dla.map_by);
    for (dla_item i = 0; i < DLA_ITEMS; i++)
        register_var(dla_items[i].key, dla_items[i].help, PMIX_MCA_BASE_VAR_TYPE_STRING,
                     &rmaps_dla.item[i]);
    return PRTE_SUCCESS;
}

/* The parameter is read: neither daemons nor ranks need it. */
static int rmaps_dla_open(void)
{
    (void)unsetenv(PRRTE_SPEC_VARIABLE);
    if (PRTE_PROC_IS_MASTER)
        dla_check_parameters(NULL, dla_report_unknown);
    return PRTE_SUCCESS;
}

/* ---- the module ---- */

/* Application contexts with options of their own are mapped one by one, but the first call maps
 * them all. The options must not differ then. */
static int map_job(prte_job_t *jdata, prte_rmaps_options_t *options)
{
    static prte_binding_policy_t bind;
    static unsigned cpus_per_rank;
    /* schizo/dla makes slot of the policy. A DVM's default is not for a job with its own. */
    if (NULL != rmaps_dla.map_by &&
        PRTE_MAPPING_BYSLOT != PRTE_GET_MAPPING_POLICY(jdata->map->mapping))
        return PRTE_ERR_TAKE_NEXT_OPTION;
    if (!prrte_maps_by_context(options) || 0 == jdata->map->num_nodes || !dla_is_ours(jdata)) {
        bind = options->bind;
        cpus_per_rank = options->cpus_per_rank;
        return dla_map_job(jdata, options);
    }
    options->userranked = true;
    if (bind == options->bind && cpus_per_rank == options->cpus_per_rank)
        return PRTE_SUCCESS;
    PRTE_UPDATE_EXIT_STATUS(PRTE_ERROR_DEFAULT_EXIT_CODE);
    return dla_refuse("all programs of a job are mapped together, with the same --bind-to and PE=");
}

static prte_rmaps_base_module_t dla_module = {.map_job = map_job};

/* schizo/dla informs the user where PRRTE differs. */
static int rmaps_dla_query(pmix_mca_base_module_t **module, int *priority)
{
    char reason[PRRTE_REASON_SIZE];
    if (!prrte_fits(reason))
        return PRTE_ERR_NOT_AVAILABLE;
    *priority = rmaps_dla.priority;
    *module = (pmix_mca_base_module_t *)&dla_module;
    return PRTE_SUCCESS;
}
