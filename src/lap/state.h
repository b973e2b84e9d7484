/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all solvers stand on: the problem in one form, the partial assignment and its
 * duals, and a search's path. For the solvers only.
 *
 * n persons each want one of m >= n objects: columns and rows, or the other way round when
 * there are more columns. A source file that includes this is compiled for real costs; a
 * companion NAME_integer.c defines LAP_INTEGER and includes it again.
 */
#ifndef LAP_STATE_H
#define LAP_STATE_H

#include "lap/lap.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* No proof needs prices below PRICE_FLOOR. COST_MIN is below all costs and lengths. */
#ifdef LAP_INTEGER
typedef int64_t cost_t;
#define COST_MAX INT64_MAX
#define COST_MIN INT64_MIN
#define PRICE_FLOOR (-(INT64_MAX / 8))
#define TYPED(name) lap_##name##_integer
#else
typedef double cost_t;
#define COST_MAX ((double)INFINITY)
#define COST_MIN (-(double)INFINITY)
#define PRICE_FLOOR (-(DBL_MAX / 8))
#define TYPED(name) lap_##name##_real
#endif

#define NONE SIZE_MAX

struct state {
    const lap_problem *problem;
    size_t persons, objects;
    bool transposed; /* persons are rows */

    /* Dense: cost[person * objects + object]. Sparse: start is not NULL, and the entries
     * of a person are start[person] .. start[person + 1] - 1, objects ascending.
     * COST_MAX: not allowed. */
    const cost_t *cost;
    const size_t *start, *entry_object;
    const size_t *whole_object; /* an object's number in the problem; NULL: all objects are here */

    /* The partial assignment; NONE where there is none. */
    size_t *object_of;
    size_t *person_of;
    cost_t *paid; /* for each assigned object, its cost to its person */

    /* A group's dual is 0 until the group is full. An object's dual is 0 until it is
     * assigned, or may have any sign when every object will be (square). */
    cost_t *dual;
    cost_t *group_dual;
    cost_t *price; /* the object's dual + its group's; never rises */

    /* Groups; group is NULL when no capacity can bind, and groups is then 0. */
    const size_t *group;
    size_t groups, capacity;
    size_t *load;         /* persons on the objects of each group */
    size_t *first_member; /* members[first_member[g]] .. of group g, ascending */
    size_t *members;

    /* One search for a shortest path from a person to an open object. */
    size_t *from;  /* the person that reached the object; NONE: reached through its group */
    size_t *order; /* assigned objects as they were settled */
    cost_t *settled_at;
    size_t settled;
    size_t *entered; /* full groups as they were reached, each through its entrance */
    bool *is_entered;
    cost_t *entered_at;
    size_t *entrance;
    size_t groups_entered;

    void *blocks; /* the memory behind all arrays */
};

/* A person's pairs: count costs in a row, with objects 0, 1, ... where object is NULL. */
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

static inline size_t object_at(struct pairs pairs, size_t k)
{
    return pairs.object != NULL ? pairs.object[k] : k;
}

/* A forbidden pair stays forbidden at any price. */
static inline cost_t reduced(cost_t cost, cost_t price)
{
#ifdef LAP_INTEGER
    return cost < COST_MAX ? cost - price : COST_MAX;
#else
    return cost - price;
#endif
}

static inline cost_t next_above(cost_t cost)
{
#ifdef LAP_INTEGER
    return cost < COST_MAX ? cost + 1 : COST_MAX;
#else
    return nextafter(cost, INFINITY);
#endif
}

static inline bool is_free(const struct state *s, size_t object)
{
    return s->person_of[object] == NONE;
}

/* An object that can take a person without another one giving way. */
static inline bool is_open(const struct state *s, size_t object)
{
    return is_free(s, object) && (s->group == NULL || s->load[s->group[object]] < s->capacity);
}

/* Free, but its group is full. */
static inline bool is_blocked(const struct state *s, size_t object)
{
    return is_free(s, object) && !is_open(s, object);
}

/* In every solution all objects are taken, so their duals may have any sign. */
static inline bool all_assigned(const struct state *s)
{
    return s->persons == s->objects && s->group == NULL;
}

static inline void set_dual(struct state *s, size_t object, cost_t dual)
{
    s->dual[object] = dual;
    s->price[object] = dual + (s->group != NULL ? s->group_dual[s->group[object]] : 0);
}

/* The cost of an allowed pair. */
cost_t TYPED(cost_of)(const struct state *s, size_t person, size_t object);

static inline void give(struct state *s, size_t person, size_t object)
{
    s->object_of[person] = object;
    s->person_of[object] = person;
    s->paid[object] = TYPED(cost_of)(s, person, object);
}

/* The dual of the person that holds the object. */
static inline cost_t person_dual(const struct state *s, size_t object)
{
    return s->paid[object] - s->price[object];
}

/* Gives an open object to a person. */
static inline void take_open(struct state *s, size_t person, size_t object)
{
    give(s, person, object);
    if (s->group != NULL)
        s->load[s->group[object]]++;
}

/* A search begins: nothing is settled. */
void TYPED(begin)(struct state *s);

/* A blocked object at that distance is of use when a person of its group gives way: every
 * assigned member of the group is then within `at - dual[member]`, which the caller sees to.
 * The group's other free objects lead nowhere new. */
void TYPED(enter_group)(struct state *s, size_t object, cost_t at);

/* An assigned object is at that distance, and no less. */
static inline void settle(struct state *s, size_t object, cost_t at)
{
    s->order[s->settled++] = object;
    s->settled_at[object] = at;
}

/* The search found an open object: whatever lies nearer gets dearer by the difference,
 * and every person on the path moves to the object that it reached. */
void TYPED(change_duals)(struct state *s, cost_t distance);
void TYPED(flip_path)(struct state *s, size_t object);

/* count * size zeroed bytes that live as long as the state, or NULL. */
void *TYPED(allocate)(struct state *s, size_t count, size_t size);

/* Checks, sets the state up, lets `solve` complete the assignment (0, LAP_INFEASIBLE or
 * -ENOMEM) and writes the solution. */
int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *));

/* The public function of a solver, in its file as compiled for real costs. */
#define SOLVER_OF_BOTH_KINDS(name)                                                                 \
    int lap_##name##_integer(const lap_problem *problem, lap_solution *solution);                  \
    int lap_##name(const lap_problem *problem, lap_solution *solution)                             \
    {                                                                                              \
        bool integer = problem != NULL && problem->integer_cost != NULL;                           \
        return (integer ? lap_##name##_integer : lap_##name##_real)(problem, solution);            \
    }

#endif
