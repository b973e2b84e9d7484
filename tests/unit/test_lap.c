/* SPDX-License-Identifier: BSD-3-Clause */
/* What the assignment solvers accept and refuse. Their answers: test_structures.c. */
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

enum { MAX_ROWS = 4, MAX_COLS = 3, MAX_PAIRS = MAX_ROWS * MAX_COLS };

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

/* _i is the number of a solver */

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
    ck_assert_ptr_nonnull(lap_solvers[_i].note);
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
    in->problem.integer_cost = in->integer_cost;
    expect_refusal(_i, in, -EINVAL, "both kinds of cost");
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
    return run_tests("lap", TIMES(nothing_to_assign, solvers),
                     TIMES(duals_may_be_left_out, solvers), TIMES(bad_arguments, solvers));
}
