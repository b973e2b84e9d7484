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
#include "orte/constants.h"
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
static void register_items(dla_parameters *p)
{
    register_var("file",
                 "View matrix of the ranks: a file that fcoll_tatp_record or "
                 "io_ompio_record_file_offset_info wrote. The same as --map-by dla:file=NAME, but "
                 "NAME is not unquoted, and any other --map-by policy takes precedence",
                 MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_3, &p->file);
    register_var("cart",
                 "Process grid of the program, like 4x2x2; the last coordinate of a rank varies "
                 "fastest. Without a view matrix, the ranks are placed by the grid; with one, the "
                 "grid is only checked against the number of ranks. The same as --map-by "
                 "dla:cart=AxB",
                 MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_3, &p->cart);
    register_dla_choice(
        p, DLA_ORDER,
        "Storage order of the array: the last (C) or the first (Fortran) dimension of "
        "the grid is contiguous in the file. The same as --map-by dla:order=ORDER");
    register_dla_choice(p, DLA_METHOD,
                        "Placement method: auto (the best result of several methods), setmatch (as "
                        "published), levelled, agglomerative, bisection; for comparison byslot, "
                        "bynode, mpipp. The same as --map-by dla:method=NAME");
    register_dla_choice(
        p, DLA_OBJECTIVE,
        "Objective that method=auto minimises: neighbours (the weight of the view "
        "matrix between nodes), profile (the recorded bytes that leave their nodes) or "
        "auto (profile, if the file has one). The same as --map-by dla:objective=NAME");
    register_dla_choice(p, DLA_DOMAINS,
                        "Kind of file domains that is assumed for a profile: even, fitted, or auto "
                        "(the kind for which fewer bytes leave their nodes). The same as --map-by "
                        "dla:domains=NAME");
    p->threshold = SETMATCH_DEFAULT_THRESHOLD;
    register_var("threshold",
                 "Two ranks are neighbours if their value in the view matrix is at most this "
                 "percentage (0 to 100) below the largest. The same as --map-by dla:threshold=N",
                 MCA_BASE_VAR_TYPE_INT, NULL, OPAL_INFO_LVL_5, &p->threshold);
    register_dla_choice(
        p, DLA_REFINE,
        "Whether a placement is improved for each pair of nodes. The same as --map-by "
        "dla:refine=on|off");
    register_var("topology",
                 "Topology of the network between nodes: a file in one of the formats that tatp(1) "
                 "lists. Ranks that do not fit on one node are placed under one switch. The same "
                 "as --map-by dla:topology=NAME, but NAME is not unquoted",
                 MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_5, &p->topology);
    register_var("bandwidth",
                 "Instead of a topology, a matrix of measured bandwidths as \"dla pingpong\" "
                 "writes it. The same as --map-by dla:bandwidth=NAME, but NAME is not unquoted",
                 MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_5, &p->bandwidth);
}

static int rmaps_dla_register(void)
{
    orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;

    c->priority = DEFAULT_PRIORITY;
    register_var("priority", "Priority of the dla rmaps component", MCA_BASE_VAR_TYPE_INT, NULL,
                 OPAL_INFO_LVL_9, &c->priority);
    c->verbose = 0;
    register_var("verbose",
                 "Whether to print, for each placement and for the mapping by slot, the weight of "
                 "the view matrix inside nodes and the bytes that leave their nodes (0: no; 1: one "
                 "line)",
                 MCA_BASE_VAR_TYPE_INT, NULL, OPAL_INFO_LVL_5, &c->verbose);
    c->parameters = (dla_parameters){.file = NULL};
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
