/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of a solver's state, and the solution. */
#include "lap/state.h"

#include <errno.h>

/* ---- costs ---- */

static const cost_t *costs_of(const lap_problem *problem)
{
#ifdef LAP_INTEGER
    return problem->integer_cost;
#else
    return problem->cost;
#endif
}

/* In strips that fit the cache, so that neither side is accessed with large strides. */
static int transpose_dense_costs(struct state *s)
{
    enum { WIDTH = 32 };
    const cost_t *cost = costs_of(s->problem);
    size_t rows = s->persons, cols = s->objects;
    cost_t *copy = base_arena_alloc(&s->arena, rows, cols * sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < cols; j += WIDTH) {
        size_t end = cols - j < WIDTH ? cols : j + WIDTH;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = j; k < end; k++)
                copy[i * cols + k] = cost[k * rows + i];
    }
    s->cost = copy;
    return 0;
}

static int transpose_sparse_costs(struct state *s)
{
    const lap_problem *problem = s->problem;
    const cost_t *cost = costs_of(problem);
    size_t entries = lap_pairs(problem);
    size_t *start = base_arena_alloc(&s->arena, problem->rows + 2, sizeof *start);
    size_t *col = base_arena_alloc(&s->arena, entries, sizeof *col);
    cost_t *copy = base_arena_alloc(&s->arena, entries, sizeof *copy);
    if (s->arena.failed)
        return -ENOMEM;
    /* start[i + 1]: where the next entry of row i goes; finally the end of row i. */
    for (size_t k = 0; k < entries; k++)
        start[problem->row[k] + 2]++;
    for (size_t i = 1; i <= problem->rows; i++)
        start[i + 1] += start[i];
    for (size_t j = 0; j < problem->cols; j++) {
        for (size_t k = problem->start[j]; k < problem->start[j + 1]; k++) {
            size_t place = start[problem->row[k] + 1]++;
            col[place] = j;
            copy[place] = cost[k];
        }
    }
    s->cost = copy;
    s->start = start;
    s->entry_object = col;
    return 0;
}

static int init_costs(struct state *s)
{
    const lap_problem *problem = s->problem;
    s->transposed = problem->cols > problem->rows;
    s->persons = s->transposed ? problem->rows : problem->cols;
    s->objects = s->transposed ? problem->cols : problem->rows;
    if (s->transposed)
        return problem->start != NULL ? transpose_sparse_costs(s) : transpose_dense_costs(s);
    s->cost = costs_of(problem);
    s->start = problem->start;
    s->entry_object = problem->row;
    return 0;
}

/* ---- the assignment ---- */

static int init_assignment(struct state *s)
{
    s->object_of = base_arena_alloc(&s->arena, s->persons, sizeof *s->object_of);
    s->person_of = base_arena_alloc(&s->arena, s->objects, sizeof *s->person_of);
    s->paid = base_arena_alloc(&s->arena, s->objects, sizeof *s->paid);
    s->dual = base_arena_alloc(&s->arena, s->objects, sizeof *s->dual);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t j = 0; j < s->persons; j++)
        s->object_of[j] = NONE;
    for (size_t i = 0; i < s->objects; i++)
        s->person_of[i] = NONE;
    return 0;
}

static cost_t cost_of(const struct state *s, size_t person, size_t object)
{
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL)
        return pairs.cost[object];
    size_t low = 0;
    for (size_t count = pairs.count; count > 1; count -= count / 2)
        low += pairs.object[low + count / 2] <= object ? count / 2 : 0;
    return pairs.cost[low];
}

void TYPED(assign)(struct state *s, size_t person, size_t object)
{
    s->object_of[person] = object;
    s->person_of[object] = person;
    s->paid[object] = cost_of(s, person, object);
}

/* ---- the solution ---- */

static void write_duals(const struct state *s, cost_t *row_dual, cost_t *col_dual)
{
    cost_t *of_person = s->transposed ? row_dual : col_dual;
    cost_t *of_object = s->transposed ? col_dual : row_dual;
    for (size_t j = 0; of_person != NULL && j < s->persons; j++)
        of_person[j] = person_dual(s, s->object_of[j]);
    for (size_t i = 0; of_object != NULL && i < s->objects; i++)
        of_object[i] = s->dual[i];
}

static cost_t write_assignment(const struct state *s, size_t *row_of_col)
{
    cost_t total = 0;
    for (size_t j = 0; j < s->problem->cols; j++)
        row_of_col[j] = LAP_UNASSIGNED;
    for (size_t k = 0; k < s->persons; k++) {
        size_t object = s->object_of[k];
        row_of_col[s->transposed ? object : k] = s->transposed ? k : object;
        total += s->paid[object];
    }
    return total;
}

static void write_solution(const struct state *s, lap_solution *solution)
{
    cost_t total = write_assignment(s, solution->row_of_col);
    solution->total = (double)total;
#ifdef LAP_INTEGER
    solution->integer_total = total;
    write_duals(s, solution->integer_row_dual, solution->integer_col_dual);
#else
    write_duals(s, solution->row_dual, solution->col_dual);
#endif
}

int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *))
{
    struct state s = {.problem = problem};
    int rc = lap_check(problem, solution);
    if (rc == 0)
        rc = init_costs(&s);
    if (rc == 0)
        rc = init_assignment(&s);
    if (rc == 0)
        rc = solve(&s);
    if (rc == 0)
        write_solution(&s, solution);
    base_arena_release(&s.arena);
    return rc;
}
