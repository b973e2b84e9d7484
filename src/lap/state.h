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

    /* A group's dual is 0 until the group is full. An object's dual is 0 until it is assigned, or
     * has any sign when every object will be assigned (persons = objects). */
    cost_t *dual, *group_dual;
    cost_t *price; /* the object's dual + its group's; never rises */

    /* Groups of objects; group is NULL, and groups 0, when no capacity can bind. */
    const size_t *group;
    size_t groups, capacity;
    size_t *load;         /* by group: persons assigned to its objects */
    size_t *first_member; /* members[first_member[g]] .. of group g, ascending */
    size_t *members;

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

/* Free, and its group below capacity. */
static inline bool is_open(const struct state *s, size_t object)
{
    return is_free(s, object) && (s->group == NULL || s->load[s->group[object]] < s->capacity);
}

static inline void set_dual(struct state *s, size_t object, cost_t dual)
{
    s->dual[object] = dual;
    s->price[object] = dual + (s->group != NULL ? s->group_dual[s->group[object]] : 0);
}

/* The dual of the person to whom the object is assigned. */
static inline cost_t person_dual(const struct state *s, size_t object)
{
    return s->paid[object] - s->price[object];
}

/* Assigns an object that may have a person, who keeps it as object_of, or a free one whose load is
 * counted already; the pair is allowed. */
void TYPED(assign)(struct state *s, size_t person, size_t object);
/* Assigns an open object. */
void TYPED(assign_open)(struct state *s, size_t person, size_t object);

/* Checks the problem, sets the state up, calls `solve` to complete the assignment and, if that
 * returns 0, writes the solution. */
int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *));

/* The solvers. 0, LAP_INFEASIBLE or -ENOMEM. */
int TYPED(jv)(struct state *s);
int TYPED(hungarian)(struct state *s);
int TYPED(apc)(struct state *s);
int TYPED(aps)(struct state *s);

#endif
