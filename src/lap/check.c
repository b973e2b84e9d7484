/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of arguments and costs that all assignment solvers share. */
#include "lap/check.h"

#include "lap/processor.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* No dual and no path length exceeds 16 * (n + 1) times the largest cost (doc/lap.md); a factor of
 * 2 remains for intermediate sums. */
enum { HEADROOM = 32 };

size_t lap_pairs(const lap_problem *problem)
{
    return problem->start != NULL ? problem->start[problem->cols] : problem->rows * problem->cols;
}

static bool rows_ascend(const size_t *row, size_t count, size_t rows)
{
    for (size_t k = 0; k < count; k++)
        if (row[k] >= rows || (k > 0 && row[k] <= row[k - 1]))
            return false;
    return true;
}

static bool list_is_sound(const lap_problem *problem)
{
    const size_t *start = problem->start;
    if (start[0] != 0)
        return false;
    for (size_t j = 0; j < problem->cols; j++)
        if (start[j] > start[j + 1])
            return false;
    if (start[problem->cols] > 0 && problem->row == NULL)
        return false;
    for (size_t j = 0; j < problem->cols; j++)
        if (!rows_ascend(problem->row + start[j], start[j + 1] - start[j], problem->rows))
            return false;
    return true;
}

static bool groups_are_sound(const lap_problem *problem)
{
    for (size_t i = 0; problem->group != NULL && i < problem->rows; i++)
        if (problem->group[i] >= problem->groups)
            return false;
    return true;
}

static bool shape_is_sound(const lap_problem *problem, const lap_solution *solution)
{
    size_t pairs;
    if (problem == NULL || solution == NULL ||
        (problem->cols > 0 && solution->row_of_col == NULL) ||
        (problem->cost != NULL && problem->integer_cost != NULL))
        return false;
    if (problem->start != NULL)
        return list_is_sound(problem);
    return problem->row == NULL && !__builtin_mul_overflow(problem->rows, problem->cols, &pairs);
}

static size_t fewer_side(const lap_problem *problem)
{
    return problem->rows < problem->cols ? problem->rows : problem->cols;
}

/* Loops over whole blocks have no branches, so that compilers vectorize them. */
enum { BLOCK = 32 };

/* All bits, or none. NaN fails every comparison. */
static inline int64_t is_bad_real(double cost, double limit)
{
    int64_t beyond = fabs(cost) <= limit ? 0 : -1;
    int64_t allowed = cost == (double)INFINITY ? 0 : -1;
    return beyond & allowed;
}

FOR_EACH_PROCESSOR
static int64_t has_bad_real(const double *cost, size_t count, double limit)
{
    int64_t bad = 0;
    size_t first = 0;
    for (; first + BLOCK <= count; first += BLOCK) {
        fetch_ahead(cost + first);
        for (size_t k = 0; k < BLOCK; k++)
            bad |= is_bad_real(cost[first + k], limit);
    }
    for (; first < count; first++)
        bad |= is_bad_real(cost[first], limit);
    return bad;
}

int lap_check_real(const lap_problem *problem, const double *cost, size_t count)
{
    if (!has_bad_real(cost, count, DBL_MAX / HEADROOM / ((double)fewer_side(problem) + 1.0)))
        return 0;
    for (size_t k = 0; k < count; k++)
        if (isnan(cost[k]) || cost[k] == -(double)INFINITY)
            return -EDOM;
    return -ERANGE;
}

static inline int64_t is_bad_integer(int64_t cost, int64_t limit)
{
    int64_t at_most = cost == LAP_FORBIDDEN ? LAP_FORBIDDEN : limit;
    int64_t above = cost > at_most ? -1 : 0;
    int64_t below = cost < -limit ? -1 : 0;
    return above | below;
}

FOR_EACH_PROCESSOR
static int64_t has_bad_integer(const int64_t *cost, size_t count, int64_t limit)
{
    int64_t bad = 0;
    size_t first = 0;
    for (; first + BLOCK <= count; first += BLOCK) {
        fetch_ahead(cost + first);
        for (size_t k = 0; k < BLOCK; k++)
            bad |= is_bad_integer(cost[first + k], limit);
    }
    for (; first < count; first++)
        bad |= is_bad_integer(cost[first], limit);
    return bad;
}

int lap_check_integer(const lap_problem *problem, const int64_t *cost, size_t count)
{
    uint64_t largest = INT64_MAX;
    return has_bad_integer(cost, count, (int64_t)(largest / HEADROOM / (fewer_side(problem) + 1)))
               ? -ERANGE
               : 0;
}

int lap_check_shape(const lap_problem *problem, const lap_solution *solution)
{
    if (!shape_is_sound(problem, solution) || !groups_are_sound(problem))
        return -EINVAL;
    bool has_costs = problem->cost != NULL || problem->integer_cost != NULL;
    return has_costs || lap_pairs(problem) == 0 ? 0 : -EINVAL;
}
