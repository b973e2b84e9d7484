/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job as a dla_job, and the objects of PRRTE behind its indices.
 */
#ifndef PRTE_RMAPS_DLA_LAYOUT_H
#define PRTE_RMAPS_DLA_LAYOUT_H

#include "../../../compat/prrte.h"
#include "base/arena.h"
#include "dla/arrange.h"
#include "dla/place.h"

typedef struct dla_layout {
    struct base_arena arena; /* of the arrays */
    dla_job job;
    prte_app_context_t **context; /* of each of job.apps */
    prte_node_t **node;           /* of each of job.nodes, each with a reference */
    const char **node_name;
    size_t *index;        /* of each node of the pool in node[]; SIZE_MAX: not in it */
    size_t *by_slot;      /* node of each rank, mapped by slot; the caller fills it */
    size_t *node_of_rank; /* node of each rank; the caller fills it */
    matrix view;       /* by which ranks are placed inside nodes, or empty; the caller fills it */
    dla_inside inside; /* what that is worth */
} dla_layout;

/* Gathers the nodes that each application context may use, and their capacities. Returns a PRRTE
 * error code; release after success only. */
int dla_layout_init(dla_layout *l, prte_job_t *jdata, const prte_rmaps_options_t *options);
void dla_layout_release(dla_layout *l);

#endif
