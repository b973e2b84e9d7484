/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of arguments and costs that all assignment solvers share. */
#include "lap/check.h"

#include "lap/processor.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* No dual and no path length exceeds 16 * (n + 1) times the largest cost (doc/lap.md); the
 * limit leaves a factor of 2 for the sums on the way. */
enum { HEADROOM = 32, CHAINS = 8 };

size_t lap_pairs(const lap_problem *problem)
{
    return problem->start != NULL ? problem->start[problem->cols] : problem->rows * problem->cols;
}

static bool rows_ascend(const size_t *row, size_t count, size_t rows)
{
    for (size_t k = 0; k < count; k++) {
        if (row[k] >= rows || (k > 0 && row[k] <= row[k - 1])) {
            return false;
        }
    }
    return true;
}

static bool list_is_sound(const lap_problem *problem)
{
    const size_t *start = problem->start;
    if (start[0] != 0) {
        return false;
    }
    for (size_t j = 0; j < problem->cols; j++) {
        if (start[j] > start[j + 1]) {
            return false;
        }
    }
    if (start[problem->cols] > 0 && problem->row == NULL) {
        return false;
    }
    for (size_t j = 0; j < problem->cols; j++) {
        if (!rows_ascend(problem->row + start[j], start[j + 1] - start[j], problem->rows)) {
            return false;
        }
    }
    return true;
}

static bool groups_are_sound(const lap_problem *problem)
{
    for (size_t i = 0; problem->group != NULL && i < problem->rows; i++) {
        if (problem->group[i] >= problem->groups) {
            return false;
        }
    }
    return true;
}

static bool shape_is_sound(const lap_problem *problem, const lap_solution *solution)
{
    size_t pairs;
    if (problem == NULL || solution == NULL
        || (problem->cols > 0 && solution->row_of_col == NULL)
        || (problem->cost != NULL && problem->integer_cost != NULL)) {
        return false;
    }
    if (problem->start != NULL) {
        return list_is_sound(problem);
    }
    return problem->row == NULL && !__builtin_mul_overflow(problem->rows, problem->cols, &pairs);
}

static double limit_of(const lap_problem *problem, double largest)
{
    size_t n = problem->rows < problem->cols ? problem->rows : problem->cols;
    return largest / HEADROOM / ((double)n + 1.0);
}

/* What the costs have shown so far, in several chains, since one alone waits for every
 * comparison to end; and without branches, so that compilers make vectors of them. */
struct seen {
    double largest[CHAINS];
    int64_t invalid[CHAINS]; /* 0, or -1 once NaN or -INFINITY was seen */
};

static inline __attribute__((always_inline)) void see(struct seen *seen, const double *cost, size_t chain)
{
    double magnitude = cost[chain] < INFINITY ? fabs(cost[chain]) : 0.0;
    seen->invalid[chain] |= cost[chain] > -INFINITY ? 0 : -1;
    seen->largest[chain] = magnitude > seen->largest[chain] ? magnitude : seen->largest[chain];
}

FOR_EACH_PROCESSOR
static struct seen see_all(const double *cost, size_t count)
{
    struct seen seen = { 0 };
    size_t k = 0;
    for (; k + CHAINS <= count; k += CHAINS) {
        for (size_t chain = 0; chain < CHAINS; chain++) {
            see(&seen, cost + k, chain);
        }
    }
    for (size_t chain = 0; k + chain < count; chain++) {
        see(&seen, cost + k, chain);
    }
    return seen;
}

static int check_real(const double *cost, size_t count, double limit)
{
    struct seen seen = see_all(cost, count);
    for (size_t chain = 1; chain < CHAINS; chain++) {
        seen.invalid[0] |= seen.invalid[chain];
        seen.largest[0] = fmax(seen.largest[0], seen.largest[chain]);
    }
    if (seen.invalid[0]) {
        return -EDOM;
    }
    return seen.largest[0] > limit ? -ERANGE : 0;
}

FOR_EACH_PROCESSOR
static int check_integer(const int64_t *cost, size_t count, int64_t limit)
{
    int64_t invalid[CHAINS] = { 0 };
    size_t k = 0;
    for (; k + CHAINS <= count; k += CHAINS) {
        for (size_t c = 0; c < CHAINS; c++) {
            int64_t at_most = cost[k + c] == LAP_FORBIDDEN ? LAP_FORBIDDEN : limit;
            invalid[c] |= cost[k + c] < -limit || cost[k + c] > at_most ? -1 : 0;
        }
    }
    for (; k < count; k++) {
        invalid[0] |= cost[k] < -limit || (cost[k] > limit && cost[k] != LAP_FORBIDDEN) ? -1 : 0;
    }
    for (size_t c = 1; c < CHAINS; c++) {
        invalid[0] |= invalid[c];
    }
    return invalid[0] ? -ERANGE : 0;
}

int lap_check_input(const lap_problem *problem, const lap_solution *solution)
{
    if (!shape_is_sound(problem, solution) || !groups_are_sound(problem)) {
        return -EINVAL;
    }
    size_t pairs = lap_pairs(problem);
    if (pairs > 0 && problem->cost == NULL && problem->integer_cost == NULL) {
        return -EINVAL;
    }
    if (problem->integer_cost != NULL) {
        size_t n = problem->rows < problem->cols ? problem->rows : problem->cols;
        return check_integer(problem->integer_cost, pairs,
                             (int64_t)(UINT64_C(0x7fffffffffffffff) / HEADROOM / (n + 1)));
    }
    return check_real(problem->cost, pairs, limit_of(problem, DBL_MAX));
}
