/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a placement into the job's map. The daemons use this map unchanged.
 */
#ifndef RMAPS_DLA_MAP_H
#define RMAPS_DLA_MAP_H

#include "rmaps_dla_layout.h"

/* Maps each rank of the layout to its node_of_rank, and binds it, if l->view is not empty near its
 * neighbours. Returns an ORTE error code. */
int dla_map(dla_layout *l, orte_job_t *jdata);

#endif
