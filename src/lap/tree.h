/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The alternating tree of one search: from an unassigned person over objects to the persons that
 * have them. It ends at a free object. For the solvers only.
 */
#ifndef LAP_TREE_H
#define LAP_TREE_H

#include "lap/state.h"

struct tree {
    struct state *s;
    size_t *from;  /* by object: the person that reached it */
    size_t *order; /* assigned objects, in the order in which they joined */
    cost_t *joined_at;
    size_t joined; /* 0: the tree is empty */
};

/* 0 or -ENOMEM; the arrays are the state's. */
int TYPED(tree_init)(struct tree *t, struct state *s);

/* An assigned object joins at this distance from the root. */
static inline void tree_join(struct tree *t, size_t object, cost_t at)
{
    t->order[t->joined++] = object;
    t->joined_at[object] = at;
}

/* The duals of all that joined below this distance fall by the difference. */
void TYPED(tree_lower_duals)(struct tree *t, cost_t distance);

/* Assigns every person on the path to the free object the object that it reached. */
void TYPED(tree_flip)(struct tree *t, size_t object);

#endif
