/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The component and its parameters.
 */
#include "orte/shared/rmaps_dla.h"

#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/base.h"
#include "orte/util/proc_info.h"

static int rmaps_dla_register(void);
static int rmaps_dla_close(void);
static int rmaps_dla_query(mca_base_module_t **module, int *priority);

rmaps_dla_settings rmaps_dla;

ORTE_MODULE_DECLSPEC extern orte_rmaps_base_component_t mca_rmaps_dla_component;
orte_rmaps_base_component_t mca_rmaps_dla_component = {
    .base_version =
        {
            ORTE_RMAPS_BASE_VERSION_2_0_0,

            .mca_component_name = "dla",
            MCA_BASE_MAKE_VERSION(component, ORTE_MAJOR_VERSION, ORTE_MINOR_VERSION,
                                  ORTE_RELEASE_VERSION),
            .mca_close_component = rmaps_dla_close,
            .mca_query_component = rmaps_dla_query,
            .mca_register_component_params = rmaps_dla_register,
        },
    .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
};

/* ---- parameters ---- */

static void register_var(const char *name, const char *help, mca_base_var_type_t type,
                         mca_base_var_info_lvl_t level, void *storage)
{
    (void)mca_base_component_var_register(&mca_rmaps_dla_component.base_version, name, help, type,
                                          NULL, 0, 0, level, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

/* envar_file_prefix: the files of --tune. */
static void rmaps_check_names(void)
{
    static const char *const lists[] = {"param_files", "envar_file_prefix"};
    dla_check_parameters(NULL, dla_report_unknown);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int index = mca_base_var_find("opal", "mca", "base", lists[i]);
        char *const *files = NULL;
        (void)mca_base_var_get_value(index, &files, NULL, NULL);
        if (NULL != files && NULL != *files)
            dla_check_parameters(*files, dla_report_unknown);
    }
}

/* ---- the launcher that runs ---- */

#define SIZES(type)                                                                                \
    {                                                                                              \
#type, sizeof(type), type##_class.cls_sizeof                                               \
    }

/* Its structs differ where it was configured otherwise: as with --enable-debug. */
static bool fits_launcher(void)
{
    const struct {
        const char *name;
        size_t built, runs;
    } sizes[] = {SIZES(orte_job_t), SIZES(orte_job_map_t), SIZES(orte_app_context_t),
                 SIZES(orte_node_t), SIZES(orte_proc_t)};
    size_t i = 0;
    while (i < sizeof sizes / sizeof *sizes && sizes[i].built == sizes[i].runs)
        i++;
    if (i == sizeof sizes / sizeof *sizes)
        return true;
    if (ORTE_PROC_IS_HNP)
        opal_output(0,
                    "rmaps:dla: built for an Open MPI with another %s: not used; build it for this "
                    "one",
                    sizes[i].name);
    return false;
}

static int rmaps_dla_register(void)
{
    if (!fits_launcher())
        return ORTE_ERR_NOT_AVAILABLE;
    if (ORTE_PROC_IS_HNP)
        rmaps_check_names();
    free(rmaps_dla.map_by);
    rmaps_dla = (rmaps_dla_settings){.priority = DLA_DEFAULT_PRIORITY};
    register_var("priority", DLA_PRIORITY_HELP, MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_9,
                 &rmaps_dla.priority);
    register_var("verbose", DLA_VERBOSE_HELP, MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5,
                 &rmaps_dla.verbose);
    for (dla_item i = 0; i < DLA_ITEMS; i++)
        register_var(dla_items[i].key, dla_items[i].help, MCA_BASE_VAR_TYPE_STRING,
                     dla_items[i].tuner ? OPAL_INFO_LVL_5 : OPAL_INFO_LVL_3, &rmaps_dla.item[i]);
    rmaps_dla.map_by = dla_mapby_acquire();
    return ORTE_SUCCESS;
}

/* ---- the module ---- */

static int rmaps_dla_map_job(orte_job_t *jdata)
{
    return dla_map_job(jdata, NULL);
}

/* map_job sets the locations. */
static int rmaps_dla_assign_locations(orte_job_t *jdata)
{
    if (NULL != jdata->map->last_mapper && 0 == strcmp(jdata->map->last_mapper, "dla"))
        return ORTE_SUCCESS;
    return ORTE_ERR_TAKE_NEXT_OPTION;
}

static orte_rmaps_base_module_t module = {
    .map_job = rmaps_dla_map_job,
    .assign_locations = rmaps_dla_assign_locations,
};

static int rmaps_dla_close(void)
{
    free(rmaps_dla.map_by);
    rmaps_dla.map_by = NULL;
    return ORTE_SUCCESS;
}

static int rmaps_dla_query(mca_base_module_t **found, int *priority)
{
    *priority = rmaps_dla.priority;
    *found = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}
