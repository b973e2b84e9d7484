/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places the ranks of a job, by its nodes, application contexts and view matrix.
 */
#ifndef DLA_PLACE_H
#define DLA_PLACE_H

#include "dla/predict.h"

/* Capacity of a node: its free slots, and its largest number of ranks if oversubscribed. */
typedef struct dla_node {
    size_t slots, most;
} dla_node;

/* An application context. Its ranks follow those of the previous one; they may be placed on these
 * nodes only (indices, in the launcher's order, each once). */
typedef struct dla_app {
    size_t ranks;
    size_t nodes;
    size_t *node;
} dla_app;

/* `ranks` is the sum over all apps. */
typedef struct dla_job {
    size_t apps, nodes, ranks;
    dla_app *app;
    dla_node *node;
    bool oversubscribe; /* nodes may have more ranks than slots */
} dla_job;

/* Places as the stock policy "slot": an app takes the slots of its nodes in order and, if
 * oversubscription is allowed, beyond these one of each node in turn. Then its ranks are numbered
 * node by node, in the order in which the job uses the nodes first. node_of_rank has job->ranks
 * entries. Returns 0; -ENOSPC: app number *app does not fit; -ENOMEM. */
int dla_place_by_slot(const dla_job *job, size_t *node_of_rank, size_t *app);

/* Where ranks may be. */
typedef struct dla_room {
    size_t nodes;
    const size_t *slots;   /* of each node; unused for a job */
    const dla_job *job;    /* of a launcher; NULL: all ranks may be on all nodes */
    const size_t *by_slot; /* what dla_place_by_slot sets, or another mapping that a placement must
                              surpass; NULL without a job: ranks fill the slots in order */
} dla_room;

/* Places the ranks of the view as the spec demands, on no more slots of a node than it has or
 * by_slot uses. Without a demand for a method or for neighbours the better stock mapping is kept
 * where a placement gains too little (dla_compare). If the apps of a job have different node lists,
 * the ranks of those with the same list are placed together, with as many on each node as in
 * by_slot: this succeeds whenever dla_place_by_slot does. `data` is borrowed. Errors as
 * setmatch_method_fn; without one, the caller releases the placement, which stays where it is. */
int dla_place(const dla_data *data, const dla_spec *spec, const dla_room *room, dla_placement *p);
void dla_placement_release(dla_placement *p);

#endif
