/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What recorded calls will move between nodes with their ranks on other nodes: by the plan that
 * fcoll/tatp would make, which is made by its planner (src/plan/planner.h).
 *
 * A record contains the bytes of each rank in each bin (matrix/view_file.h), not where they are in
 * the bin; they count as evenly spread. So a prediction is exact where the borders of domains are
 * borders of bins or of nodes' blocks, and fitted domains may save more than predicted where their
 * units are smaller than bins. Calls without aggregators are not in the profile: they move nothing.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PREDICT_PREDICT_H
#define PREDICT_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "matrix/view_file.h"
#include "plan/planner.h"

typedef struct predict_job {
    size_t ranks;
    const size_t *node_of_rank; /* `ranks` entries, each < topology->nodes */
    const topo *topology;       /* may have nodes without ranks */
} predict_job;

/* The plan of all calls of a pattern of a view file together; zeroed if they access no bytes. It
 * borrows from the job; c lacks entries by rank where these would be too many. -ERANGE; -ENOMEM.
 * Release with plan_draft_release. */
int predict_calls(const predict_job *job, const access_pattern *pattern, const matrix *bytes,
                  plan_draft *plan);

/* All patterns of a view file, by boundary: crossing[0]: bytes that leave their nodes, crossing[1 +
 * k]: their group of level k, in which node n is if group_of_node[k * nodes + n] says its number.
 * Errors as above. */
int predict_crossing(const predict_job *job, const view_file *file, size_t levels,
                     const size_t *group_of_node, int64_t *crossing);

#endif
