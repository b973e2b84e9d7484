/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a solver: the problem in one form, in which n persons each need one of m >= n
 * objects, the partial assignment and its duals. Persons are the columns or, with cols > rows, the
 * rows. For the solvers only.
 */
#ifndef LAP_STATE_H
#define LAP_STATE_H

#include "base/arena.h"
#include "lap/arithmetic.h"
#include "lap/lap.h"

#define NONE SIZE_MAX

struct state {
    const lap_problem *problem;
    size_t persons, objects;
    bool transposed; /* persons are rows */

    /* Dense: cost[person * objects + object]. Sparse: start is not NULL, and the entries of a
     * person are start[person] .. start[person + 1] - 1, objects ascending. */
    const cost_t *cost;
    const size_t *start, *entry_object;

    /* The partial assignment; NONE: not assigned. */
    size_t *object_of, *person_of;
    cost_t *paid; /* by assigned object: the cost of its pair */

    /* An object's dual never rises. It is 0 until it is assigned, or has any sign when every object
     * will be assigned (persons = objects). */
    cost_t *dual;

    struct base_arena arena; /* of all arrays */
};

/* A person's pairs: `count` consecutive costs, for objects 0, 1, ... where object is NULL. */
struct pairs {
    const cost_t *cost;
    const size_t *object;
    size_t count;
};

static inline struct pairs pairs_of(const struct state *s, size_t person)
{
    if (s->start == NULL)
        return (struct pairs){s->cost + person * s->objects, NULL, s->objects};
    size_t first = s->start[person];
    return (struct pairs){s->cost + first, s->entry_object + first, s->start[person + 1] - first};
}

static inline size_t object_at(const struct pairs *pairs, size_t k)
{
    return pairs->object != NULL ? pairs->object[k] : k;
}

static inline bool is_free(const struct state *s, size_t object)
{
    return s->person_of[object] == NONE;
}

/* The dual of the person to whom the object is assigned. */
static inline cost_t person_dual(const struct state *s, size_t object)
{
    return s->paid[object] - s->dual[object];
}

/* Assigns an object that is free, or whose person gets another one; the pair is allowed. */
void TYPED(assign)(struct state *s, size_t person, size_t object);

/* Checks the arguments and the costs: 0, -EINVAL, -EDOM or -ERANGE, as lap_solver_fn. */
int lap_check(const lap_problem *problem, const lap_solution *solution);

/* The number of costs: rows * cols, or the length of the list. */
size_t lap_pairs(const lap_problem *problem);

/* Checks the problem, sets the state up, calls `solve` to complete the assignment and, if that
 * returns 0, writes the solution. */
int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *));

/* The solvers. 0, LAP_INFEASIBLE or -ENOMEM. */
int TYPED(jv)(struct state *s);
int TYPED(hungarian)(struct state *s);
int TYPED(apc)(struct state *s);
int TYPED(aps)(struct state *s);

#endif
