/* SPDX-License-Identifier: BSD-3-Clause */
/* lap_transport against the assignment problem with one row for each unit of capacity, and against
 * its own duals. */
#include "lap/transport.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MAX_ROWS = 60, MAX_COLS = 300, MAX_CAPACITY = 9, ROUNDS = 1500 };

struct instance {
    lap_problem problem;
    lap_solution solution;
    size_t start[MAX_COLS + 1], row[MAX_COLS * MAX_ROWS];
    double cost[MAX_COLS * MAX_ROWS];
    size_t capacity[MAX_ROWS];
    size_t row_of_col[MAX_COLS];
    double col_dual[MAX_COLS], row_dual[MAX_ROWS];
};

static struct instance one;

static void point_at_arrays(struct instance *in)
{
    in->problem.start = in->start;
    in->problem.row = in->row;
    in->problem.cost = in->cost;
    in->solution = (lap_solution){
        .row_of_col = in->row_of_col,
        .col_dual = in->col_dual,
        .row_dual = in->row_dual,
        .total = -1.0,
    };
}

enum { UNIFORM, TIES, EQUAL, HEAVY, SAME_ORDER, FRACTIONS, NEGATIVE, KINDS };

static double pick_cost(int kind, size_t i, size_t j, uint64_t *state)
{
    switch (kind) {
    case UNIFORM: return (double)pick(state, 0, 1000000);
    case TIES: return (double)pick(state, 0, 3);
    case HEAVY:
        return (double)((INT64_C(1) << 39) / pick(state, 1, INT64_C(1) << pick(state, 0, 39)));
    case SAME_ORDER: /* all columns prefer the same rows */ return (double)((i + 1) * (j + 1));
    case FRACTIONS: return (double)pick(state, 0, 1000) / 7.0;
    case NEGATIVE: return (double)pick(state, -1000, 10);
    default: return 5.0;
    }
}

/* Each column lists every second row or so, up to all of them. */
static struct instance *random_instance(int kind, uint64_t seed)
{
    struct instance *in = &one;
    uint64_t state = seed;
    size_t used = 0;
    size_t rows = (size_t)pick(&state, 1, seed % 10 == 0 ? MAX_ROWS : 8);
    size_t cols = (size_t)pick(&state, 0, seed % 10 == 0 ? MAX_COLS : 30);
    int64_t listed_of_ten = pick(&state, 3, 10), most = pick(&state, 1, MAX_CAPACITY);
    memset(in, 0xa5, sizeof *in);
    in->problem = (lap_problem){.rows = rows, .cols = cols};
    point_at_arrays(in);
    for (size_t i = 0; i < rows; i++)
        in->capacity[i] = (size_t)pick(&state, 1, most);
    in->start[0] = 0;
    for (size_t j = 0; j < cols; j++) {
        for (size_t i = 0; i < rows; i++) {
            if (pick(&state, 1, 10) > listed_of_ten)
                continue;
            in->row[used] = i;
            in->cost[used++] = pick_cost(kind, i, j, &state);
        }
        in->start[j + 1] = used;
    }
    return in;
}

/* ---- the same problem with a row for each unit ---- */

enum { MAX_UNITS = MAX_ROWS * MAX_CAPACITY };

/* The least total, or LAP_INFEASIBLE. */
static int solve_units(const struct instance *in, double *total)
{
    static size_t start[MAX_COLS + 1], row[MAX_COLS * MAX_UNITS], row_of_col[MAX_COLS];
    static double cost[MAX_COLS * MAX_UNITS];
    size_t first[MAX_ROWS + 1] = {0}, used = 0;
    const lap_problem *p = &in->problem;
    for (size_t i = 0; i < p->rows; i++)
        first[i + 1] = first[i] + in->capacity[i];
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

static void check_proof(const struct instance *in, double tolerance)
{
    const lap_problem *p = &in->problem;
    size_t load[MAX_ROWS] = {0};
    double total = 0.0, duals = 0.0;
    for (size_t j = 0; j < p->cols; j++) {
        size_t i = in->row_of_col[j];
        ck_assert_uint_lt(i, p->rows);
        load[i]++;
        double cost = cost_of_pair(p, j, i);
        total += cost;
        duals += in->col_dual[j];
        expect_equal(cost, in->col_dual[j] + in->row_dual[i], tolerance);
        for (size_t k = p->start[j]; k < p->start[j + 1]; k++)
            ck_assert_double_ge(p->cost[k] - in->col_dual[j] - in->row_dual[p->row[k]], -tolerance);
    }
    for (size_t i = 0; i < p->rows; i++) {
        ck_assert_uint_le(load[i], in->capacity[i]);
        ck_assert_double_le(in->row_dual[i], 0.0);
        ck_assert(load[i] == in->capacity[i] || in->row_dual[i] == 0.0);
        duals += (double)in->capacity[i] * in->row_dual[i];
    }
    expect_equal(in->solution.total, total, tolerance);
    expect_equal(duals, total, tolerance * (double)(p->cols + 1));
}

START_TEST(agrees_with_equal_rows)
{
    uint64_t solved = 0, infeasible = 0;
    double tolerance = _i == FRACTIONS ? 1e-9 : 0.0;
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(ROUNDS); k++, seed++) {
        struct instance *in = random_instance(_i, seed);
        double total;
        int expected = solve_units(in, &total);
        int rc = lap_transport(&in->problem, in->capacity, &in->solution);
        ck_assert_msg(rc == expected, "kind %d, seed %llu: %d instead of %d", _i,
                      (unsigned long long)seed, rc, expected);
        infeasible += rc == LAP_INFEASIBLE;
        if (rc != 0)
            continue;
        expect_equal(in->solution.total, total, tolerance * 1000);
        check_proof(in, tolerance);
        solved++;
    }
    ck_assert_uint_gt(solved, random_cases(ROUNDS) / 4);
    ck_assert_uint_gt(infeasible, 0);
}
END_TEST

/* Auctions end where all bids are equal. */
START_TEST(more_columns_than_bids_serve)
{
    struct instance *in = random_instance(EQUAL, 1);
    in->problem = (lap_problem){.rows = MAX_ROWS, .cols = MAX_COLS};
    point_at_arrays(in);
    for (size_t i = 0; i < MAX_ROWS; i++)
        in->capacity[i] = MAX_COLS / MAX_ROWS;
    for (size_t j = 0; j <= MAX_COLS; j++)
        in->start[j] = j * MAX_ROWS;
    for (size_t k = 0; k < (size_t)MAX_COLS * MAX_ROWS; k++) {
        in->row[k] = k % MAX_ROWS;
        in->cost[k] = (double)(k % MAX_ROWS);
    }
    ck_assert_int_eq(lap_transport(&in->problem, in->capacity, &in->solution), 0);
    check_proof(in, 0.0);
    ck_assert_double_eq(in->solution.total, 5.0 * 59 * 60 / 2);
}
END_TEST

START_TEST(infeasible_leaves_outputs)
{
    static struct instance before;
    struct instance *in = random_instance(UNIFORM, 10);
    for (size_t i = 0; i < in->problem.rows; i++)
        in->capacity[i] = 1;
    ck_assert_uint_gt(in->problem.cols, in->problem.rows);
    memcpy(&before, in, sizeof before);
    ck_assert_int_eq(lap_transport(&in->problem, in->capacity, &in->solution), LAP_INFEASIBLE);
    ck_assert_mem_eq(&before, in, sizeof before);
}
END_TEST

START_TEST(out_of_memory)
{
    static struct instance before;
    bool failed = true;
    for (long nth = 0; failed; nth++) {
        struct instance *in = random_instance(UNIFORM, 20);
        for (size_t i = 0; i < in->problem.rows; i++)
            in->capacity[i] = SIZE_MAX;
        memcpy(&before, in, sizeof before);
        fail_allocation(nth);
        int rc = lap_transport(&in->problem, in->capacity, &in->solution);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(allocations.live, 0);
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        ck_assert(!failed || memcmp(&before, in, sizeof before) == 0);
        ck_assert_int_lt(nth, 100);
    }
}
END_TEST

static Suite *transport_suite(void)
{
    Suite *suite = suite_create("transport");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, agrees_with_equal_rows, 0, KINDS);
    tcase_add_test(all, more_columns_than_bids_serve);
    tcase_add_test(all, infeasible_leaves_outputs);
    tcase_add_test(all, out_of_memory);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return run_suite(transport_suite());
}
