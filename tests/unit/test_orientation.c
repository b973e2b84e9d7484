/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignment problems with about as many rows as columns, where the costs of one side differ much
 * more in scale, so that a solver may let the larger side choose (orient.c). Results are proved by
 * their duals, and a problem and its transpose cost the same. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lap/lap.h"
#include "seeded.h"
#include "suite.h"

enum { MOST = 250 };

/* What the costs are multiplied by. */
enum weights { BY_COLUMN, BY_ROW, HEAVY_BY_COLUMN, HEAVY_BY_ROW, WEIGHTS };

struct shape {
    size_t rows, cols;
};

/* Short rows and lists; square, and up to one in 24 more on a side, and more than that. */
static const struct shape shapes[] = {{96, 96},   {96, 100},  {100, 96},  {150, 151}, {151, 150},
                                      {240, 240}, {240, 250}, {250, 240}, {100, 105}, {105, 100}};

static struct problem {
    lap_problem problem;
    lap_solution solution;
    double col_dual[MOST], row_dual[MOST];
    int64_t integer_col_dual[MOST], integer_row_dual[MOST];
    size_t row_of_col[MOST];
    double cost[MOST * MOST];
    int64_t integer_cost[MOST * MOST];
} one, turned;

static int64_t weight(enum weights weights, int64_t drawn)
{
    bool heavy = weights == HEAVY_BY_COLUMN || weights == HEAVY_BY_ROW;
    return heavy ? 100000 / (drawn * drawn) : drawn;
}

/* Hops between nodes of 16, or distances, or noise, by weights. Some are negative. */
static int64_t cost_of_pair(uint64_t kind, int64_t a, int64_t b, uint64_t *state)
{
    int64_t apart = a > b ? a - b : b - a;
    switch (kind % 3) {
    case 0: return a / 16 == b / 16 ? 0 : 2;
    case 1: return apart;
    default: return pick(state, -10, 90);
    }
}

static void set_arrays(struct problem *p, const struct shape *shape)
{
    memset(p, 0xa5, offsetof(struct problem, cost));
    p->problem = (lap_problem){.rows = shape->rows, .cols = shape->cols};
    p->solution = (lap_solution){.row_of_col = p->row_of_col,
                                 .col_dual = p->col_dual,
                                 .row_dual = p->row_dual,
                                 .integer_col_dual = p->integer_col_dual,
                                 .integer_row_dual = p->integer_row_dual};
}

static void set_cost(struct problem *p, size_t row, size_t col, int64_t cost)
{
    size_t k = col * p->problem.rows + row;
    p->cost[k] = cost < LAP_FORBIDDEN ? (double)cost : INFINITY;
    p->integer_cost[k] = cost;
}

/* `one`, and `turned`, whose rows are the columns of `one`. */
static void draw_problems(enum weights weights, const struct shape *shape, uint64_t seed)
{
    int64_t of_row[MOST], of_col[MOST], weight_of[MOST];
    uint64_t state = seed;
    bool by_column = weights == BY_COLUMN || weights == HEAVY_BY_COLUMN;
    set_arrays(&one, shape);
    set_arrays(&turned, &(struct shape){shape->cols, shape->rows});
    for (size_t k = 0; k < MOST; k++) {
        of_row[k] = pick(&state, 0, MOST - 1);
        of_col[k] = pick(&state, 0, MOST - 1);
        weight_of[k] = weight(weights, pick(&state, 1, 100));
    }
    for (size_t j = 0; j < shape->cols; j++) {
        for (size_t i = 0; i < shape->rows; i++) {
            int64_t cost = cost_of_pair(seed, of_row[i], of_col[j], &state);
            cost *= weight_of[by_column ? j : i];
            set_cost(&one, i, j, cost);
            set_cost(&turned, j, i, cost);
        }
    }
}

static void choose_form(struct problem *p, bool integer)
{
    p->problem.cost = integer ? NULL : p->cost;
    p->problem.integer_cost = integer ? p->integer_cost : NULL;
}

static size_t count_assigned(const struct problem *p)
{
    size_t count = 0;
    for (size_t j = 0; j < p->problem.cols; j++)
        count += p->row_of_col[j] != LAP_UNASSIGNED;
    return count;
}

static double prove(const lap_solver *solver, struct problem *p, bool integer)
{
    choose_form(p, integer);
    ck_assert_int_eq(solver->solve(&p->problem, &p->solution), 0);
    ck_assert_msg(lap_verify(&p->problem, &p->solution, 0.0) == 0,
                  "%s, %zu rows, %zu columns, integer %d: no proof", solver->name, p->problem.rows,
                  p->problem.cols, integer);
    size_t fewer = p->problem.rows < p->problem.cols ? p->problem.rows : p->problem.cols;
    ck_assert_uint_eq(count_assigned(p), fewer);
    return p->solution.total;
}

static void prove_both_ways(void)
{
    double total = prove(lap_solvers, &one, false);
    for (const lap_solver *solver = lap_solvers; solver->name != NULL; solver++)
        for (int integer = 0; integer < 2; integer++) {
            ck_assert(prove(solver, &one, integer) == total);
            ck_assert(prove(solver, &turned, integer) == total);
        }
}

START_TEST(both_ways)
{
    for (uint64_t seed = 1; seed <= random_cases(3); seed++) {
        draw_problems((enum weights)(_i % WEIGHTS), &shapes[_i / WEIGHTS], seed);
        prove_both_ways();
    }
}
END_TEST

/* Costs that are not integers: rounding makes no dual of an unassigned row or column positive. */
START_TEST(real_costs)
{
    for (uint64_t seed = 1; seed <= random_cases(3); seed++) {
        draw_problems((enum weights)(_i % WEIGHTS), &shapes[_i / WEIGHTS], seed);
        for (size_t k = 0; k < one.problem.rows * one.problem.cols; k++)
            one.cost[k] *= 0.1;
        choose_form(&one, false);
        for (const lap_solver *solver = lap_solvers; solver->name != NULL; solver++) {
            ck_assert_int_eq(solver->solve(&one.problem, &one.solution), 0);
            ck_assert_int_eq(lap_verify(&one.problem, &one.solution, 1e-6), 0);
            for (size_t i = 0; one.problem.rows > one.problem.cols && i < one.problem.rows; i++)
                ck_assert(one.row_dual[i] <= 0.0);
            for (size_t j = 0; one.problem.cols > one.problem.rows && j < one.problem.cols; j++)
                ck_assert(one.col_dual[j] <= 0.0);
        }
    }
}
END_TEST

/* Pairs outside the sample are forbidden, or all pairs of a row or column. */
START_TEST(forbidden_pairs)
{
    const struct shape *shape = &shapes[_i / WEIGHTS];
    draw_problems((enum weights)(_i % WEIGHTS), shape, 1);
    for (size_t k = 1; k < shape->rows && k < shape->cols; k += 6) {
        set_cost(&one, k, k, LAP_FORBIDDEN);
        set_cost(&turned, k, k, LAP_FORBIDDEN);
    }
    prove_both_ways();
    for (size_t i = 0; i < shape->rows; i++) {
        set_cost(&one, i, 1, LAP_FORBIDDEN);
        set_cost(&turned, 1, i, LAP_FORBIDDEN);
    }
    for (const lap_solver *solver = lap_solvers; solver->name != NULL; solver++) {
        int expected = shape->cols > shape->rows ? 0 : LAP_INFEASIBLE;
        choose_form(&one, true);
        choose_form(&turned, false);
        ck_assert_int_eq(solver->solve(&one.problem, &one.solution), expected);
        ck_assert_int_eq(solver->solve(&turned.problem, &turned.solution), expected);
    }
}
END_TEST

/* A cost outside the sample that no solver accepts. */
START_TEST(bad_costs)
{
    draw_problems(BY_COLUMN, &(struct shape){96, 100}, 1);
    choose_form(&one, false);
    one.cost[98] = NAN;
    for (const lap_solver *solver = lap_solvers; solver->name != NULL; solver++)
        ck_assert_int_eq(solver->solve(&one.problem, &one.solution), -EDOM);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("orientation");
    TCase *cases = tcase_create("orientation");
    int count = WEIGHTS * (int)(sizeof shapes / sizeof shapes[0]);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, both_ways, 0, count);
    tcase_add_loop_test(cases, real_costs, 0, count);
    tcase_add_loop_test(cases, forbidden_pairs, 0, count);
    tcase_add_test(cases, bad_costs);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
