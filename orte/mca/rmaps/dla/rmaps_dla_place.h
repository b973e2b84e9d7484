/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a view matrix, nodes and application contexts to the node of each rank. Plain C
 * over src/setmatch: knows nothing of Open MPI.
 */
#ifndef RMAPS_DLA_PLACE_H
#define RMAPS_DLA_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "setmatch/setmatch.h"

/* What a node can take: `slots` are free now; oversubscribed, it takes at most `most`. */
typedef struct dla_node {
    size_t slots, most;
} dla_node;

/* An application context: `ranks` ranks, numbered on from those of the one before it, that
 * may stand on the listed nodes (indices, in Open MPI's order, each once) and no others. */
typedef struct dla_app {
    size_t ranks;
    size_t nodes;
    size_t *node;
} dla_app;

/* A job; the ranks are those of all apps. */
typedef struct dla_job {
    size_t apps, nodes, ranks;
    dla_app *app;
    dla_node *node;
    bool oversubscribe; /* nodes may take more ranks than they have slots */
} dla_job;

/* Fills the nodes of each app in order, as the stock policy "slot" does. Ranks beyond the
 * slots, where allowed, go one to each node in turn. node_of_rank has job->ranks entries.
 * 0; -ENOSPC: an app does not fit, *app says which; -ENOMEM. */
int dla_place_by_slot(const dla_job *job, size_t *node_of_rank, size_t *app);

/* How ranks are placed: by a method, with this input; `slots` is filled in here. */
typedef struct dla_method {
    setmatch_method_fn place;
    setmatch_input input; /* of job->ranks ranks and job->nodes nodes */
} dla_method;

/* Places by what the method's input holds. `by_slot` is the answer of
 * dla_place_by_slot. No node takes more than its slots, or more than by_slot gave it where
 * that is beyond its slots. When apps differ in their nodes, the ranks of those that share a
 * node list are placed together, with as many on each node as by_slot put there: whatever
 * "slot" can place, can be placed.
 * Errors as setmatch_method_fn. */
int dla_place_by_method(const dla_job *job, const dla_method *method, const size_t *by_slot,
                        size_t *node_of_rank);

#endif
