/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The alternating tree of one search: from an unassigned person over objects to the persons that
 * have them. It ends at an open object. For the solvers only.
 */
#ifndef LAP_TREE_H
#define LAP_TREE_H

#include "lap/state.h"

struct tree {
    struct state *s;
    size_t *from;  /* by object: the person that reached it; NONE: reached through its group */
    size_t *order; /* assigned objects, in the order in which they joined */
    cost_t *joined_at;
    size_t joined;

    /* Full groups, each reached through one of its free objects, the entrance. */
    size_t *entered, *entrance;
    cost_t *entered_at;
    size_t groups_entered;
};

/* 0 or -ENOMEM; the arrays are the state's. */
int TYPED(tree_init)(struct tree *t, struct state *s);

/* Makes the tree empty. */
void TYPED(tree_reset)(struct tree *t);

/* An assigned object joins at this distance from the root. */
static inline void tree_join(struct tree *t, size_t object, cost_t at)
{
    t->order[t->joined++] = object;
    t->joined_at[object] = at;
}

/* Enters the full group of a free object, once. Every assigned member of the group is then within
 * `at` less its dual, which the caller takes into account: unassigning it makes the free object
 * available. */
void TYPED(tree_enter)(struct tree *t, size_t object, cost_t at);

/* The prices of all that joined below this distance fall by the difference. */
void TYPED(tree_lower_prices)(struct tree *t, cost_t distance);

/* Assigns every person on the path to the open object the object that it reached. */
void TYPED(tree_flip)(struct tree *t, size_t object);

#endif
