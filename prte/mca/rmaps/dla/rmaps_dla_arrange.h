/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of the processors to which PRRTE bound the ranks of a node each of them gets.
 */
#ifndef PRTE_RMAPS_DLA_ARRANGE_H
#define PRTE_RMAPS_DLA_ARRANGE_H

#include "rmaps_dla_layout.h"

/* Exchanges the bindings of these ranks of the job, all on this node, so that neighbours by l->view
 * are near each other. Nothing changes where a rank is not bound. Adds to l->inside. Returns a
 * PRRTE error code. */
int dla_arrange_node(dla_layout *l, const prte_job_t *jdata, const prte_node_t *node,
                     const size_t *rank, size_t ranks);

#endif
