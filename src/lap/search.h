/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shortest augmenting paths in reduced costs, by Dijkstra's method. For the solvers only.
 */
#ifndef LAP_SEARCH_H
#define LAP_SEARCH_H

#include "lap/tree.h"

struct search {
    struct tree tree;
    cost_t *dist;  /* by object; COST_MAX: not reached; COST_MIN: in the tree */
    size_t *queue; /* objects that are reached, but not free and not in the tree */
    size_t *place; /* by object in the queue, if that is a heap: its index there; else NULL */
    size_t queued;
    size_t *reached, reaches; /* all objects that were reached */
    size_t nearest;           /* free object */
    cost_t limit;             /* its distance; COST_MAX: none is reached */
};

/* The queue is a heap, or a list that is searched for the nearest object. 0 or -ENOMEM; the arrays
 * are the state's. */
int TYPED(search_init)(struct search *q, struct state *s, bool with_heap);

/* Assigns an object to each unassigned person. Requires that each assigned person has one of its
 * cheapest objects at the current duals. 0 or LAP_INFEASIBLE. */
int TYPED(augment_all)(struct search *q);

#endif
