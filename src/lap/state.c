/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of a solver's state, and the solution. */
#include "lap/state.h"

#include "lap/candidates.h"
#include "lap/check.h"
#include "lap/orient.h"
#include "lap/pairs.h"
#include "lap/vector.h"

#include <errno.h>

static int init_costs(struct state *s)
{
    int rc = TYPED(orient)(s);
    bool wide = s->start == NULL && is_wide(s) && !capacity_may_bind(s->problem);
    return rc == 0 && wide ? TYPED(reduce_to_candidates)(s) : rc;
}

/* ---- groups ---- */

/* With more columns than rows every row is assigned, so capacities either hold or do not. */
static bool rows_fit_capacity(const struct state *s)
{
    const lap_problem *problem = s->problem;
    for (size_t g = 0; g < s->groups; g++)
        if (s->first_member[g + 1] - s->first_member[g] > problem->group_capacity)
            return false;
    return true;
}

static void list_group_members(struct state *s)
{
    for (size_t i = 0; i < s->problem->rows; i++)
        s->first_member[s->group[i] + 1]++;
    for (size_t g = 0; g < s->groups; g++) {
        s->first_member[g + 1] += s->first_member[g];
        s->entrance[g] = s->first_member[g]; /* index of the next member */
    }
    for (size_t i = 0; i < s->problem->rows; i++)
        s->members[s->entrance[s->group[i]]++] = i;
}

static int init_groups(struct state *s, const lap_problem *problem)
{
    if (!capacity_may_bind(problem))
        return 0;
    s->group = problem->group;
    s->groups = problem->groups;
    s->capacity = problem->group_capacity;
    s->group_dual = base_arena_alloc(&s->arena, s->groups, sizeof *s->group_dual);
    s->entered_at = base_arena_alloc(&s->arena, s->groups, sizeof *s->entered_at);
    s->is_entered = base_arena_alloc(&s->arena, s->groups, sizeof *s->is_entered);
    s->load = base_arena_alloc(&s->arena, s->groups, sizeof *s->load);
    s->entered = base_arena_alloc(&s->arena, s->groups, sizeof *s->entered);
    s->entrance = base_arena_alloc(&s->arena, s->groups, sizeof *s->entrance);
    s->first_member = base_arena_alloc(&s->arena, s->groups + 1, sizeof *s->first_member);
    s->members = base_arena_alloc(&s->arena, problem->rows, sizeof *s->members);
    if (s->arena.failed)
        return -ENOMEM;
    list_group_members(s);
    if (!s->transposed)
        return 0;
    int rc = rows_fit_capacity(s) ? 0 : LAP_INFEASIBLE;
    s->group = NULL;
    s->groups = 0;
    return rc;
}

void TYPED(unassign_all)(struct state *s)
{
    for (size_t j = 0; j < s->persons; j++)
        s->object_of[j] = NONE;
    for (size_t i = 0; i < s->objects; i++)
        s->person_of[i] = NONE;
}

int TYPED(init_assignment)(struct state *s)
{
    s->object_of = base_arena_alloc(&s->arena, s->persons, sizeof *s->object_of);
    s->person_of = base_arena_alloc(&s->arena, s->objects, sizeof *s->person_of);
    s->paid = base_arena_alloc(&s->arena, s->objects, sizeof *s->paid);
    s->dual = base_arena_alloc(&s->arena, s->objects, sizeof *s->dual);
    s->price = base_arena_alloc(&s->arena, s->objects, sizeof *s->price);
    s->from = base_arena_alloc(&s->arena, s->objects, sizeof *s->from);
    s->order = base_arena_alloc(&s->arena, s->objects, sizeof *s->order);
    s->settled_at = base_arena_alloc(&s->arena, s->objects, sizeof *s->settled_at);
    if (s->arena.failed)
        return -ENOMEM;
    TYPED(unassign_all)(s);
    return 0;
}

cost_t TYPED(cost_of)(const struct state *s, size_t person, size_t object)
{
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL)
        return pairs.cost[object];
    size_t low = 0;
    for (size_t count = pairs.count; count > 1; count -= count / 2)
        low += pairs.object[low + count / 2] <= object ? count / 2 : 0;
    return pairs.cost[low];
}

/* ---- the solution ---- */

/* Persons that may stay unassigned have no positive dual; rounding must not make it so. */
static void write_person_duals(const struct state *s, cost_t *out)
{
    cost_t most = s->persons > s->objects ? 0 : COST_MAX;
    for (size_t j = 0; out != NULL && j < s->persons; j++)
        out[j] = s->object_of[j] != NONE ? lesser(person_dual(s, s->object_of[j]), most) : 0;
}

static size_t whole_object(const struct state *s, size_t object)
{
    return s->whole_object != NULL ? s->whole_object[object] : object;
}

static void write_object_duals(const struct state *s, cost_t *out, size_t count)
{
    for (size_t i = 0; out != NULL && i < count; i++)
        out[i] = 0;
    for (size_t i = 0; out != NULL && i < s->objects; i++)
        out[whole_object(s, i)] = s->dual[i];
}

static void write_duals(const struct state *s, cost_t *row_dual, cost_t *col_dual,
                        cost_t *group_dual)
{
    write_person_duals(s, s->transposed ? row_dual : col_dual);
    if (s->transposed)
        write_object_duals(s, col_dual, s->problem->cols);
    else
        write_object_duals(s, row_dual, s->problem->rows);
    if (s->problem->group == NULL || group_dual == NULL)
        return;
    for (size_t g = 0; g < s->problem->groups; g++)
        group_dual[g] = s->group != NULL ? s->group_dual[g] : 0;
}

static cost_t write_assignment(const struct state *s, size_t *row_of_col)
{
    cost_t total = 0;
    for (size_t k = 0; k < s->problem->cols; k++)
        row_of_col[k] = LAP_UNASSIGNED;
    for (size_t k = 0; k < s->persons; k++) {
        if (s->object_of[k] == NONE)
            continue;
        size_t object = whole_object(s, s->object_of[k]);
        row_of_col[s->transposed ? object : k] = s->transposed ? k : object;
        total += s->paid[s->object_of[k]];
    }
    return total;
}

static void write_solution(const struct state *s, lap_solution *solution)
{
    cost_t total = write_assignment(s, solution->row_of_col);
    solution->total = (double)total;
#ifdef LAP_INTEGER
    solution->integer_total = total;
    write_duals(s, solution->integer_row_dual, solution->integer_col_dual,
                solution->integer_group_dual);
#else
    write_duals(s, solution->row_dual, solution->col_dual, solution->group_dual);
#endif
}

int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *))
{
    struct state s = {.problem = problem};
    int rc = lap_check_shape(problem, solution);
    if (rc == 0)
        rc = init_costs(&s);
    if (rc == 0)
        rc = init_groups(&s, problem);
    if (rc == 0)
        rc = TYPED(init_assignment)(&s);
    if (rc == 0)
        rc = solve(&s);
    if (rc == 0)
        TYPED(remove_dummies)(&s);
    if (rc == 0)
        write_solution(&s, solution);
    base_arena_release(&s.arena);
    return rc;
}
