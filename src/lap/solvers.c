/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of assignment solvers, and the checks of arguments and costs that they share. */
#include "lap/lap.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* ---- checks ---- */

/* No dual and no path length exceeds 16 * (n + 1) times the largest cost (doc/lap.md); a factor of
 * 2 remains for intermediate sums. */
enum { HEADROOM = 32 };

/* The number of costs: rows * cols, or the length of the list. */
static size_t count_pairs(const lap_problem *problem)
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

/* NaN fails every comparison. */
static int check_real(const double *cost, size_t count, double limit)
{
    int rc = 0;
    for (size_t k = 0; k < count; k++) {
        if (fabs(cost[k]) <= limit || cost[k] == (double)INFINITY)
            continue;
        if (isnan(cost[k]) || cost[k] == -(double)INFINITY)
            return -EDOM;
        rc = -ERANGE;
    }
    return rc;
}

static int check_integer(const int64_t *cost, size_t count, int64_t limit)
{
    for (size_t k = 0; k < count; k++)
        if (cost[k] != LAP_FORBIDDEN && (cost[k] > limit || cost[k] < -limit))
            return -ERANGE;
    return 0;
}

static int solvers_check(const lap_problem *problem, const lap_solution *solution)
{
    if (!shape_is_sound(problem, solution))
        return -EINVAL;
    size_t pairs = count_pairs(problem);
    size_t fewer = problem->rows < problem->cols ? problem->rows : problem->cols;
    if (problem->cost != NULL)
        return check_real(problem->cost, pairs, DBL_MAX / HEADROOM / ((double)fewer + 1.0));
    if (problem->integer_cost != NULL)
        return check_integer(problem->integer_cost, pairs,
                             (int64_t)((uint64_t)INT64_MAX / HEADROOM / (fewer + 1)));
    return pairs == 0 ? 0 : -EINVAL;
}

/* ---- the table ---- */

/* A solver, from its function for each kind of costs. */
#define SOLVER(name)                                                                               \
    int lap_##name##_real(const lap_problem *problem, lap_solution *solution);                     \
    int lap_##name##_integer(const lap_problem *problem, lap_solution *solution);                  \
    int lap_##name(const lap_problem *problem, lap_solution *solution)                             \
    {                                                                                              \
        int rc = solvers_check(problem, solution);                                                 \
        if (rc != 0)                                                                               \
            return rc;                                                                             \
        return problem->integer_cost != NULL ? lap_##name##_integer(problem, solution)             \
                                             : lap_##name##_real(problem, solution);               \
    }

SOLVER(jv)
SOLVER(hungarian)
SOLVER(apc)
SOLVER(aps)

const lap_solver lap_solvers[] = {
    {"jv", lap_jv, "Jonker and Volgenant's shortest augmenting paths"},
    {"hungarian", lap_hungarian, "Kuhn and Munkres's method, O(n^3)"},
    {"apc", lap_apc, "Carpaneto, Martello and Toth's method for complete matrices"},
    {"aps", lap_aps, "Carpaneto, Martello and Toth's method for sparse matrices"},
    {NULL, NULL, NULL},
};
