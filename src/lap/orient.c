/* SPDX-License-Identifier: BSD-3-Clause */
/* The orientation of a problem. See doc/lap.md. */
#include "lap/orient.h"

#include "lap/check.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A problem of at least FEWEST rows and columns is sampled, DRAWN of each. The persons may be the
 * larger side if it has at most one member in DUMMY_PART more. */
enum { FEWEST = 96, DRAWN = 32, DUMMY_PART = 24 };

/* They are the larger side, or the rows of a square problem, if its costs differ so many times as
 * much in scale as those of the other. Measured on hops between nodes, weighted by column or row.
 */
static const double much_more = 1.7;

/* ---- the choice ---- */

static const cost_t *costs_of(const lap_problem *problem)
{
#ifdef LAP_INTEGER
    return problem->integer_cost;
#else
    return problem->cost;
#endif
}

/* The mean distance from the mean. */
static double spread_of(const double *value, size_t stride)
{
    double mean = 0.0, spread = 0.0;
    for (size_t k = 0; k < DRAWN; k++)
        mean += value[k * stride] / DRAWN;
    for (size_t k = 0; k < DRAWN; k++)
        spread += fabs(value[k * stride] - mean) / DRAWN;
    return spread;
}

/* How much the spreads of lines of the sample differ, relative to their mean. */
static double unevenness(const double *sample, size_t to_next_line, size_t within_line)
{
    double spread[DRAWN], mean = 0.0;
    for (size_t k = 0; k < DRAWN; k++) {
        spread[k] = spread_of(sample + k * to_next_line, within_line);
        mean += spread[k] / DRAWN;
    }
    return spread_of(spread, 1) / mean;
}

/* False if a cost of the sample is not a number or forbids the pair. */
static bool draw_sample(const lap_problem *problem, double *sample)
{
    const cost_t *cost = costs_of(problem);
    for (size_t j = 0; j < DRAWN; j++) {
        for (size_t i = 0; i < DRAWN; i++) {
            cost_t drawn =
                cost[j * problem->cols / DRAWN * problem->rows + i * problem->rows / DRAWN];
            if (!(drawn < COST_MAX))
                return false;
            sample[j * DRAWN + i] = (double)drawn;
        }
    }
    return true;
}

static bool larger_side_is_uneven(const lap_problem *problem)
{
    double sample[DRAWN * DRAWN];
    if (!draw_sample(problem, sample))
        return false;
    double of_cols = unevenness(sample, DRAWN, 1), of_rows = unevenness(sample, 1, DRAWN);
    return problem->cols > problem->rows ? of_cols > much_more * of_rows
                                         : of_rows > much_more * of_cols;
}

/* Whether the persons are the larger side, or the rows of a square problem. */
static bool is_turned(const lap_problem *problem)
{
    size_t fewer = problem->rows, more = problem->cols;
    if (fewer > more) {
        fewer = problem->cols;
        more = problem->rows;
    }
    return problem->start == NULL && !capacity_may_bind(problem) && fewer >= FEWEST &&
           more - fewer <= fewer / DUMMY_PART && larger_side_is_uneven(problem);
}

/* ---- the costs ---- */

/* In squares that fit the cache, so that neither side is accessed with large strides. */
static int transpose_dense_costs(struct state *s)
{
    enum { SIDE = 32 };
    const cost_t *cost = costs_of(s->problem);
    size_t rows = s->problem->rows, cols = s->problem->cols, objects = s->objects;
    cost_t *copy = base_arena_alloc(&s->arena, rows, objects * sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < cols; j += SIDE) {
        size_t end = cols - j < SIDE ? cols : j + SIDE;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = j; k < end; k++)
                copy[i * objects + k] = cost[k * rows + i];
    }
    s->cost = copy;
    return 0;
}

static int add_dummies(struct state *s)
{
    const cost_t *cost = costs_of(s->problem);
    size_t rows = s->problem->rows;
    cost_t *copy = base_arena_alloc(&s->arena, s->persons, s->objects * sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < s->persons; j++)
        memcpy(copy + j * s->objects, cost + j * rows, rows * sizeof *copy);
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

int TYPED(orient)(struct state *s)
{
    const lap_problem *problem = s->problem;
    s->transposed = (problem->cols > problem->rows) != is_turned(problem);
    s->persons = s->transposed ? problem->rows : problem->cols;
    s->objects = s->transposed ? problem->cols : problem->rows;
    s->dummies = s->persons > s->objects ? s->persons - s->objects : 0;
    s->objects += s->dummies;
    if (s->transposed)
        return problem->start != NULL ? transpose_sparse_costs(s) : transpose_dense_costs(s);
    if (s->dummies > 0)
        return add_dummies(s);
    s->cost = costs_of(problem);
    s->start = problem->start;
    s->entry_object = problem->row;
    return 0;
}

/* All dummies have the same price: that of one whose person could have any other. */
void TYPED(remove_dummies)(struct state *s)
{
    if (s->dummies == 0)
        return;
    s->objects -= s->dummies;
    cost_t common = s->dual[s->objects];
    for (size_t k = 0; k < s->dummies; k++)
        s->object_of[s->person_of[s->objects + k]] = NONE;
    s->dummies = 0;
    for (size_t i = 0; i < s->objects; i++)
        set_dual(s, i, s->dual[i] - common);
}
