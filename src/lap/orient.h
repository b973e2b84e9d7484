/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which side of a problem are the persons, each of whom needs an object of the other side: the one
 * with fewer members or, where both have about as many and its costs differ much more in scale, the
 * larger one. Then there are dummies, objects that cost each person 0, for the persons that will
 * have no other. For the solvers only.
 */
#ifndef LAP_ORIENT_H
#define LAP_ORIENT_H

#include "lap/state.h"

/* Whether a group may be full: a capacity of at least the number of columns never binds. */
static inline bool capacity_may_bind(const lap_problem *problem)
{
    return problem->group != NULL && problem->group_capacity > 0 &&
           problem->group_capacity < problem->cols;
}

/* Sets the persons, the objects, the dummies and the costs. 0 or -ENOMEM. */
int TYPED(orient)(struct state *s);

/* Removes the dummies from a complete, optimal assignment; their persons are unassigned. */
void TYPED(remove_dummies)(struct state *s);

#endif
