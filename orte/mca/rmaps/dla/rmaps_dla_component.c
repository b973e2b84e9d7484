/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The component and its parameters.
 */
#define _GNU_SOURCE /* asprintf */
#include "rmaps_dla.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "opal/mca/base/base.h"
#include "opal/util/component_help.h"
#include "opal/util/output.h"
#include "orte/constants.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/proc_info.h"

#include "rmaps_dla_mapby.h"

#ifndef RMAPS_DLA_HELP_DIR
#define RMAPS_DLA_HELP_DIR NULL
#endif

/* Above all stock mappers that are selected by priority (the highest, ppr, has 90). */
#define DEFAULT_PRIORITY 95

static int rmaps_dla_register(void);
static int rmaps_dla_open(void);
static int rmaps_dla_close(void);
static int rmaps_dla_query(mca_base_module_t **module, int *priority);

orte_rmaps_dla_component_t mca_rmaps_dla_component = {
    .super =
        {
            .base_version =
                {
                    ORTE_RMAPS_BASE_VERSION_2_0_0,

                    .mca_component_name = "dla",
                    MCA_BASE_MAKE_VERSION(component, ORTE_MAJOR_VERSION, ORTE_MINOR_VERSION,
                                          ORTE_RELEASE_VERSION),
                    .mca_open_component = rmaps_dla_open,
                    .mca_close_component = rmaps_dla_close,
                    .mca_query_component = rmaps_dla_query,
                    .mca_register_component_params = rmaps_dla_register,
                },
            .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
        },
};

/* ---- parameters ---- */

static int register_var(const char *name, const char *help, mca_base_var_type_t type,
                        mca_base_var_enum_t *values, mca_base_var_info_lvl_t level, void *storage)
{
    return mca_base_component_var_register(&mca_rmaps_dla_component.super.base_version, name, help,
                                           type, values, 0, 0, level, MCA_BASE_VAR_SCOPE_READONLY,
                                           storage);
}

/* As in --map-by, case is ignored, and numbers are not accepted. */
static int find_choice(mca_base_var_enum_t *values, const char *name, int *value)
{
    for (int i = 0; i < values->enum_value_count; i++) {
        if (0 == strcasecmp(name, values->enum_values[i].string)) {
            *value = i;
            return OPAL_SUCCESS;
        }
    }
    return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
}

/* The names alone, for ompi_info and for Open MPI's message about an invalid value. */
static int list_choices(mca_base_var_enum_t *values, char **list)
{
    *list = NULL;
    for (int i = 0; i < values->enum_value_count; i++) {
        char *shorter = *list;
        int length = asprintf(list, "%s%s%s", 0 == i ? "" : shorter, 0 == i ? "" : ", ",
                              values->enum_values[i].string);

        free(shorter);
        if (0 > length)
            return OPAL_ERR_OUT_OF_RESOURCE;
    }
    return OPAL_SUCCESS;
}

/* Open MPI checks the value and shows the message. A job that would use it must fail then: Open MPI
 * itself continues with the default. */
static void register_dla_choice(dla_parameters *p, dla_choice choice, const char *help)
{
    enum { MOST_VALUES = 16 };
    mca_base_var_enum_value_t value[MOST_VALUES + 1] = {{0, NULL}};
    mca_base_var_enum_t *values;

    for (int i = 0; i < MOST_VALUES && NULL != dla_choice_name(choice, i); i++)
        value[i] = (mca_base_var_enum_value_t){i, dla_choice_name(choice, i)};
    p->choice[choice] = 0;
    p->rejected[choice] = false;
    if (OPAL_SUCCESS != mca_base_var_enum_create(dla_choice_key(choice), value, &values))
        return;
    values->value_from_string = find_choice;
    values->dump = list_choices;
    p->rejected[choice] = 0 > register_var(dla_choice_key(choice), help, MCA_BASE_VAR_TYPE_INT,
                                           values, OPAL_INFO_LVL_5, &p->choice[choice]);
    OBJ_RELEASE(values);
}

/* The parameters that correspond to items of --map-by dla:. */
static void register_items(dla_parameters *parameters)
{
    for (const dla_parameter *p = dla_parameter_table; NULL != p->name; p++) {
        mca_base_var_info_lvl_t level = p->tuner ? OPAL_INFO_LVL_5 : OPAL_INFO_LVL_3;
        mca_base_var_type_t type =
            DLA_PARAMETER_INT == p->type ? MCA_BASE_VAR_TYPE_INT : MCA_BASE_VAR_TYPE_STRING;

        if (DLA_PARAMETER_CHOICE == p->type)
            register_dla_choice(parameters, p->choice, p->help);
        else
            register_var(p->name, p->help, type, NULL, level, dla_parameter_storage(p, parameters));
    }
}

static void report_unknown(const char *name, const char *advice)
{
    opal_output(0, "rmaps:dla: there is no MCA parameter rmaps_dla_%s; %s", name, advice);
}

static void check_names(void)
{
    char *const *files = NULL;
    int index = mca_base_var_find("opal", "mca", "base", "param_files");

    if (0 <= index)
        (void)mca_base_var_get_value(index, &files, NULL, NULL);
    dla_parameters_check_names(NULL != files ? *files : NULL, report_unknown);
}

/* ---- the launcher that runs ---- */

/* Its structs differ where it was configured otherwise: as with --enable-debug. */
static bool fits_launcher(void)
{
    const struct {
        const char *name;
        size_t built, runs;
    } sizes[] = {
        {"orte_job_t", sizeof(orte_job_t), orte_job_t_class.cls_sizeof},
        {"orte_job_map_t", sizeof(orte_job_map_t), orte_job_map_t_class.cls_sizeof},
        {"orte_app_context_t", sizeof(orte_app_context_t), orte_app_context_t_class.cls_sizeof},
        {"orte_node_t", sizeof(orte_node_t), orte_node_t_class.cls_sizeof},
        {"orte_proc_t", sizeof(orte_proc_t), orte_proc_t_class.cls_sizeof},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].built == sizes[i].runs)
            continue;
        if (ORTE_PROC_IS_HNP)
            opal_output(0,
                        "rmaps:dla: built for an Open MPI with another %s: not used; build it "
                        "for this one",
                        sizes[i].name);
        return false;
    }
    return true;
}

static int rmaps_dla_register(void)
{
    orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;

    if (!fits_launcher())
        return ORTE_ERR_NOT_AVAILABLE;
    if (ORTE_PROC_IS_HNP)
        check_names();
    c->priority = DEFAULT_PRIORITY;
    register_var("priority", DLA_PRIORITY_HELP, MCA_BASE_VAR_TYPE_INT, NULL, OPAL_INFO_LVL_9,
                 &c->priority);
    c->verbose = 0;
    register_var("verbose", DLA_VERBOSE_HELP, MCA_BASE_VAR_TYPE_INT, NULL, OPAL_INFO_LVL_5,
                 &c->verbose);
    dla_parameters_init(&c->parameters);
    /* only mpirun uses these; each daemon would repeat the message about an invalid value */
    if (!ORTE_PROC_IS_DAEMON)
        register_items(&c->parameters);

    free(c->map_by);
    c->map_by = dla_mapby_acquire();
    return ORTE_SUCCESS;
}

/* ---- the component ---- */

static int rmaps_dla_open(void)
{
    if (ORTE_PROC_IS_HNP) {
        (void)component_help_add_dir(RMAPS_DLA_HELP_FILE, &mca_rmaps_dla_component,
                                     RMAPS_DLA_HELP_DIR);
    }
    return ORTE_SUCCESS;
}

static int rmaps_dla_close(void)
{
    free(mca_rmaps_dla_component.map_by);
    mca_rmaps_dla_component.map_by = NULL;
    return ORTE_SUCCESS;
}

static int rmaps_dla_query(mca_base_module_t **module, int *priority)
{
    *priority = mca_rmaps_dla_component.priority;
    *module = (mca_base_module_t *)&orte_rmaps_dla_module;
    return ORTE_SUCCESS;
}
