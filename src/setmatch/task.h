/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A placement task, which the methods share. Private to this folder.
 */
#ifndef SETMATCH_TASK_H
#define SETMATCH_TASK_H

#include "setmatch/candidates.h"
#include "setmatch/input.h"

typedef struct placement_task {
    const setmatch_input *input;
    affinity ranks;
    allocation allocation;
    size_t work; /* of the search by one graph of ranks, in visits of vertices */
} placement_task;

/* Places by the objective of the input. */
int place_by_objective(const placement_task *task, size_t *node);

/* Places by the graph `ranks`, of the view or another one; level by level if the input has a
 * network. -ENOMEM. */
int place_by_affinity(const placement_task *task, const affinity *ranks, size_t *node);

#endif
