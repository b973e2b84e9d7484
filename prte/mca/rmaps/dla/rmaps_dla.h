/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla for PRRTE: maps the ranks of a job so that ranks that access neighbouring regions of a
 * file share a node. PRRTE binds them.
 */
#ifndef PRTE_MCA_RMAPS_DLA_H
#define PRTE_MCA_RMAPS_DLA_H

#include "prte_config.h"

#include "src/mca/rmaps/rmaps.h"

#include "dla/request.h"

#define RMAPS_DLA_HELP_FILE "help-rmaps-dla.txt"

/* MCA parameters */
typedef struct rmaps_dla_settings {
    int priority;
    int verbose;
    char *spec; /* the text of --map-by dla..., from schizo/dla; NULL without it */
    dla_parameters parameters;
} rmaps_dla_settings;

extern rmaps_dla_settings rmaps_dla;
extern prte_rmaps_base_module_t rmaps_dla_module;

#endif
