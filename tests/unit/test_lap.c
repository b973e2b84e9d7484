/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit and property tests of the assignment solvers: every solver of the table against brute force,
 * and larger problems against the solver's own duals. */
#include "lap/lap.h"

#include <check.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MAX_ROWS = 300, MAX_COLS = 120, MAX_PAIRS = MAX_ROWS * MAX_COLS, MAX_GROUPS = 40 };

/* The sides of a problem with many rows and few columns, or vice versa. */
enum { MANY = 3000, FEW = 10 };

/* A problem and its solution, with their arrays. */
struct instance {
    lap_problem problem;
    lap_solution solution;
    double cost[MAX_PAIRS];
    size_t group[MANY];
    size_t row_of_col[MANY];
    double col_dual[MANY], row_dual[MANY], group_dual[MAX_GROUPS];
    int64_t integer_cost[MAX_PAIRS];
    int64_t integer_col_dual[MANY], integer_row_dual[MANY], integer_group_dual[MAX_GROUPS];
    size_t start[MANY + 1], row[MAX_PAIRS];
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
                                  .group_dual = in->group_dual,
                                  .integer_col_dual = in->integer_col_dual,
                                  .integer_row_dual = in->integer_row_dual,
                                  .integer_group_dual = in->integer_group_dual,
                                  .total = -1.0,
                                  .integer_total = -1};
    return in;
}

static void use_groups(struct instance *in, size_t groups, size_t capacity)
{
    in->problem.group = in->group;
    in->problem.groups = groups;
    in->problem.group_capacity = capacity;
}

static const lap_solver *solver_number(int i)
{
    return &lap_solvers[i];
}

static int count_solvers(void)
{
    int count = 0;
    while (lap_solvers[count].name != NULL)
        count++;
    return count;
}

/* ---- brute force ---- */

struct search {
    const lap_problem *problem;
    int taken[8];
    size_t load[8];
    double least; /* INFINITY: nothing feasible */
};

static void try_column(struct search *s, size_t col, double so_far)
{
    const lap_problem *p = s->problem;
    if (col == p->cols) {
        s->least = so_far < s->least ? so_far : s->least;
        return;
    }
    for (size_t i = 0; i < p->rows; i++) {
        double cost = p->cost[col * p->rows + i];
        size_t g = p->group != NULL ? p->group[i] : 0;
        int full = p->group != NULL && p->group_capacity > 0 && s->load[g] == p->group_capacity;
        if (s->taken[i] || full || isinf(cost))
            continue;
        s->taken[i] = 1;
        s->load[g]++;
        try_column(s, col + 1, so_far + cost);
        s->load[g]--;
        s->taken[i] = 0;
    }
}

static double brute_force(const lap_problem *problem)
{
    struct search s = {.problem = problem, .least = INFINITY};
    try_column(&s, 0, 0.0);
    return s.least;
}

struct kind {
    const char *name;
    int64_t low, high;
    int forbidden_of_ten; /* share of +INFINITY */
    int grouped;
};

static const struct kind kinds[] = {
    {"ties", 0, 2, 0, 0},
    {"all equal", 3, 3, 0, 0},
    {"negative", -5, 5, 0, 0},
    {"wide", -1000000, 1000000, 0, 0},
    {"forbidden", 0, 9, 4, 0},
    {"mostly forbidden", -3, 3, 7, 0},
    {"groups, ties", 0, 2, 0, 1},
    {"groups, all equal", 1, 1, 0, 1},
    {"groups, wide", -1000, 1000, 0, 1},
    {"groups, forbidden", 0, 9, 3, 1},
    {"groups, mostly forbidden", -3, 3, 7, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], ROUNDS = 3000 };

static void fill_costs(struct instance *in, const struct kind *kind, uint64_t *state)
{
    for (size_t k = 0; k < in->problem.rows * in->problem.cols; k++) {
        int forbidden = pick(state, 0, 9) < kind->forbidden_of_ten;
        double cost = (double)pick(state, kind->low, kind->high);
        in->cost[k] = forbidden ? INFINITY : cost;
    }
}

static struct instance *small_instance(const struct kind *kind, uint64_t seed)
{
    uint64_t state = seed;
    size_t cols = (size_t)pick(&state, 1, 5);
    size_t rows = (size_t)pick(&state, (int64_t)cols, 6);
    struct instance *in = new_instance(rows, cols);
    fill_costs(in, kind, &state);
    if (kind->grouped) {
        size_t groups = (size_t)pick(&state, 1, 5);
        use_groups(in, groups, (size_t)pick(&state, 0, 3));
        for (size_t i = 0; i < rows; i++)
            in->group[i] = (size_t)pick(&state, 0, (int64_t)groups - 1);
    }
    return in;
}

static void compare_with_brute_force(const lap_solver *solver, const struct kind *kind,
                                     uint64_t seed)
{
    struct instance *in = small_instance(kind, seed);
    double least = brute_force(&in->problem);
    int rc = solver->solve(&in->problem, &in->solution);
    if (isinf(least)) {
        ck_assert_msg(rc == LAP_INFEASIBLE, "%s, %s, seed %llu: %d for an infeasible problem",
                      solver->name, kind->name, (unsigned long long)seed, rc);
        ck_assert(in->solution.total == -1.0);
        return;
    }
    ck_assert_msg(rc == 0 && in->solution.total == least,
                  "%s, %s, seed %llu: returned %d, total %g where %g is least", solver->name,
                  kind->name, (unsigned long long)seed, rc, in->solution.total, least);
    ck_assert_msg(lap_verify(&in->problem, &in->solution, 0.0) == 0, "%s, %s, seed %llu: no proof",
                  solver->name, kind->name, (unsigned long long)seed);
}

START_TEST(agrees_with_brute_force)
{
    for (int s = 0; s < count_solvers(); s++)
        for (uint64_t seed = 1; seed <= random_cases(ROUNDS); seed++)
            compare_with_brute_force(solver_number(s), &kinds[_i], seed);
}
END_TEST

/* ---- larger problems, proved by their duals ---- */

struct size {
    size_t rows, cols, groups, capacity;
    int64_t low, high;
    int forbidden_of_ten;
};

static const struct size sizes[] = {
    {200, 60, 0, 0, 0, 1000000, 0},   {200, 60, 0, 0, 0, 3, 0},
    {120, 120, 0, 0, 0, 100000, 0},   {120, 120, 0, 0, 0, 5, 0},
    {120, 119, 0, 0, -50, 50, 2},     {64, 64, 0, 0, 0, 9, 0},
    {65, 30, 0, 0, 0, 9, 1},          {200, 60, 20, 3, 0, 1000000, 0},
    {200, 60, 20, 3, 0, 3, 0},        {200, 60, 20, 4, -100, 100, 1},
    {200, 20, 20, 1, 0, 1000, 0},     {200, 20, 20, 1, 0, 1, 0},
    {300, 40, 40, 1, 0, 30, 0},       {128, 120, 16, 8, 0, 30, 0},
    {300, 100, 40, 0, 0, 1000, 0},    {300, 80, 40, 5, 0, 1000, 3},
    {MANY, FEW, 0, 0, 0, 1000000, 0}, {MANY, FEW, 0, 0, 0, 3, 0},
    {MANY, FEW, 0, 0, -9, 9, 9},      {MANY - 33, FEW, 0, 0, 4, 4, 0},
    {MANY, FEW, 30, 2, 0, 1000, 0},   {MANY, FEW, 30, FEW, 0, 1000, 0},
    {256, 1, 0, 0, 0, 1000, 0},
};
enum { SIZES = sizeof sizes / sizeof sizes[0], GROUPED_SIZE = 7, LONG_SIZE = 18 };

/* With `clustered` costs the rows of a group cost nearly the same, as ranks of a node do. */
static struct instance *large_instance(const struct size *size, uint64_t seed, int clustered)
{
    uint64_t state = seed;
    struct kind kind = {"large", size->low, size->high, size->forbidden_of_ten, 0};
    struct instance *in = new_instance(size->rows, size->cols);
    fill_costs(in, &kind, &state);
    if (size->groups > 0) {
        use_groups(in, size->groups, size->capacity);
        for (size_t i = 0; i < size->rows; i++)
            in->group[i] = clustered ? i * size->groups / size->rows : i % size->groups;
    }
    for (size_t k = 0; clustered && size->groups > 0 && k < size->rows * size->cols; k++) {
        size_t i = k % size->rows, first = k - i;
        while (i > 0 && in->group[i - 1] == in->group[k % size->rows])
            i--;
        in->cost[k] = in->cost[first + i] - (double)pick(&state, 0, 1);
    }
    return in;
}

static void prove(const lap_solver *solver, uint64_t seed, int clustered, int size)
{
    struct instance *in = large_instance(&sizes[size], seed, clustered);
    int rc = solver->solve(&in->problem, &in->solution);
    ck_assert_msg(rc == 0, "%s, size %d, seed %llu: %d", solver->name, size,
                  (unsigned long long)seed, rc);
    ck_assert_msg(lap_verify(&in->problem, &in->solution, 0.0) == 0,
                  "%s, size %d, seed %llu: no proof", solver->name, size, (unsigned long long)seed);
}

START_TEST(duals_prove_large)
{
    for (int s = 0; s < count_solvers(); s++) {
        for (uint64_t seed = 1; seed <= random_cases(20); seed++) {
            prove(solver_number(s), seed, 0, _i);
            prove(solver_number(s), seed, 1, _i);
        }
    }
}
END_TEST

/* Random shapes with tight capacities. LAP_INFEASIBLE is accepted without proof: brute force
 * verifies it elsewhere. */
static struct instance *medium_instance(uint64_t seed)
{
    uint64_t state = seed;
    struct kind kind = {"medium", 0, 1, (int)pick(&state, 0, 4), 1};
    size_t rows = (size_t)pick(&state, 5, 40), groups = (size_t)pick(&state, 1, 8);
    struct instance *in =
        new_instance(rows, (size_t)pick(&state, (int64_t)rows / 2, (int64_t)rows));
    kind.high = pick(&state, 0, 1) ? 20 : 1000;
    fill_costs(in, &kind, &state);
    use_groups(in, groups, in->problem.cols / groups + (size_t)pick(&state, 0, 2));
    for (size_t i = 0; i < rows; i++)
        in->group[i] = (size_t)pick(&state, 0, (int64_t)groups - 1);
    return in;
}

START_TEST(duals_prove_medium)
{
    int solved = 0;
    for (int s = 0; s < count_solvers(); s++) {
        for (uint64_t seed = 1; seed <= random_cases(ROUNDS); seed++) {
            struct instance *in = medium_instance(seed);
            int rc = solver_number(s)->solve(&in->problem, &in->solution);
            solved += rc == 0;
            ck_assert_msg(rc == LAP_INFEASIBLE || lap_verify(&in->problem, &in->solution, 0.0) == 0,
                          "%s, seed %llu: no proof", solver_number(s)->name,
                          (unsigned long long)seed);
        }
        ck_assert_uint_gt((uint64_t)solved, random_cases(ROUNDS) / 3);
    }
}
END_TEST

START_TEST(duals_prove_fractions)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = large_instance(&sizes[_i], 7, 0);
        for (size_t k = 0; k < in->problem.rows * in->problem.cols; k++) {
            in->cost[k] =
                isinf(in->cost[k]) ? INFINITY : in->cost[k] / 7.0 + 1.0 / ((double)k + 3.0);
        }
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 1e-8), 0);
    }
}
END_TEST

/* The costs i * j are known to be slow for shortest augmenting paths. */
START_TEST(products)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(100, 100);
        double expected = 0.0;
        for (size_t k = 0; k < 10000; k++)
            in->cost[k] = (double)((k / 100 + 1) * (k % 100 + 1));
        for (int k = 1; k <= 100; k++)
            expected += (double)k * (101 - k);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_double_eq(in->solution.total, expected);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    }
}
END_TEST

START_TEST(answers_are_repeated)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = large_instance(&sizes[_i], 11, 0);
        size_t first[MAX_COLS];
        double dual[MANY];
        size_t bytes = in->problem.cols * sizeof first[0];
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        memcpy(first, in->row_of_col, bytes);
        memcpy(dual, in->row_dual, in->problem.rows * sizeof dual[0]);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(memcmp(first, in->row_of_col, bytes), 0);
        ck_assert_int_eq(memcmp(dual, in->row_dual, in->problem.rows * sizeof dual[0]), 0);
    }
}
END_TEST

/* ---- other forms of a problem: integers, lists of pairs, more columns than rows ---- */

static void use_integers(struct instance *in)
{
    size_t pairs = in->problem.start != NULL ? in->start[in->problem.cols]
                                             : in->problem.rows * in->problem.cols;
    for (size_t k = 0; k < pairs; k++)
        in->integer_cost[k] = isinf(in->cost[k]) ? LAP_FORBIDDEN : (int64_t)in->cost[k];
    in->problem.cost = NULL;
    in->problem.integer_cost = in->integer_cost;
}

static void use_list(struct instance *in)
{
    size_t used = 0;
    for (size_t j = 0; j < in->problem.cols; j++) {
        in->start[j] = used;
        for (size_t i = 0; i < in->problem.rows; i++) {
            double cost = in->cost[j * in->problem.rows + i];
            if (!isinf(cost)) {
                in->cost[used] = cost;
                in->row[used++] = i;
            }
        }
    }
    in->start[in->problem.cols] = used;
    in->problem.start = in->start;
    in->problem.row = in->row;
}

/* More columns than rows; without groups. */
static void swap_sides(struct instance *in)
{
    size_t rows = in->problem.cols, twice = rows > MAX_COLS / 2 ? MAX_COLS : 2 * rows;
    size_t filled = in->problem.rows;
    in->problem.group = NULL;
    in->problem.cols = filled > MAX_ROWS || filled < twice ? filled : twice;
    in->problem.rows = rows;
}

static void choose_form(struct instance *in, int form)
{
    if (form & 4)
        swap_sides(in);
    if (form & 1)
        use_list(in);
    if (form & 2)
        use_integers(in);
}
enum { FORMS = 8 };

START_TEST(forms_agree)
{
    for (int form = 0; form < FORMS; form++) {
        double total = 0.0;
        for (int s = 0; s < count_solvers(); s++) {
            struct instance *in = large_instance(&sizes[_i], 13, 0);
            choose_form(in, form);
            ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
            ck_assert_msg(lap_verify(&in->problem, &in->solution, 0.0) == 0,
                          "%s, size %d, form %d: no proof", solver_number(s)->name, _i, form);
            total = s == 0 ? in->solution.total : total;
            ck_assert_double_eq(in->solution.total, total);
        }
    }
}
END_TEST

/* Runs of rows with equal pairs, as ranks of a node have that access nothing; shorter runs beside
 * them. */
static struct instance *alike_instance(uint64_t seed, int fractions)
{
    uint64_t state = seed;
    struct kind kind = {"alike", 0, pick(&state, 0, 1) ? 5 : 1000, (int)pick(&state, 0, 6), 0};
    size_t cols = (size_t)pick(&state, 1, 40);
    struct instance *in = new_instance(cols + (size_t)pick(&state, 1, 8), cols);
    size_t rows = in->problem.rows;
    int64_t longest = pick(&state, 1, 9);
    fill_costs(in, &kind, &state);
    for (size_t k = 0; k < rows * cols && fractions; k++)
        in->cost[k] /= 7.0;
    for (size_t i = 0; i < rows;) {
        size_t end = i + (size_t)pick(&state, 1, longest);
        for (size_t k = i + 1; k < end && k < rows; k++)
            for (size_t j = 0; j < cols; j++)
                in->cost[j * rows + k] = in->cost[j * rows + i];
        i = end;
    }
    use_list(in);
    return in;
}

START_TEST(rows_that_are_alike)
{
    int solved = 0;
    for (uint64_t seed = 1; seed <= random_cases(ROUNDS); seed++) {
        double total = 0.0;
        int fractions = seed % 3 == 0, first = 0;
        for (int s = 0; s < count_solvers(); s++) {
            struct instance *in = alike_instance(seed, fractions);
            int rc = solver_number(s)->solve(&in->problem, &in->solution);
            first = s == 0 ? rc : first;
            ck_assert_int_eq(rc, first);
            if (rc == LAP_INFEASIBLE)
                continue;
            total = s == 0 ? in->solution.total : total;
            ck_assert_msg(lap_verify(&in->problem, &in->solution, fractions ? 1e-9 : 0.0) == 0,
                          "%s, seed %llu: no proof", solver_number(s)->name,
                          (unsigned long long)seed);
            ck_assert_double_eq_tol(in->solution.total, total, 1e-9);
            solved++;
        }
    }
    ck_assert_uint_gt((uint64_t)solved, random_cases(ROUNDS));
}
END_TEST

/* Half of them 1, some up to 2^39. */
static double heavy_tail(uint64_t *state)
{
    const int64_t heaviest = (int64_t)1 << 39;
    int64_t bits = pick(state, 0, 39), number = pick(state, 1, (int64_t)1 << bits);
    return (double)(pick(state, 0, 1) ? 1 : heaviest / number);
}

START_TEST(heavy_tails)
{
    for (int form = 0; form < 4; form++) {
        for (int s = 0; s < count_solvers(); s++) {
            uint64_t state = (uint64_t)_i + 1;
            struct instance *in = new_instance(MAX_COLS, MAX_COLS - (size_t)_i % 2);
            for (size_t k = 0; k < in->problem.rows * in->problem.cols; k++)
                in->cost[k] = pick(&state, 0, 9) < _i ? INFINITY : heavy_tail(&state);
            choose_form(in, form);
            int rc = solver_number(s)->solve(&in->problem, &in->solution);
            ck_assert_msg(rc == 0 && lap_verify(&in->problem, &in->solution, 0.0) == 0,
                          "%s, form %d: %d or no proof", solver_number(s)->name, form, rc);
        }
    }
}
END_TEST

/* |a - b|: rows are read again and again, and many paths are equally long. */
START_TEST(differences)
{
    for (int form = 0; form < 4; form++) {
        for (int s = 0; s < count_solvers(); s++) {
            uint64_t state = (uint64_t)_i + 1;
            int64_t of_row[MAX_COLS];
            struct instance *in = new_instance(MAX_COLS, MAX_COLS - 10 * (size_t)(_i % 2));
            for (size_t i = 0; i < MAX_COLS; i++)
                of_row[i] = pick(&state, 0, 1000 * _i);
            for (size_t j = 0; j < in->problem.cols; j++) {
                int64_t of_col = pick(&state, 0, 1000 * _i);
                for (size_t i = 0; i < MAX_COLS; i++)
                    in->cost[j * MAX_COLS + i] = fabs((double)(of_row[i] - of_col));
            }
            if (_i > 2) {
                use_groups(in, 12, 10);
                for (size_t i = 0; i < MAX_COLS; i++)
                    in->group[i] = i % 12;
            }
            choose_form(in, form);
            ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
            ck_assert_msg(lap_verify(&in->problem, &in->solution, 0.0) == 0,
                          "%s, form %d: no proof", solver_number(s)->name, form);
        }
    }
}
END_TEST

/* With few columns only a few rows of each matter, wherever they are. */
static double far_cost(size_t shape, size_t row, size_t col)
{
    size_t mixed = (row * 7919 + col * 104729) % 65537;
    switch (shape) {
    case 0: return (double)row;
    case 1: return (double)(MANY - row);
    case 2: return row >= MANY - FEW ? (double)(mixed % 50) : 100.0;
    case 3: return row % 1000 == 0 ? (double)mixed : INFINITY;
    default: return row / 5 == 100 ? 1.0 : (double)(2 + mixed % 3);
    }
}

START_TEST(many_more_rows_than_columns)
{
    size_t columns = _i == 3 ? 3 : FEW; /* 3 rows are allowed */
    double total = 0.0;
    for (int s = 0; s < 2 * count_solvers(); s++) {
        struct instance *in = new_instance(MANY, columns);
        for (size_t k = 0; k < MANY * columns; k++)
            in->cost[k] = far_cost((size_t)_i, k % MANY, k / MANY);
        if (s >= count_solvers())
            use_list(in);
        ck_assert_int_eq(solver_number(s % count_solvers())->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
        total = s == 0 ? in->solution.total : total;
        ck_assert_double_eq(in->solution.total, total);
    }
}
END_TEST
enum { FAR_SHAPES = 5 };

START_TEST(many_rows_and_too_few_allowed)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(MANY, 4);
        for (size_t k = 0; k < MANY * 4; k++)
            in->cost[k] = far_cost(3, k % MANY, k / MANY);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), LAP_INFEASIBLE);
    }
}
END_TEST

/* By hand: row 0 with column 2 and row 1 with column 0, at 1 + 2; column 1 is unassigned. */
START_TEST(more_columns_than_rows)
{
    const double cost[] = {4, 2, 5, 9, 1, 3};
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(2, 3);
        memcpy(in->cost, cost, sizeof cost);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_uint_eq(in->row_of_col[0], 1);
        ck_assert_uint_eq(in->row_of_col[1], LAP_UNASSIGNED);
        ck_assert_uint_eq(in->row_of_col[2], 0);
        ck_assert_double_eq(in->solution.total, 3.0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    }
}
END_TEST

/* Every row must get a column, so a group with more rows than its capacity is infeasible. */
START_TEST(more_columns_than_a_group_takes)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(3, 5);
        memset(in->cost, 0, sizeof in->cost);
        memset(in->group, 0, sizeof in->group);
        use_groups(in, 1, 2);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), LAP_INFEASIBLE);
        in->problem.group_capacity = 3;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    }
}
END_TEST

/* These totals are equal as doubles. */
START_TEST(integers_beyond_doubles)
{
    const int64_t big = INT64_C(1) << 55;
    const int64_t cost[] = {big + 1, big, big + 2, big, big, big + 1, big, big + 1, big};
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(3, 3);
        memcpy(in->integer_cost, cost, sizeof cost);
        in->problem.cost = NULL;
        in->problem.integer_cost = in->integer_cost;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(in->solution.integer_total, 3 * big);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
        in->solution.integer_total++;
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
        in->solution.integer_total--;
        in->integer_row_dual[1]++;
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
    }
}
END_TEST

/* All solvers prove the same total of an instance in one form. */
static void check_totals(struct instance *(*make)(size_t rows, size_t cols), size_t rows,
                         size_t cols, int form)
{
    double total = 0.0;
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = make(rows, cols);
        choose_form(in, form);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
        total = s == 0 ? in->solution.total : total;
        ck_assert_double_eq(in->solution.total, total);
    }
}

/* Distances and products make long searches, after which jv holds auctions. */
static struct instance *laborious_instance(size_t rows, size_t cols)
{
    struct instance *in = new_instance(rows, cols);
    uint64_t state = 3;
    double x[2 * MAX_ROWS], y[2 * MAX_ROWS];
    for (size_t k = 0; k < (size_t)2 * MAX_ROWS; k++) {
        x[k] = (double)pick(&state, 1, 1000);
        y[k] = (double)pick(&state, 1, 1000);
    }
    for (size_t k = 0; k < rows * cols; k++) {
        size_t j = k / rows, i = k % rows;
        in->cost[k] = x[2 * j] * y[2 * i] + x[2 * j + 1] * y[2 * i + 1];
    }
    return in;
}

START_TEST(laborious)
{
    /* With fewer columns, auctions need fillers. */
    for (int form = 0; form < 4; form++)
        check_totals(laborious_instance, MAX_COLS, MAX_COLS - 20 * (size_t)_i, form);
}
END_TEST

/* Then jv drops the rows, or columns, that cost too much for all. */
START_TEST(laborious_and_long)
{
    check_totals(laborious_instance, MAX_ROWS, MAX_COLS / 2, 2 * _i);
    check_totals(laborious_instance, MAX_COLS / 2, MAX_ROWS, 2 * _i);
}
END_TEST

/* Sums of a number of the row and one of the column, a twelfth of the pairs allowed: for more rows
 * than columns, or fewer, jv holds auctions with fillers. */
static struct instance *sparse_sums(size_t rows, size_t cols)
{
    struct instance *in = new_instance(rows, cols);
    uint64_t state = 5;
    double of_row[MAX_ROWS], of_col[MAX_ROWS];
    for (size_t k = 0; k < MAX_ROWS; k++) {
        of_row[k] = (double)pick(&state, 1, 1000000);
        of_col[k] = (double)pick(&state, 1, 1000000);
    }
    for (size_t k = 0; k < rows * cols; k++) {
        size_t j = k / rows, i = k % rows;
        int allowed = i == j || pick(&state, 0, 11) == 0;
        in->cost[k] = allowed ? of_row[i] + of_col[j] + (double)pick(&state, 0, 99) : INFINITY;
    }
    return in;
}

static const struct {
    size_t rows, cols;
} sums_sizes[] = {{140, 120}, {120, 140}, {180, 120}};
enum { SUMS_SIZES = sizeof sums_sizes / sizeof sums_sizes[0] };

START_TEST(sparse_with_fillers)
{
    for (int form = 1; form < 4; form += 2)
        check_totals(sparse_sums, sums_sizes[_i].rows, sums_sizes[_i].cols, form);
}
END_TEST

/* Costs that nearly forbid an assignment, so that auctions are given up: jv goes on with the prices
 * that the last one began with, and its lists of cheap pairs must be of these. With this seed a
 * list of other prices lacks a pair that counts. */
static void give_auction_up(size_t side, int integer)
{
    uint64_t state = 2;
    lap_problem problem = {.rows = side, .cols = side};
    lap_solution solution = {.row_of_col = calloc(side, sizeof(size_t)),
                             .col_dual = calloc(side, sizeof(double)),
                             .row_dual = calloc(side, sizeof(double)),
                             .integer_col_dual = calloc(side, sizeof(int64_t)),
                             .integer_row_dual = calloc(side, sizeof(int64_t))};
    double *cost = calloc(side * side, sizeof *cost);
    int64_t *integer_cost = calloc(side * side, sizeof *integer_cost);
    for (size_t k = 0; k < side * side; k++) {
        integer_cost[k] = k % side <= k / side + 2 ? pick(&state, 0, 10000) : 1000000;
        cost[k] = (double)integer_cost[k];
    }
    problem.cost = integer ? NULL : cost;
    problem.integer_cost = integer ? integer_cost : NULL;
    ck_assert_int_eq(lap_find_solver("jv")->solve(&problem, &solution), 0);
    ck_assert_int_eq(lap_verify(&problem, &solution, 0.0), 0);
    void *arrays[] = {cost,
                      integer_cost,
                      solution.row_of_col,
                      solution.col_dual,
                      solution.row_dual,
                      solution.integer_col_dual,
                      solution.integer_row_dual};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k]);
}

START_TEST(auction_given_up)
{
    give_auction_up(400, _i);
}
END_TEST

/* Then jv lengthens its lists, in rows as long as these. */
START_TEST(lists_lengthened)
{
    give_auction_up(1600, _i);
}
END_TEST

/* ---- single cases ---- */

START_TEST(nothing_to_assign)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance((size_t)_i, 0);
        in->problem.cost = NULL;
        in->solution.row_of_col = NULL;
        in->solution.col_dual = NULL;
        use_groups(in, 2, 1);
        memset(in->group, 0, sizeof in->group);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_double_eq(in->solution.total, 0.0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    }
}
END_TEST

START_TEST(one_pair)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(1, 1);
        in->cost[0] = -7.5;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_uint_eq(in->row_of_col[0], 0);
        ck_assert_double_eq(in->solution.total, -7.5);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
        in->cost[0] = INFINITY;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), LAP_INFEASIBLE);
    }
}
END_TEST

START_TEST(ties_prefer_the_lower_row)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(5, 1);
        double cost[] = {4, 2, 3, 2, 2};
        memcpy(in->cost, cost, sizeof cost);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_uint_eq(in->row_of_col[0], 1);
    }
}
END_TEST

/* More columns compete for rows than there are: no prices resolve that. */
START_TEST(too_few_allowed_rows)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(100, 60);
        for (size_t k = 0; k < 6000; k++)
            in->cost[k] = k % 100 < 59 ? (double)(k % 7) : INFINITY;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), LAP_INFEASIBLE);
    }
}
END_TEST

START_TEST(capacity_below_need)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(100, 60);
        memset(in->cost, 0, sizeof in->cost);
        use_groups(in, 11, 5);
        for (size_t i = 0; i < 100; i++)
            in->group[i] = i % 11;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), LAP_INFEASIBLE);
        in->problem.group_capacity = 6;
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    }
}
END_TEST

START_TEST(duals_may_be_left_out)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = large_instance(&sizes[GROUPED_SIZE], 3, 0);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        double total = in->solution.total;
        lap_solution bare = {.row_of_col = in->row_of_col};
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &bare), 0);
        ck_assert_double_eq(bare.total, total);
    }
}
END_TEST

/* The largest accepted costs are solved without overflow. */
START_TEST(largest_costs)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = new_instance(6, 5);
        double limit = DBL_MAX / 32.0 / 6.0;
        uint64_t state = 5;
        for (size_t k = 0; k < 30; k++)
            in->cost[k] = limit * (double)pick(&state, -1, 1);
        ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
        ck_assert_double_eq_tol(in->solution.total / limit, brute_force(&in->problem) / limit,
                                1e-9);
        ck_assert_int_eq(lap_verify(&in->problem, &in->solution, limit * 1e-12), 0);
    }
}
END_TEST

/* ---- refusals ---- */

static void expect_refusal(const lap_solver *solver, struct instance *in, int expected)
{
    struct instance *before = malloc(sizeof *before);
    ck_assert_ptr_nonnull(before);
    memcpy(before, in, sizeof *in);
    ck_assert_int_eq(solver->solve(&in->problem, &in->solution), expected);
    ck_assert_int_eq(memcmp(before, in, sizeof *in), 0);
    free(before);
}

static struct instance *plain_instance(void)
{
    struct instance *in = new_instance(4, 3);
    for (size_t k = 0; k < 12; k++)
        in->cost[k] = (double)(k % 5);
    return in;
}

START_TEST(bad_costs)
{
    const struct {
        double cost;
        int expected;
    } cases[] = {
        {NAN, -EDOM},        {-INFINITY, -EDOM},     {DBL_MAX, -ERANGE},
        {-DBL_MAX, -ERANGE}, {DBL_MAX / 3, -ERANGE}, {-DBL_MAX / 32 / 4 * 1.01, -ERANGE},
    };
    for (int s = 0; s < count_solvers(); s++) {
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            for (size_t place = 0; place < 12; place++) {
                struct instance *in = plain_instance();
                in->cost[place] = cases[c].cost;
                expect_refusal(solver_number(s), in, cases[c].expected);
            }
        }
    }
}
END_TEST

START_TEST(bad_costs_among_many)
{
    for (int s = 0; s < count_solvers(); s++) {
        for (size_t place = 0; place < MANY * FEW; place += MANY * FEW - 1) {
            struct instance *in = large_instance(&sizes[LONG_SIZE], 1, 0);
            in->cost[place] = NAN;
            expect_refusal(solver_number(s), in, -EDOM);
            in->cost[place] = -DBL_MAX;
            expect_refusal(solver_number(s), in, -ERANGE);
            in->cost[place] = 0.0;
            use_integers(in);
            in->integer_cost[place] = INT64_MIN;
            expect_refusal(solver_number(s), in, -ERANGE);
        }
    }
}
END_TEST

START_TEST(bad_arguments)
{
    for (int s = 0; s < count_solvers(); s++) {
        const lap_solver *solver = solver_number(s);
        struct instance *in = plain_instance();
        ck_assert_int_eq(solver->solve(NULL, &in->solution), -EINVAL);
        ck_assert_int_eq(solver->solve(&in->problem, NULL), -EINVAL);
        in->problem.cost = NULL;
        expect_refusal(solver, in, -EINVAL);
        in = plain_instance();
        in->solution.row_of_col = NULL;
        expect_refusal(solver, in, -EINVAL);
        in = plain_instance();
        in->problem.rows = in->problem.cols = SIZE_MAX / 2;
        expect_refusal(solver, in, -EINVAL);
        in = plain_instance();
        use_groups(in, 2, 2);
        memset(in->group, 0, sizeof in->group);
        in->group[3] = 2;
        expect_refusal(solver, in, -EINVAL);
    }
}
END_TEST

START_TEST(bad_integers)
{
    const int64_t limit = INT64_MAX / 32 / 4;
    const int64_t wrong[] = {INT64_MIN, limit + 1, -limit - 1, LAP_FORBIDDEN - 1};
    for (int s = 0; s < count_solvers(); s++) {
        for (size_t c = 0; c < 4; c++) {
            struct instance *in = plain_instance();
            use_integers(in);
            in->integer_cost[c] = wrong[c];
            expect_refusal(solver_number(s), in, -ERANGE);
            in->integer_cost[c] = c % 2 ? limit : -limit;
            ck_assert_int_eq(solver_number(s)->solve(&in->problem, &in->solution), 0);
            ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
        }
        struct instance *in = plain_instance();
        in->problem.integer_cost = in->integer_cost;
        expect_refusal(solver_number(s), in, -EINVAL);
    }
}
END_TEST

static struct instance *listed_instance(void)
{
    struct instance *in = plain_instance();
    use_list(in);
    return in;
}

START_TEST(bad_lists)
{
    for (int s = 0; s < count_solvers(); s++) {
        const lap_solver *solver = solver_number(s);
        struct instance *in = listed_instance();
        in->row[3] = 4; /* out of range */
        expect_refusal(solver, in, -EINVAL);
        in = listed_instance();
        in->row[1] = 0; /* twice */
        expect_refusal(solver, in, -EINVAL);
        in = listed_instance();
        in->start[0] = 1;
        expect_refusal(solver, in, -EINVAL);
        in = listed_instance();
        in->start[1] = 9; /* beyond start[2] */
        expect_refusal(solver, in, -EINVAL);
        in = listed_instance();
        in->problem.row = NULL;
        expect_refusal(solver, in, -EINVAL);
        in = listed_instance();
        in->problem.cost = NULL;
        expect_refusal(solver, in, -EINVAL);
        in = listed_instance();
        in->problem.start = NULL; /* rows of a list without a list */
        expect_refusal(solver, in, -EINVAL);
    }
}
END_TEST

START_TEST(infeasible_leaves_outputs)
{
    for (int s = 0; s < count_solvers(); s++) {
        struct instance *in = plain_instance();
        for (size_t i = 0; i < 4; i++)
            in->cost[4 + i] = INFINITY;
        expect_refusal(solver_number(s), in, LAP_INFEASIBLE);
    }
}
END_TEST

static void fail_each_allocation(const lap_solver *solver, const struct size *size, int form)
{
    bool failed = true;
    for (long nth = 0; failed; nth++) {
        struct instance *in = large_instance(size, 1, 0);
        static struct instance before;
        choose_form(in, form);
        memcpy(&before, in, sizeof before);
        fail_allocation(nth);
        int rc = solver->solve(&in->problem, &in->solution);
        stop_failing();
        failed = allocations.failed;
        ck_assert_int_eq(allocations.live, 0);
        ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
        ck_assert(!failed || memcmp(&before, in, sizeof before) == 0);
        ck_assert_msg(nth < 100, "more allocations than any solver needs");
    }
}

START_TEST(out_of_memory)
{
    for (int s = 0; s < count_solvers(); s++) {
        fail_each_allocation(solver_number(s), &sizes[GROUPED_SIZE], _i);
        fail_each_allocation(solver_number(s), &sizes[LONG_SIZE], _i);
    }
}
END_TEST

START_TEST(solvers_by_name)
{
    for (int s = 0; s < count_solvers(); s++) {
        ck_assert_ptr_eq(lap_find_solver(solver_number(s)->name), solver_number(s));
        ck_assert_ptr_nonnull(solver_number(s)->note);
    }
    ck_assert_str_eq(lap_solvers[0].name, "auto");
    ck_assert_ptr_null(lap_find_solver("no such"));
    ck_assert_ptr_null(lap_find_solver(""));
    ck_assert_ptr_null(lap_find_solver(NULL));
}
END_TEST

/* ---- the verifier: a proof by hand, and every way to invalidate it ---- */

/* Rows 0, 1 are group 0 (capacity 1), row 2 is group 1. Both columns prefer group 0:
 * column 0 gets row 0 at 1, column 1 gets row 2 at 5; the group's dual is 1 - 4 = -3. */
static struct instance *proved_by_hand(void)
{
    struct instance *in = new_instance(3, 2);
    const double cost[] = {1, 9, 8, 2, 9, 5};
    const size_t group[] = {0, 0, 1};
    memcpy(in->cost, cost, sizeof cost);
    memcpy(in->group, group, sizeof group);
    use_groups(in, 2, 1);
    in->row_of_col[0] = 0;
    in->row_of_col[1] = 2;
    in->col_dual[0] = 4;
    in->col_dual[1] = 5;
    memset(in->row_dual, 0, sizeof in->row_dual);
    in->group_dual[0] = -3;
    in->group_dual[1] = 0;
    in->solution.total = 6;
    return in;
}

START_TEST(verifier_accepts)
{
    struct instance *in = proved_by_hand();
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    in->col_dual[0] = 4.25;
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.25), 0);
}
END_TEST

START_TEST(verifier_refuses)
{
    struct instance *in = proved_by_hand();
    const lap_problem *p = &in->problem;
    const lap_solution *s = &in->solution;
    double *const numbers[] = {&in->col_dual[0],   &in->col_dual[1],   &in->row_dual[0],
                               &in->row_dual[1],   &in->row_dual[2],   &in->group_dual[0],
                               &in->group_dual[1], &in->solution.total};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        const double wrong[] = {*numbers[k] + 1, *numbers[k] - 1, NAN, INFINITY, -INFINITY};
        double right = *numbers[k];
        for (size_t w = 0; w < 5; w++) {
            *numbers[k] = wrong[w];
            ck_assert_msg(lap_verify(p, s, 0.0) == -EINVAL, "number %zu as %g passed", k, wrong[w]);
        }
        *numbers[k] = right;
    }
    /* A more expensive assignment, consistent with its own pairs but not with the better one. */
    in->row_of_col[0] = 1;
    in->col_dual[0] = 12;
    in->solution.total = 14;
    ck_assert_int_eq(lap_verify(p, s, 0.0), -EINVAL);
    in = proved_by_hand();
    const size_t rows[][2] = {{0, 0}, {0, 1}, {2, 0}, {0, 3}, {SIZE_MAX, 2}, {1, 2}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        memcpy(in->row_of_col, rows[k], sizeof rows[k]);
        ck_assert_msg(lap_verify(p, s, 0.0) == -EINVAL, "assignment %zu passed", k);
    }
}
END_TEST

/* Two columns on two rows of one group, all costs and duals 0. */
static struct instance *all_zero(void)
{
    struct instance *in = new_instance(2, 2);
    memset(in->cost, 0, sizeof in->cost);
    memset(in->group, 0, sizeof in->group);
    memset(in->col_dual, 0, sizeof in->col_dual);
    memset(in->row_dual, 0, sizeof in->row_dual);
    memset(in->group_dual, 0, sizeof in->group_dual);
    use_groups(in, 1, 2);
    in->row_of_col[0] = 0;
    in->row_of_col[1] = 1;
    in->solution.total = 0;
    return in;
}

/* Each fault by itself: all duals are consistent otherwise. */
START_TEST(verifier_refuses_broken_constraints)
{
    struct instance *in = all_zero();
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    in->problem.group_capacity = 1;
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
    in = all_zero();
    in->row_of_col[1] = 0;
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
    in = all_zero();
    in->group_dual[0] = -1;
    in->col_dual[0] = in->col_dual[1] = 1;
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), 0);
    in->problem.group_capacity = 3;
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
    in->problem.group_capacity = 0;
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, 0.0), -EINVAL);
}
END_TEST

START_TEST(verifier_checks_arguments)
{
    struct instance *in = proved_by_hand();
    lap_solution missing = in->solution;
    ck_assert_int_eq(lap_verify(NULL, &in->solution, 0.0), -EINVAL);
    ck_assert_int_eq(lap_verify(&in->problem, NULL, 0.0), -EINVAL);
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, -1.0), -EINVAL);
    ck_assert_int_eq(lap_verify(&in->problem, &in->solution, NAN), -EINVAL);
    missing.row_dual = NULL;
    ck_assert_int_eq(lap_verify(&in->problem, &missing, 0.0), -EINVAL);
    for (long nth = 0; nth < 2; nth++) {
        fail_allocation(nth);
        int rc = lap_verify(&in->problem, &in->solution, 0.0);
        stop_failing();
        ck_assert_int_eq(rc, -ENOMEM);
        ck_assert_int_eq(allocations.live, 0);
    }
}
END_TEST

static Suite *lap_suite(void)
{
    Suite *suite = suite_create("lap");
    TCase *solving = tcase_create("solving");
    tcase_set_timeout(solving, 120);
    tcase_add_loop_test(solving, agrees_with_brute_force, 0, KINDS);
    tcase_add_loop_test(solving, duals_prove_large, 0, SIZES);
    tcase_add_test(solving, duals_prove_medium);
    tcase_add_loop_test(solving, duals_prove_fractions, 0, SIZES);
    tcase_add_loop_test(solving, answers_are_repeated, 0, SIZES);
    tcase_add_loop_test(solving, nothing_to_assign, 0, 3);
    tcase_add_loop_test(solving, forms_agree, 0, SIZES);
    tcase_add_loop_test(solving, many_more_rows_than_columns, 0, FAR_SHAPES);
    tcase_add_test(solving, many_rows_and_too_few_allowed);
    tcase_add_test(solving, more_columns_than_rows);
    tcase_add_test(solving, more_columns_than_a_group_takes);
    tcase_add_test(solving, integers_beyond_doubles);
    tcase_add_loop_test(solving, laborious, 0, 3);
    tcase_add_loop_test(solving, laborious_and_long, 0, 2);
    tcase_add_loop_test(solving, sparse_with_fillers, 0, SUMS_SIZES);
    tcase_add_loop_test(solving, auction_given_up, 0, 2);
    tcase_add_loop_test(solving, lists_lengthened, 0, 2);
    tcase_add_test(solving, products);
    tcase_add_loop_test(solving, heavy_tails, 0, 6);
    tcase_add_loop_test(solving, differences, 0, 6);
    tcase_add_test(solving, one_pair);
    tcase_add_test(solving, ties_prefer_the_lower_row);
    tcase_add_test(solving, rows_that_are_alike);
    tcase_add_test(solving, too_few_allowed_rows);
    tcase_add_test(solving, capacity_below_need);
    tcase_add_test(solving, duals_may_be_left_out);
    tcase_add_test(solving, largest_costs);
    tcase_add_test(solving, solvers_by_name);
    suite_add_tcase(suite, solving);

    TCase *refusing = tcase_create("refusing");
    tcase_add_test(refusing, bad_costs);
    tcase_add_test(refusing, bad_costs_among_many);
    tcase_add_test(refusing, bad_arguments);
    tcase_add_test(refusing, infeasible_leaves_outputs);
    tcase_add_loop_test(refusing, out_of_memory, 0, FORMS);
    tcase_add_test(refusing, bad_integers);
    tcase_add_test(refusing, bad_lists);
    suite_add_tcase(suite, refusing);

    TCase *verifying = tcase_create("verifying");
    tcase_add_test(verifying, verifier_accepts);
    tcase_add_test(verifying, verifier_refuses);
    tcase_add_test(verifying, verifier_refuses_broken_constraints);
    tcase_add_test(verifying, verifier_checks_arguments);
    suite_add_tcase(suite, verifying);
    return suite;
}

int main(void)
{
    return run_suite(lap_suite());
}
