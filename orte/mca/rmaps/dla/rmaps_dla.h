/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla: maps the ranks of a job so that those that access neighbouring regions of
 * a file share a node.
 */
#ifndef MCA_RMAPS_DLA_H
#define MCA_RMAPS_DLA_H

#include "orte_config.h"

#include "orte/mca/rmaps/rmaps.h"
#include "orte/util/show_help.h"

BEGIN_C_DECLS

#define RMAPS_DLA_HELP_FILE "help-rmaps-dla.txt"

/* Tells the user why there will be no job. */
#define RMAPS_DLA_REFUSE(topic, ...)                                                               \
    ((void)orte_show_help(RMAPS_DLA_HELP_FILE, topic, true, __VA_ARGS__))

typedef struct orte_rmaps_dla_component_t {
    orte_rmaps_base_component_t super;
    /* MCA parameters */
    int priority;
    int verbose;
    char *file;
    char *cart;
    char *order;
    char *method;
    char *objective;
    char *domains;
    int threshold;
    char *refine;
    char *topology;
    char *bandwidth;
    /* the text of --map-by dla..., NULL when not asked for that way */
    char *map_by;
} orte_rmaps_dla_component_t;

ORTE_MODULE_DECLSPEC extern orte_rmaps_dla_component_t mca_rmaps_dla_component;
extern orte_rmaps_base_module_t orte_rmaps_dla_module;

/* Where the mapping policy is ours ("dla..."), puts a stock policy in its place before Open
 * MPI reads it, everywhere mpirun and its daemons will look. Returns the text that stood
 * there, for the caller to free; NULL when the policy is not ours or this process does not map.
 * To be called when the rmaps framework registers its components: its parameters are
 * registered then, and not yet read. */
char *orte_rmaps_dla_take_map_by(void);

END_C_DECLS

#endif
