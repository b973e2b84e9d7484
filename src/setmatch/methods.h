/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A placement to be found, with what its methods share. Private to this folder.
 */
#ifndef SETMATCH_METHODS_H
#define SETMATCH_METHODS_H

#include "setmatch/candidates.h"
#include "setmatch/setmatch.h"

typedef struct placement_task {
    const setmatch_input *input;
    affinity ranks;
    site site;
} placement_task;

/* Checks the input. Errors as setmatch_method_fn. */
int placement_task_init(placement_task *task, const setmatch_input *input);

void placement_task_release(placement_task *task);

/* By the objective of the input. */
int place_by_objective(const placement_task *task, size_t *node);

/* By the graph `ranks`, which is that of the view or another one, among groups first where there
 * are groups. -ENOMEM. */
int place_by_affinity(const placement_task *task, const affinity *ranks, size_t *node);

#endif
