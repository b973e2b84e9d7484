/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of arguments and costs that all assignment solvers share. */
#include "lap/check.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

static int check_shape(const lap_problem *problem, const lap_solution *solution)
{
    size_t pairs;
    if (problem == NULL || solution == NULL || problem->cols > problem->rows
        || __builtin_mul_overflow(problem->rows, problem->cols, &pairs)) {
        return -EINVAL;
    }
    if (pairs > 0 && (problem->cost == NULL || solution->row_of_col == NULL)) {
        return -EINVAL;
    }
    for (size_t i = 0; problem->group != NULL && i < problem->rows; i++) {
        if (problem->group[i] >= problem->groups) {
            return -EINVAL;
        }
    }
    return 0;
}

/* No dual and no path length exceeds 16 * cols times the largest cost; the limit
 * leaves a factor of 2 for the intermediate sums. */
static int check_costs(const lap_problem *problem)
{
    bool valid = true;
    double largest = 0.0;
    for (size_t k = 0; k < problem->rows * problem->cols; k++) {
        double cost = problem->cost[k];
        double magnitude = cost < INFINITY ? fabs(cost) : 0.0;
        valid &= cost > -INFINITY;
        largest = magnitude > largest ? magnitude : largest;
    }
    if (!valid) {
        return -EDOM;
    }
    return largest > DBL_MAX / 32.0 / (double)(problem->cols + 1) ? -ERANGE : 0;
}

int lap_check_input(const lap_problem *problem, const lap_solution *solution)
{
    int rc = check_shape(problem, solution);
    return rc != 0 ? rc : check_costs(problem);
}
