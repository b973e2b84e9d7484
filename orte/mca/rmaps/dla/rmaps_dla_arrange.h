/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of the processors to which Open MPI bound the ranks of a node each of them gets.
 */
#ifndef RMAPS_DLA_ARRANGE_H
#define RMAPS_DLA_ARRANGE_H

#include "rmaps_dla_layout.h"

/* Exchanges the bindings of the job's ranks on this node, so that neighbours by l->view are near
 * each other. Nothing changes where a rank is not bound. Adds to l->inside. Returns an ORTE error
 * code. */
int dla_arrange_node(dla_layout *l, const orte_job_t *jdata, const orte_node_t *node);

#endif
