/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The component and its parameters.
 */
#include "rmaps_dla.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../compat/prrte_fit.h"
#include "rmaps_dla_spec.h"

/* Above all stock mappers that are selected by priority (the highest, ppr, has 90). */
#define DEFAULT_PRIORITY 95

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

/* mpirun passes on the parameters of PRRTE's own components only, unless they are on its line. */
static void take_environment(const char *name)
{
    char ours[64], theirs[64];
    const char *value;

    (void)snprintf(ours, sizeof(ours), "OMPI_MCA_rmaps_dla_%s", name);
    (void)snprintf(theirs, sizeof(theirs), "PRTE_MCA_rmaps_dla_%s", name);
    value = getenv(ours);
    if (NULL != value)
        (void)setenv(theirs, value, false);
}

/* Nor does it pass those on from the user's file of Open MPI's parameters, which go after the
 * environment. */
static void take_user_file(void)
{
    pmix_mca_base_var_file_value_t *value;
    pmix_list_t values;
    char path[4096], ours[96], theirs[96];
    const char *home = getenv("HOME");

    if (NULL == home || sizeof(path) <= strlen(home) + sizeof("/.openmpi/mca-params.conf"))
        return;
    (void)snprintf(path, sizeof(path), "%s/.openmpi/mca-params.conf", home);
    PMIX_CONSTRUCT(&values, pmix_list_t);
    PRRTE_READ_PARAMETERS(path, &values);
    PMIX_LIST_FOREACH(value, &values, pmix_mca_base_var_file_value_t)
    {
        if (0 != strncmp(value->mbvfv_var, "rmaps_dla_", strlen("rmaps_dla_")) ||
            NULL == value->mbvfv_value)
            continue;
        (void)snprintf(ours, sizeof(ours), "OMPI_MCA_%s", value->mbvfv_var);
        (void)snprintf(theirs, sizeof(theirs), "PRTE_MCA_%s", value->mbvfv_var);
        if (NULL == getenv(ours))
            (void)setenv(theirs, value->mbvfv_value, false);
    }
    PMIX_LIST_DESTRUCT(&values);
}

static void register_var(const char *name, const char *help, pmix_mca_base_var_type_t type,
                         void *storage)
{
    take_environment(name);
    (void)pmix_mca_base_component_var_register(&prte_mca_rmaps_dla_component, name, help, type,
                                               storage);
}

/* PMIx has no enumerations: a name is checked when a job is mapped. */
static void register_items(dla_parameters *parameters)
{
    for (const dla_parameter *p = dla_parameter_table; NULL != p->name; p++) {
        if (DLA_PARAMETER_CHOICE == p->type)
            register_var(p->name, p->help, PMIX_MCA_BASE_VAR_TYPE_STRING,
                         &parameters->choice_name[p->choice]);
        else
            register_var(p->name, p->help,
                         DLA_PARAMETER_INT == p->type ? PMIX_MCA_BASE_VAR_TYPE_INT
                                                      : PMIX_MCA_BASE_VAR_TYPE_STRING,
                         dla_parameter_storage(p, parameters));
    }
}

static int rmaps_dla_register(void)
{
    rmaps_dla = (rmaps_dla_settings){.priority = DEFAULT_PRIORITY};
    take_user_file();
    dla_parameters_init(&rmaps_dla.parameters);
    register_var("priority", DLA_PRIORITY_HELP, PMIX_MCA_BASE_VAR_TYPE_INT, &rmaps_dla.priority);
    register_var("verbose", DLA_VERBOSE_HELP, PMIX_MCA_BASE_VAR_TYPE_INT, &rmaps_dla.verbose);
    register_var("spec", "The text of --map-by dla:..., which schizo/dla takes from mpirun's line",
                 PMIX_MCA_BASE_VAR_TYPE_STRING, &rmaps_dla.spec);
    register_items(&rmaps_dla.parameters);
    return PRTE_SUCCESS;
}

static void report_unknown(const char *name, const char *advice)
{
    pmix_output(0, "rmaps:dla: there is no MCA parameter rmaps_dla_%s; %s", name, advice);
}

/* The parameter is read: neither daemons nor ranks need it. */
static int rmaps_dla_open(void)
{
    (void)unsetenv(RMAPS_DLA_SPEC_VARIABLE);
    if (PRTE_PROC_IS_MASTER)
        dla_parameters_check_names(NULL, report_unknown);
    return PRTE_SUCCESS;
}

/* schizo/dla informs the user where PRRTE differs. */
static int rmaps_dla_query(pmix_mca_base_module_t **module, int *priority)
{
    char reason[PRRTE_REASON_SIZE];

    if (!prrte_fits(reason))
        return PRTE_ERR_NOT_AVAILABLE;
    *priority = rmaps_dla.priority;
    *module = (pmix_mca_base_module_t *)&rmaps_dla_module;
    return PRTE_SUCCESS;
}
