/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla: maps the ranks of a job so that ranks that access neighbouring regions of a file share
 * a node.
 */
#ifndef MCA_RMAPS_DLA_H
#define MCA_RMAPS_DLA_H

#include "orte_config.h"

#include "orte/mca/rmaps/rmaps.h"

#include "dla/request.h"

BEGIN_C_DECLS

#define RMAPS_DLA_HELP_FILE "help-rmaps-dla.txt"

typedef struct orte_rmaps_dla_component_t {
    orte_rmaps_base_component_t super;
    /* MCA parameters */
    int priority;
    int verbose;
    dla_parameters parameters;
    /* The text of --map-by dla..., NULL without it */
    char *map_by;
} orte_rmaps_dla_component_t;

ORTE_MODULE_DECLSPEC extern orte_rmaps_dla_component_t mca_rmaps_dla_component;
extern orte_rmaps_base_module_t orte_rmaps_dla_module;

END_C_DECLS

#endif
