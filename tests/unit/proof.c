/* SPDX-License-Identifier: BSD-3-Clause */
/* Proof of an assignment by complementary slackness, independent of all solvers. */
#include "proof.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct proof {
    const lap_problem *problem;
    const lap_solution *solution;
    double tolerance;
    bool integer;
    unsigned char *assigned; /* by row */
};

/* Every comparison is written so that NaN fails it. */
static bool at_most_zero(const struct proof *proof, double value)
{
    return value <= proof->tolerance;
}

static bool is_zero(const struct proof *proof, double value)
{
    return fabs(value) <= proof->tolerance;
}

/* ---- the assignment ---- */

static bool assign_row(struct proof *proof, size_t row)
{
    const lap_problem *problem = proof->problem;
    if (row >= problem->rows || proof->assigned[row])
        return false;
    proof->assigned[row] = 1;
    return true;
}

static bool assignment_holds(struct proof *proof)
{
    const lap_problem *problem = proof->problem;
    size_t expected = problem->rows < problem->cols ? problem->rows : problem->cols, pairs = 0;
    for (size_t j = 0; j < problem->cols; j++) {
        size_t row = proof->solution->row_of_col[j];
        if (row == LAP_UNASSIGNED)
            continue;
        if (!assign_row(proof, row))
            return false;
        pairs++;
    }
    return pairs == expected;
}

/* ---- signs ---- */

static double dual(const struct proof *proof, const double *real, const int64_t *integer, size_t k)
{
    return proof->integer ? (double)integer[k] : real[k];
}

static bool row_signs_hold(const struct proof *proof)
{
    const lap_problem *problem = proof->problem;
    const lap_solution *s = proof->solution;
    for (size_t i = 0; i < problem->rows; i++) {
        double value = dual(proof, s->row_dual, s->integer_row_dual, i);
        bool right = proof->assigned[i] ? at_most_zero(proof, value) : is_zero(proof, value);
        if (problem->rows > problem->cols && !right)
            return false;
    }
    return true;
}

static bool col_signs_hold(const struct proof *proof)
{
    const lap_problem *problem = proof->problem;
    const lap_solution *s = proof->solution;
    for (size_t j = 0; problem->cols > problem->rows && j < problem->cols; j++) {
        double value = dual(proof, s->col_dual, s->integer_col_dual, j);
        bool free = s->row_of_col[j] == LAP_UNASSIGNED;
        if (!(free ? is_zero(proof, value) : at_most_zero(proof, value)))
            return false;
    }
    return true;
}

/* ---- slacks and total ---- */

/* NaN where a sum overflows, which does not happen with a solver's duals. */
static double integer_slack(const struct proof *proof, size_t pair, size_t row, size_t col)
{
    const lap_problem *problem = proof->problem;
    const lap_solution *s = proof->solution;
    int64_t slack;
    bool overflows =
        __builtin_sub_overflow(problem->integer_cost[pair], s->integer_row_dual[row], &slack);
    overflows |= __builtin_sub_overflow(slack, s->integer_col_dual[col], &slack);
    return overflows ? NAN : (double)slack;
}

/* INFINITY for a forbidden pair. */
static double slack(const struct proof *proof, size_t pair, size_t row, size_t col)
{
    const lap_problem *problem = proof->problem;
    const lap_solution *s = proof->solution;
    if (proof->integer) {
        bool forbidden = problem->integer_cost[pair] == LAP_FORBIDDEN;
        return forbidden ? INFINITY : integer_slack(proof, pair, row, col);
    }
    return problem->cost[pair] - s->col_dual[col] - s->row_dual[row];
}

static bool add_pair_cost(const struct proof *proof, size_t pair, double *sum, int64_t *integer_sum)
{
    const lap_problem *problem = proof->problem;
    if (!proof->integer) {
        *sum += problem->cost[pair];
        return true;
    }
    return !__builtin_add_overflow(*integer_sum, problem->integer_cost[pair], integer_sum);
}

/* Every pair of every column; a chosen one must be among them. */
static bool pairs_hold(const struct proof *proof, double *sum, int64_t *integer_sum)
{
    const lap_problem *problem = proof->problem;
    for (size_t j = 0; j < problem->cols; j++) {
        size_t first = problem->start != NULL ? problem->start[j] : j * problem->rows;
        size_t end = problem->start != NULL ? problem->start[j + 1] : first + problem->rows;
        size_t chosen = proof->solution->row_of_col[j];
        bool seen = chosen == LAP_UNASSIGNED;
        for (size_t k = first; k < end; k++) {
            size_t row = problem->start != NULL ? problem->row[k] : k - first;
            if (row >= problem->rows || !(slack(proof, k, row, j) >= -proof->tolerance))
                return false;
            if (row == chosen) {
                seen = is_zero(proof, slack(proof, k, row, j)) &&
                       add_pair_cost(proof, k, sum, integer_sum);
            }
        }
        if (!seen)
            return false;
    }
    return true;
}

static bool total_holds(const struct proof *proof, double sum, int64_t integer_sum)
{
    const lap_solution *s = proof->solution;
    if (proof->integer)
        return s->integer_total == integer_sum && s->total == (double)integer_sum;
    return fabs(sum - s->total) <= proof->tolerance * (double)proof->problem->cols;
}

static int verify_proof(struct proof *proof)
{
    double sum = 0.0;
    int64_t integer_sum = 0;
    bool holds = assignment_holds(proof) && row_signs_hold(proof) && col_signs_hold(proof) &&
                 pairs_hold(proof, &sum, &integer_sum) && total_holds(proof, sum, integer_sum);
    return holds ? 0 : -EINVAL;
}

int lap_verify(const lap_problem *problem, const lap_solution *solution, double tolerance)
{
    struct proof proof = {.problem = problem,
                          .solution = solution,
                          .tolerance = tolerance,
                          .integer = problem->integer_cost != NULL};
    proof.assigned = calloc(problem->rows | 1, sizeof *proof.assigned);
    int rc = proof.assigned != NULL ? verify_proof(&proof) : -ENOMEM;
    free(proof.assigned);
    return rc;
}
