/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment solvers on problems that are solved by hand, and what they refuse. Random
 * problems: test_structures.c. */
#include "lap/lap.h"

#include <check.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proof.h"
#include "suite.h"

enum { MAX_ROWS = 100, MAX_COLS = 100, MAX_PAIRS = MAX_ROWS * MAX_COLS };

/* A problem and its solution, with their arrays. */
struct instance {
    lap_problem problem;
    lap_solution solution;
    double cost[MAX_PAIRS];
    int64_t integer_cost[MAX_PAIRS];
    size_t start[MAX_COLS + 1], row[MAX_PAIRS];
    size_t row_of_col[MAX_COLS];
    double col_dual[MAX_COLS], row_dual[MAX_ROWS];
    int64_t integer_col_dual[MAX_COLS], integer_row_dual[MAX_ROWS];
};

static struct instance one;

static struct instance *new_instance(size_t rows, size_t cols)
{
    struct instance *in = &one;
    memset(in, 0xa5, sizeof *in);
    in->problem = (lap_problem){.rows = rows, .cols = cols, .cost = in->cost};
    in->solution = (lap_solution){.row_of_col = in->row_of_col,
                                  .col_dual = in->col_dual,
                                  .row_dual = in->row_dual,
                                  .integer_col_dual = in->integer_col_dual,
                                  .integer_row_dual = in->integer_row_dual,
                                  .total = -1.0,
                                  .integer_total = -1};
    return in;
}

static void expect_rc(int solver, struct instance *in, int expected)
{
    ck_assert_int_eq(lap_solvers[solver].solve(&in->problem, &in->solution), expected);
}

static void expect_proof(int solver, struct instance *in)
{
    expect_rc(solver, in, 0);
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
}

/* ---- problems by hand; _i is the number of a solver ---- */

/* More columns compete for rows than there are: no prices resolve that. */
START_TEST(too_few_allowed_rows)
{
    struct instance *in = new_instance(100, 60);
    for (size_t k = 0; k < 6000; k++)
        in->cost[k] = k % 100 < 59 ? (double)(k % 7) : INFINITY;
    expect_rc(_i, in, LAP_INFEASIBLE);
}
END_TEST

/* These totals are equal as doubles. */
START_TEST(integers_beyond_doubles)
{
    const int64_t big = INT64_C(1) << 55;
    const int64_t cost[] = {big + 1, big, big + 2, big, big, big + 1, big, big + 1, big};
    struct instance *in = new_instance(3, 3);
    memcpy(in->integer_cost, cost, sizeof cost);
    in->problem.cost = NULL;
    in->problem.integer_cost = in->integer_cost;
    expect_proof(_i, in);
    ck_assert_int_eq(in->solution.integer_total, 3 * big);
}
END_TEST

/* The largest accepted costs are solved without overflow. Only two rows are cheap. */
START_TEST(largest_costs)
{
    const double limit = DBL_MAX / 32.0 / 6.0;
    struct instance *in = new_instance(6, 5);
    for (size_t k = 0; k < 30; k++)
        in->cost[k] = k % 6 < 2 ? -limit : limit;
    expect_rc(_i, in, 0);
    ck_assert_double_eq_tol(in->solution.total / limit, 1.0, 1e-9);
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, limit * 1e-12), 0);
}
END_TEST

START_TEST(nothing_to_assign)
{
    for (size_t rows = 0; rows < 3; rows++) {
        struct instance *in = new_instance(rows, 0);
        in->problem.cost = NULL;
        in->solution.row_of_col = NULL;
        in->solution.col_dual = NULL;
        expect_proof(_i, in);
        ck_assert_double_eq(in->solution.total, 0.0);
    }
}
END_TEST

START_TEST(ties_prefer_the_lower_row)
{
    const double cost[] = {4, 2, 3, 2, 2};
    struct instance *in = new_instance(5, 1);
    memcpy(in->cost, cost, sizeof cost);
    expect_proof(_i, in);
    ck_assert_uint_eq(in->row_of_col[0], 1);
}
END_TEST

/* All pairs of a plain problem, dense. */
static struct instance *plain_instance(void)
{
    struct instance *in = new_instance(4, 3);
    for (size_t k = 0; k < 12; k++)
        in->cost[k] = (double)(k % 5);
    return in;
}

/* The same pairs as a list. */
static struct instance *listed_instance(void)
{
    struct instance *in = plain_instance();
    for (size_t k = 0; k < 12; k++)
        in->row[k] = k % 4;
    for (size_t j = 0; j <= 3; j++)
        in->start[j] = j * 4;
    in->problem.start = in->start;
    in->problem.row = in->row;
    return in;
}

START_TEST(duals_may_be_left_out)
{
    struct instance *in = plain_instance();
    expect_proof(_i, in);
    lap_solution bare = {.row_of_col = in->row_of_col};
    ck_assert_int_eq(lap_solvers[_i].solve(&in->problem, &bare), 0);
    ck_assert_double_eq(bare.total, in->solution.total);
}
END_TEST

START_TEST(solvers_are_explained)
{
    ck_assert_ptr_nonnull(lap_solvers[_i].note);
    ck_assert_str_eq(lap_solvers[0].name, "jv");
}
END_TEST

/* ---- refusals ---- */

static void expect_refusal(int solver, struct instance *in, int expected, const char *why)
{
    static struct instance before;
    memcpy(&before, in, sizeof before);
    int rc = lap_solvers[solver].solve(&in->problem, &in->solution);
    ck_assert_msg(rc == expected, "%s: %d", why, rc);
    ck_assert_msg(memcmp(&before, in, sizeof before) == 0, "%s: something is written", why);
}

START_TEST(bad_costs)
{
    const struct {
        const char *name;
        double cost;
        int expected;
    } cases[] = {
        {"NAN", NAN, -EDOM},
        {"-INFINITY", -INFINITY, -EDOM},
        {"the largest", DBL_MAX, -ERANGE},
        {"the least", -DBL_MAX, -ERANGE},
        {"large", DBL_MAX / 3, -ERANGE},
        {"just too large", -DBL_MAX / 32 / 4 * 1.01, -ERANGE},
    };
    for (size_t c = 0; c < LENGTH(cases); c++) {
        for (size_t place = 0; place < 12; place++) {
            struct instance *in = plain_instance();
            in->cost[place] = cases[c].cost;
            expect_refusal(_i, in, cases[c].expected, cases[c].name);
        }
    }
}
END_TEST

START_TEST(bad_integers)
{
    const int64_t limit = INT64_MAX / 32 / 4;
    const int64_t wrong[] = {INT64_MIN, limit + 1, -limit - 1, LAP_FORBIDDEN - 1};
    for (size_t c = 0; c < 4; c++) {
        struct instance *in = plain_instance();
        for (size_t k = 0; k < 12; k++)
            in->integer_cost[k] = (int64_t)in->cost[k];
        in->problem.integer_cost = in->integer_cost;
        expect_refusal(_i, in, -EINVAL, "both kinds of cost");
        in->problem.cost = NULL;
        in->integer_cost[c] = wrong[c];
        expect_refusal(_i, in, -ERANGE, "an integer out of range");
        in->integer_cost[c] = c % 2 ? limit : -limit;
        expect_proof(_i, in);
    }
}
END_TEST

/* Numbers of listed_instance that make it malformed. */
static const struct {
    size_t *number, wrong;
    const char *why;
} bad_numbers[] = {
    {&one.row[3], 4, "a row out of range"},
    {&one.row[1], 0, "a row twice"},
    {&one.start[0], 1, "a list that does not begin at 0"},
    {&one.start[1], 9, "an end beyond the next one"},
};

START_TEST(bad_arguments)
{
    struct instance *in = plain_instance();
    ck_assert_int_eq(lap_solvers[_i].solve(NULL, &in->solution), -EINVAL);
    ck_assert_int_eq(lap_solvers[_i].solve(&in->problem, NULL), -EINVAL);
    in->problem.cost = NULL;
    expect_refusal(_i, in, -EINVAL, "no costs");
    in = plain_instance();
    in->solution.row_of_col = NULL;
    expect_refusal(_i, in, -EINVAL, "no rows to write");
    in = plain_instance();
    in->problem.rows = in->problem.cols = SIZE_MAX / 2;
    expect_refusal(_i, in, -EINVAL, "too many pairs");
    for (size_t k = 0; k < LENGTH(bad_numbers); k++) {
        in = listed_instance();
        *bad_numbers[k].number = bad_numbers[k].wrong;
        expect_refusal(_i, in, -EINVAL, bad_numbers[k].why);
    }
    in = listed_instance();
    in->problem.row = NULL;
    expect_refusal(_i, in, -EINVAL, "a list without rows");
    in = listed_instance();
    in->problem.cost = NULL;
    expect_refusal(_i, in, -EINVAL, "a list without costs");
    in = listed_instance();
    in->problem.start = NULL;
    expect_refusal(_i, in, -EINVAL, "rows without a list");
}
END_TEST

int main(void)
{
    size_t solvers = 0;
    while (lap_solvers[solvers].name != NULL)
        solvers++;
    return run_tests("lap", TIMES(too_few_allowed_rows, solvers),
                     TIMES(integers_beyond_doubles, solvers), TIMES(largest_costs, solvers),
                     TIMES(nothing_to_assign, solvers), TIMES(ties_prefer_the_lower_row, solvers),
                     TIMES(duals_may_be_left_out, solvers), TIMES(solvers_are_explained, solvers),
                     TIMES(bad_costs, solvers), TIMES(bad_integers, solvers),
                     TIMES(bad_arguments, solvers));
}
