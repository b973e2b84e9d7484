/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a placement into the job's map, as an exact one which the daemons take as it is.
 */
#ifndef RMAPS_DLA_MAP_H
#define RMAPS_DLA_MAP_H

#include "rmaps_dla_layout.h"

/* Maps each rank of the layout to its node_of_rank, and binds it. An ORTE error code. */
int dla_map(const dla_layout *l, orte_job_t *jdata);

/* Binds the mapped ranks of all nodes, as the stock mappers would have it. An ORTE error code. */
int dla_bind(orte_job_t *jdata);

#endif
