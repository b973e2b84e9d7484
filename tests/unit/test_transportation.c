/* SPDX-License-Identifier: BSD-3-Clause */
/* lap_transportation against the assignment problem with one row for each unit of capacity, and
 * against its own duals. */
#include "lap/transportation.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "assignments.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MAX_ROWS = 60, MAX_COLS = 300, MAX_CAPACITY = 9, ROUNDS = 600 };

static size_t capacity[MAX_ROWS];

/* Each column lists every second row or so, up to all of them; costs are finite. */
static void draw_instance(struct assignment *a, enum structure structure, uint64_t seed)
{
    uint64_t state = seed;
    bool large = seed % 10 == 0;
    const struct shape shape = {.rows = (size_t)pick(&state, 1, large ? MAX_ROWS : 8),
                                .cols = (size_t)pick(&state, 0, large ? MAX_COLS : 30),
                                .listed = pick(&state, 30, 100)};
    int64_t most = pick(&state, 1, MAX_CAPACITY);
    draw_assignment(a, structure, seed % 3 ? NO_CHANGE : NEGATED, &shape, seed);
    choose_form(a, seed % 4 == 0 ? TENTHS : REAL);
    mark_solution(a);
    for (size_t k = 0; k < a->pairs; k++)
        if (isinf(a->cost[k]))
            a->cost[k] = 2 * (double)a->largest;
    for (size_t i = 0; i < shape.rows; i++)
        capacity[i] = (size_t)pick(&state, 1, most);
}

/* ---- the same problem with a row for each unit ---- */

enum { MAX_UNITS = MAX_ROWS * MAX_CAPACITY };

/* The least total, or LAP_INFEASIBLE. */
static int solve_units(const lap_problem *p, double *total)
{
    static size_t start[MAX_COLS + 1], row[MAX_COLS * MAX_UNITS], row_of_col[MAX_COLS];
    static double cost[MAX_COLS * MAX_UNITS];
    size_t first[MAX_ROWS + 1] = {0}, used = 0;
    for (size_t i = 0; i < p->rows; i++)
        first[i + 1] = first[i] + capacity[i];
    start[0] = 0;
    for (size_t j = 0; j < p->cols; j++) {
        for (size_t k = p->start[j]; k < p->start[j + 1]; k++) {
            for (size_t unit = first[p->row[k]]; unit < first[p->row[k] + 1]; unit++) {
                row[used] = unit;
                cost[used++] = p->cost[k];
            }
        }
        start[j + 1] = used;
    }
    if (first[p->rows] < p->cols)
        return LAP_INFEASIBLE;
    lap_problem units = {
        .rows = first[p->rows], .cols = p->cols, .cost = cost, .start = start, .row = row};
    lap_solution solution = {.row_of_col = row_of_col};
    int rc = lap_jv(&units, &solution);
    *total = solution.total;
    return rc;
}

/* ---- checks ---- */

static double cost_of_pair(const lap_problem *p, size_t j, size_t i)
{
    for (size_t k = p->start[j]; k < p->start[j + 1]; k++)
        if (p->row[k] == i)
            return p->cost[k];
    ck_abort_msg("column %zu is on row %zu, which it does not list", j, i);
}

/* Check's own comparison excludes a tolerance of 0. */
static void expect_equal(double a, double b, double tolerance)
{
    ck_assert_double_le(fabs(a - b), tolerance);
}

static void check_proof(const struct assignment *a, double tolerance)
{
    const lap_problem *p = &a->problem;
    const lap_solution *s = &a->solution;
    size_t load[MAX_ROWS] = {0};
    double total = 0.0, duals = 0.0;
    for (size_t j = 0; j < p->cols; j++) {
        size_t i = s->row_of_col[j];
        ck_assert_uint_lt(i, p->rows);
        load[i]++;
        double cost = cost_of_pair(p, j, i);
        total += cost;
        duals += s->col_dual[j];
        expect_equal(cost, s->col_dual[j] + s->row_dual[i], tolerance);
        for (size_t k = p->start[j]; k < p->start[j + 1]; k++)
            ck_assert_double_ge(p->cost[k] - s->col_dual[j] - s->row_dual[p->row[k]], -tolerance);
    }
    for (size_t i = 0; i < p->rows; i++) {
        ck_assert_uint_le(load[i], capacity[i]);
        ck_assert_double_le(s->row_dual[i], 0.0);
        ck_assert(load[i] == capacity[i] || s->row_dual[i] == 0.0);
        duals += (double)capacity[i] * s->row_dual[i];
    }
    expect_equal(s->total, total, tolerance);
    expect_equal(duals, total, tolerance * (double)(p->cols + 1));
}

START_TEST(agrees_with_equal_rows)
{
    uint64_t solved = 0, infeasible = 0;
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(ROUNDS); k++, seed++) {
        struct assignment a;
        double total;
        draw_instance(&a, (enum structure)_i, seed);
        double tolerance = seed % 4 == 0 ? (double)a.largest * 1e-11 : 0.0;
        int expected = solve_units(&a.problem, &total);
        int rc = lap_transportation(&a.problem, capacity, &a.solution);
        ck_assert_msg(rc == expected, "%s, seed %llu: %d instead of %d", structure_names[_i],
                      (unsigned long long)seed, rc, expected);
        if (rc == 0) {
            expect_equal(a.solution.total, total, tolerance * 1000);
            check_proof(&a, tolerance);
            solved++;
        } else {
            ck_assert(is_marked(&a));
            infeasible++;
        }
        release_assignment(&a);
    }
    ck_assert_uint_gt(solved, random_cases(ROUNDS) / 4);
    ck_assert_uint_gt(infeasible, 0);
}
END_TEST

START_TEST(out_of_memory)
{
    struct assignment a;
    int rc = -ENOMEM;
    draw_instance(&a, UNIFORM, 20);
    for (size_t i = 0; i < MAX_ROWS; i++)
        capacity[i] = SIZE_MAX;
    for (long nth = 0; rc != 0; nth++) {
        fail_allocation(nth);
        rc = lap_transportation(&a.problem, capacity, &a.solution);
        check_failing(rc);
        ck_assert(rc == 0 || is_marked(&a));
        ck_assert_int_lt(nth, 100);
    }
    release_assignment(&a);
}
END_TEST

int main(void)
{
    return run_tests("transport", TIMES(agrees_with_equal_rows, STRUCTURES), ONCE(out_of_memory));
}
