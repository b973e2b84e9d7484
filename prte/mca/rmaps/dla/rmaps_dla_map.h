/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a placement into the job's map.
 */
#ifndef PRTE_RMAPS_DLA_MAP_H
#define PRTE_RMAPS_DLA_MAP_H

#include "rmaps_dla_layout.h"

/* Maps each rank of the layout to its node_of_rank; PRRTE binds it, if l->view is not empty near
 * its neighbours. Returns a PRRTE error code, the user has the message. */
int dla_map(dla_layout *l, prte_job_t *jdata, prte_rmaps_options_t *options);

#endif
