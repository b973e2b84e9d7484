/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shortest augmenting paths over whole rows of dense costs, without a heap. For the solvers only.
 */
#ifndef LAP_ROWS_H
#define LAP_ROWS_H

#include "lap/search.h"

struct rows {
    struct state *s;
    cost_t *dist;   /* COST_MAX: not reached; COST_MIN: in the queue, or settled */
    cost_t *least;  /* by block of objects: the least distance of those not in the queue */
    cost_t *closed; /* COST_MIN: the object is open when the search begins; otherwise COST_MAX */
    bool *has_open; /* by block of objects: whether any is open */
    size_t *queue;  /* objects at the distance `radius`, and those that were settled before */
    size_t first, end;
    cost_t radius;
    cost_t limit;   /* least distance of an open object: nothing farther matters */
    size_t nearest; /* an open object at the distance `radius`; NONE: not found yet */
    size_t scanned; /* persons, in all searches */
};

/* 0 or -ENOMEM. */
int TYPED(rows_init)(struct rows *r, struct state *s);

/* Assigns an object to a person by a shortest path; 0 or LAP_INFEASIBLE. */
int TYPED(augment_by_rows)(struct rows *r, size_t person);

#endif
