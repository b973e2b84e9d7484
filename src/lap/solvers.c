/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of assignment solvers, and the check of costs that they share. */
#include "lap/lap.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* ---- costs ---- */

/* No dual and no path length exceeds 16 * (n + 1) times the largest cost (doc/lap.md); a factor of
 * 2 remains for intermediate sums. */
enum { HEADROOM = 32 };

/* The number of costs: rows * cols, or the length of the list. */
static size_t count_pairs(const lap_problem *problem)
{
    return problem->start != NULL ? problem->start[problem->cols] : problem->rows * problem->cols;
}

/* NaN fails every comparison. */
static int check_real(const double *cost, size_t count, double limit)
{
    for (size_t k = 0; k < count; k++)
        if (!(fabs(cost[k]) <= limit) && cost[k] != (double)INFINITY)
            return -ERANGE;
    return 0;
}

static int check_integer(const int64_t *cost, size_t count, int64_t limit)
{
    for (size_t k = 0; k < count; k++)
        if (cost[k] != LAP_FORBIDDEN && (cost[k] > limit || cost[k] < -limit))
            return -ERANGE;
    return 0;
}

static int check_costs(const lap_problem *problem)
{
    size_t pairs = count_pairs(problem);
    size_t fewer = problem->rows < problem->cols ? problem->rows : problem->cols;
    assert(problem->cost == NULL || problem->integer_cost == NULL);
    if (problem->cost != NULL)
        return check_real(problem->cost, pairs, DBL_MAX / HEADROOM / ((double)fewer + 1.0));
    assert(pairs == 0 || problem->integer_cost != NULL);
    return check_integer(problem->integer_cost, pairs,
                         (int64_t)((uint64_t)INT64_MAX / HEADROOM / (fewer + 1)));
}

/* ---- the table ---- */

/* A solver, from its function for each kind of costs. */
#define SOLVER(name)                                                                               \
    int lap_##name##_real(const lap_problem *problem, lap_solution *solution);                     \
    int lap_##name##_integer(const lap_problem *problem, lap_solution *solution);                  \
    int lap_##name(const lap_problem *problem, lap_solution *solution)                             \
    {                                                                                              \
        int rc = check_costs(problem);                                                             \
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
