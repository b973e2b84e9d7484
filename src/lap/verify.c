/* SPDX-License-Identifier: BSD-3-Clause */
/* Proof of an assignment by complementary slackness, apart from all solvers. */
#include "lap/lap.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Every comparison is written so that NaN fails it. */
static bool at_most_zero(double value, double tolerance)
{
    return value <= tolerance;
}

static bool is_zero(double value, double tolerance)
{
    return fabs(value) <= tolerance;
}

static bool is_complete(const lap_problem *problem, const lap_solution *solution, double tolerance)
{
    return problem != NULL && solution != NULL && tolerance >= 0.0
           && problem->cols <= problem->rows
           && (problem->cols == 0 || (problem->cost != NULL && solution->row_of_col != NULL
                                      && solution->col_dual != NULL))
           && (problem->rows == 0 || solution->row_dual != NULL)
           && (problem->group == NULL || problem->groups == 0 || solution->group_dual != NULL);
}

/* Counts the columns of each row and group; false where a constraint is broken. */
static bool count_columns(const lap_problem *problem, const lap_solution *solution,
                          unsigned char *taken, size_t *load)
{
    for (size_t j = 0; j < problem->cols; j++) {
        size_t row = solution->row_of_col[j];
        if (row >= problem->rows || taken[row]) {
            return false;
        }
        taken[row] = 1;
        if (problem->group == NULL) {
            continue;
        }
        size_t g = problem->group[row];
        if (g >= problem->groups
            || (problem->group_capacity > 0 && load[g] >= problem->group_capacity)) {
            return false;
        }
        load[g]++;
    }
    return true;
}

static bool signs_hold(const lap_problem *problem, const lap_solution *solution,
                       const unsigned char *taken, const size_t *load, double tolerance)
{
    for (size_t i = 0; i < problem->rows; i++) {
        double dual = solution->row_dual[i];
        if (!(taken[i] ? at_most_zero(dual, tolerance) : is_zero(dual, tolerance))) {
            return false;
        }
        if (problem->group != NULL && problem->group[i] >= problem->groups) {
            return false;
        }
    }
    for (size_t g = 0; problem->group != NULL && g < problem->groups; g++) {
        bool full = problem->group_capacity > 0 && load[g] == problem->group_capacity;
        double dual = solution->group_dual[g];
        if (!(full ? at_most_zero(dual, tolerance) : is_zero(dual, tolerance))) {
            return false;
        }
    }
    return true;
}

static double slack(const lap_problem *problem, const lap_solution *solution, size_t row, size_t col)
{
    double group_dual = problem->group != NULL ? solution->group_dual[problem->group[row]] : 0.0;
    return problem->cost[col * problem->rows + row] - solution->col_dual[col]
           - solution->row_dual[row] - group_dual;
}

static bool slacks_hold(const lap_problem *problem, const lap_solution *solution, double tolerance)
{
    for (size_t j = 0; j < problem->cols; j++) {
        if (!is_zero(slack(problem, solution, solution->row_of_col[j], j), tolerance)) {
            return false;
        }
        for (size_t i = 0; i < problem->rows; i++) {
            if (!(slack(problem, solution, i, j) >= -tolerance)) {
                return false;
            }
        }
    }
    return true;
}

static bool total_holds(const lap_problem *problem, const lap_solution *solution, double tolerance)
{
    double sum = 0.0;
    for (size_t j = 0; j < problem->cols; j++) {
        sum += problem->cost[j * problem->rows + solution->row_of_col[j]];
    }
    return is_zero(sum - solution->total, tolerance * (double)problem->cols);
}

int lap_verify(const lap_problem *problem, const lap_solution *solution, double tolerance)
{
    if (!is_complete(problem, solution, tolerance)) {
        return -EINVAL;
    }
    size_t groups = problem->group != NULL ? problem->groups : 0;
    unsigned char *taken = calloc(problem->rows | 1, sizeof *taken);
    size_t *load = calloc(groups | 1, sizeof *load);
    int rc = -ENOMEM;
    if (taken != NULL && load != NULL) {
        rc = count_columns(problem, solution, taken, load)
                     && signs_hold(problem, solution, taken, load, tolerance)
                     && slacks_hold(problem, solution, tolerance)
                     && total_holds(problem, solution, tolerance)
                 ? 0
                 : -EINVAL;
    }
    free(load);
    free(taken);
    return rc;
}
