/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla for PRRTE: maps the ranks of a job so that ranks that access neighbouring regions of a
 * file share a node. PRRTE binds them.
 */
#ifndef PRTE_MCA_RMAPS_DLA_H
#define PRTE_MCA_RMAPS_DLA_H

#include "../../../compat/prrte.h"
#include "dla/request.h"

/* MCA parameters */
typedef struct rmaps_dla_settings {
    int priority;
    int verbose;
    char *spec; /* the text of --map-by dla..., from schizo/dla; NULL without it */
    dla_parameters parameters;
    prte_binding_policy_t bind; /* options of the last job that was mapped */
    unsigned cpus_per_rank;
} rmaps_dla_settings;

extern rmaps_dla_settings rmaps_dla;
extern prte_rmaps_base_module_t rmaps_dla_module;

#endif
