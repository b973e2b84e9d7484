/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open MPI accepts a fixed list of mapping policies and parses them in three places: the MCA
 * parameter, when the rmaps framework opens; the command line, again, when the job is submitted;
 * and the parameters that mpirun passes to its daemons. In each place, a stock policy with the same
 * qualifiers replaces this component's policy.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdlib.h>

#include "opal/mca/base/base.h"
#include "opal/util/argv.h"
#include "opal/util/cmd_line.h"
#include "opal/util/opal_environ.h"
#include "orte/orted/orted_submit.h"
#include "orte/util/proc_info.h"

#define POLICY_PARAMETER "rmaps_base_mapping_policy"

extern char **environ;

/* The storage of the parameter; NULL if it is not registered. */
static char **policy_storage(void)
{
    char **storage = NULL;
    int index = mca_base_var_find("orte", "rmaps", "base", "mapping_policy");
    if (0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &storage, NULL, NULL))
        return NULL;
    return storage;
}

/* Daemons get mpirun's environment and those --mca options that are not already on their command
 * line. Without this component, they would reject its policy. */
static void pass_to_daemons(const char *policy)
{
    char *name = NULL;
    if (OPAL_SUCCESS == mca_base_var_env_name(POLICY_PARAMETER, &name)) {
        opal_setenv(name, policy, true, &environ);
        free(name);
    }
    if (ORTE_PROC_IS_HNP) {
        opal_argv_append_nosize(&orted_cmd_line, "-" OPAL_MCA_CMD_LINE_ID);
        opal_argv_append_nosize(&orted_cmd_line, POLICY_PARAMETER);
        opal_argv_append_nosize(&orted_cmd_line, policy);
    }
}

/* mpirun parses its command line again for each application context, and then the policy in it. An
 * option of the same name that comes first and stores nothing leaves the parameter in force. */
static void shadow_option(opal_cmd_line_t *line)
{
    opal_cmd_line_init_t silent = {
        .ocl_cmd_long_name = "map-by",
        .ocl_num_params = 1,
        .ocl_variable_type = OPAL_CMD_LINE_TYPE_NULL,
        .ocl_description = "Mapping Policy",
        .ocl_otype = OPAL_CMD_LINE_OTYPE_MAPPING,
    };
    opal_cmd_line_t other;
    OBJ_CONSTRUCT(&other, opal_cmd_line_t);
    if (OPAL_SUCCESS == opal_cmd_line_make_opt_mca(&other, silent))
        opal_list_prepend(&line->lcl_options, opal_list_remove_first(&other.lcl_options));
    OBJ_DESTRUCT(&other);
    free(orte_cmd_options.mapping_policy);
    orte_cmd_options.mapping_policy = NULL;
}

char *dla_mapby_acquire(void)
{
    char **storage;
    char *policy;
    if (!(ORTE_PROC_IS_HNP || ORTE_PROC_IS_DAEMON) || NULL == (storage = policy_storage()))
        return NULL;
    if (ORTE_PROC_IS_HNP && NULL != orte_cmd_line &&
        (dla_spec_is_dla(*storage) || dla_spec_is_dla(orte_cmd_options.mapping_policy)))
        shadow_option(orte_cmd_line);
    /* the parameter takes precedence: --map-by sets it first, then --mca */
    if (!dla_spec_is_dla(*storage) || NULL == (policy = dla_spec_stock_policy(*storage)))
        return NULL;
    char *map_by = *storage;
    *storage = policy;
    pass_to_daemons(policy);
    return map_by;
}
