/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a solver: the problem in one form, in which n persons each need one of m >= n
 * objects (see orient.h), the partial assignment and its duals. For the solvers only.
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
    size_t fillers; /* the last persons, whose costs are `zeros`: see square.h */
    const cost_t *zeros;
    cost_t filler_price;        /* of all objects of fillers; recorded prices may be higher */
    struct node *unfilled;      /* a heap of the other objects, the highest price first */
    size_t dummies;             /* the last objects, which cost every person 0: see orient.h */
    const size_t *whole_object; /* an object's number in the problem; NULL: the same number */

    size_t *person_of_least; /* by object, where all will be assigned: see least.h */

    /* The partial assignment; NONE: not assigned. */
    size_t *object_of, *person_of;
    cost_t *paid; /* by assigned object: the cost of its pair */

    /* A group's dual is 0 until the group is full. An object's dual is 0 until it is assigned, or
     * has any sign when every object will be assigned (square). */
    cost_t *dual;
    cost_t *group_dual;
    cost_t *price; /* the object's dual + its group's; never rises */

    /* Groups; group is NULL, and groups 0, when no capacity can bind. */
    const size_t *group;
    size_t groups, capacity;
    size_t *load;         /* by group: persons assigned to its objects */
    size_t *first_member; /* members[first_member[g]] .. of group g, ascending */
    size_t *members;

    /* One search for a shortest path from a person to an open object: see search.h. */
    size_t *from;  /* the person that reached the object; NONE: reached through its group */
    size_t *order; /* assigned objects as they were settled */
    cost_t *settled_at;
    size_t settled, groups_entered;
    size_t *entered, *entrance; /* full groups as they were reached, each through its entrance */
    cost_t *entered_at;
    bool *is_entered, is_filler_scanned;

    struct base_arena arena; /* of all arrays */
};

/* Allocates an empty assignment of the persons and objects. 0 or -ENOMEM. */
int TYPED(init_assignment)(struct state *s);
/* Makes the assignment empty again; duals and loads of groups stay. */
void TYPED(unassign_all)(struct state *s);
/* The cost of an allowed pair. */
cost_t TYPED(cost_of)(const struct state *s, size_t person, size_t object);

static inline bool is_free(const struct state *s, size_t object)
{
    return s->person_of[object] == NONE;
}

/* Free, and its group below capacity. */
static inline bool is_open(const struct state *s, size_t object)
{
    return is_free(s, object) && (s->group == NULL || s->load[s->group[object]] < s->capacity);
}

/* Whether every solution assigns all objects, so that their duals may have any sign. */
static inline bool all_assigned(const struct state *s)
{
    return s->persons == s->objects && s->group == NULL;
}

static inline void set_dual(struct state *s, size_t object, cost_t dual)
{
    s->dual[object] = dual;
    s->price[object] = dual + (s->group != NULL ? s->group_dual[s->group[object]] : 0);
}

/* Assigns without counting the load of the group. */
static inline void assign(struct state *s, size_t person, size_t object)
{
    s->object_of[person] = object;
    s->person_of[object] = person;
    s->paid[object] = TYPED(cost_of)(s, person, object);
}

static inline void assign_open(struct state *s, size_t person, size_t object)
{
    assign(s, person, object);
    if (s->group != NULL)
        s->load[s->group[object]]++;
}

/* The dual of the person to whom the object is assigned. */
static inline cost_t person_dual(const struct state *s, size_t object)
{
    return s->paid[object] - s->price[object];
}

/* Checks the problem, sets the state up, calls `solve` to complete the assignment and, if that
 * returns 0, writes the solution. */
int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *));

/* The solvers. 0, LAP_INFEASIBLE or -ENOMEM. */
int TYPED(jv)(struct state *s);
int TYPED(hungarian)(struct state *s);
int TYPED(apc)(struct state *s);
int TYPED(aps)(struct state *s);

#endif
