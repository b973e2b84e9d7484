/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The component: its parameters and its life.
 */
#include "rmaps_dla.h"

#include "opal/mca/base/base.h"
#include "opal/util/component_help.h"
#include "orte/constants.h"
#include "orte/util/proc_info.h"

#include "setmatch/setmatch.h"

#ifndef RMAPS_DLA_HELP_DIR
#define RMAPS_DLA_HELP_DIR NULL
#endif

/* Above every stock mapper that bids without being named (the highest, ppr, has 90). */
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

static void register_var(const char *name, const char *help, mca_base_var_type_t type,
                         mca_base_var_info_lvl_t level, void *storage)
{
    (void)mca_base_component_var_register(&mca_rmaps_dla_component.super.base_version, name, help,
                                          type, NULL, 0, 0, level, MCA_BASE_VAR_SCOPE_READONLY,
                                          storage);
}

/* What --map-by dla: can say, too. */
static void register_items(orte_rmaps_dla_component_t *c)
{
    c->file = c->cart = c->order = c->method = c->objective = c->domains = c->refine = NULL;
    c->topology = c->bandwidth = NULL;
    register_var("file",
                 "View matrix to place the ranks by: a file that fcoll_tatp_record or "
                 "io_ompio_record_file_offset_info wrote. The same as --map-by dla:file=NAME, "
                 "but NAME is taken as it is, and any other --map-by policy goes first",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->file);
    register_var("cart",
                 "Process grid of the program, like 4x2x2, the last coordinate of a rank running "
                 "fastest: places the ranks by it when no view matrix is given; with one, it "
                 "is only checked against the number of ranks. The same as --map-by dla:cart=AxB",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->cart);
    register_var(
        "order",
        "Which dimension of the grid's array lies closest in the file: C (the last, default) "
        "or Fortran (the first). The same as --map-by dla:order=ORDER",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->order);
    register_var(
        "method",
        "How ranks are placed: auto (the least of several methods, default), setmatch (the "
        "paper's), levelled, agglomerative, bisection; for comparison byslot, bynode, mpipp. "
        "The same as --map-by dla:method=NAME",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->method);
    register_var(
        "objective",
        "What method=auto makes least: neighbours (the weight of the view matrix between "
        "nodes), profile (the recorded bytes that leave their nodes) or auto (profile, where the "
        "file has one; default). The same as --map-by dla:objective=NAME",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->objective);
    register_var("domains",
                 "File domains that a profile is placed for: even, fitted, or auto (whichever lets "
                 "fewer bytes leave their nodes; default). The same as --map-by dla:domains=NAME",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->domains);
    c->threshold = SETMATCH_DEFAULT_THRESHOLD;
    register_var("threshold",
                 "Two ranks belong together when their value in the view matrix "
                 "is at most this many per cent (0 to 100) below the largest. The same as "
                 "--map-by dla:threshold=N",
                 MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &c->threshold);
    register_var("refine",
                 "Whether a placement is improved pair by pair of nodes: on (default) or off. "
                 "The same as --map-by dla:refine=on|off",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->refine);
    register_var(
        "topology",
        "What is between nodes: a file that the manual of tatp(1) lists. What cannot share a "
        "node shall share a switch. The same as --map-by dla:topology=NAME, but NAME is taken as "
        "it is",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->topology);
    register_var(
        "bandwidth",
        "The same from a matrix of measured bandwidths, as \"dla pingpong\" writes it. The "
        "same as --map-by dla:bandwidth=NAME, but NAME is taken as it is",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->bandwidth);
}

static int rmaps_dla_register(void)
{
    orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;

    c->priority = DEFAULT_PRIORITY;
    register_var("priority", "Priority of the dla rmaps component", MCA_BASE_VAR_TYPE_INT,
                 OPAL_INFO_LVL_9, &c->priority);
    c->verbose = 0;
    register_var(
        "verbose",
        "Whether to tell what each placement is worth: the weight of the "
        "view matrix that lies inside nodes and the bytes that leave their nodes, as mapped by "
        "slot and as mapped by dla (0: no; 1: one line)",
        MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &c->verbose);
    register_items(c);

    free(c->map_by);
    c->map_by = orte_rmaps_dla_take_map_by();
    return ORTE_SUCCESS;
}

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
