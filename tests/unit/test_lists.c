/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignment problems whose rows are long enough for lists of their best pairs (jv.c), proved by
 * their duals. Smaller ones, where brute force is possible, have no lists. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lap/lap.h"
#include "seeded.h"
#include "suite.h"

enum { MOST_ROWS = 1600, MOST_COLS = 1590, MOST_PAIRS = MOST_ROWS * MOST_COLS, FACTORS = 3 };

enum structure {
    UNIFORM,
    TIES,
    DIFFERENCE,
    PRODUCT,
    SUM,
    LOW_RANK,
    WEIGHTED, /* the same, by weights of rows from 1 to 2048 */
    STEPS,
    BLOCKS,
    DIAGONAL,
    MOSTLY_DIAGONAL,
    FORBIDDEN,
    STRUCTURES
};

/* Rows, columns, and groups of rows, 0: none, of which each takes `capacity` columns. */
struct shape {
    size_t rows, cols, groups, capacity;
};

static const struct shape shapes[] = {
    {232, 232, 0, 0}, {240, 235, 0, 0},   {235, 230, 0, 0},
    {500, 100, 0, 0}, {240, 235, 20, 12}, {500, 110, 40, 3},
};

static const struct shape sparse_shapes[] = {
    {250, 250, 0, 0}, {250, 240, 0, 0}, {240, 250, 0, 0}, {400, 300, 0, 0}, {300, 400, 0, 0}};

static struct problem {
    lap_problem problem;
    lap_solution solution;
    double col_dual[MOST_COLS], row_dual[MOST_ROWS], group_dual[MOST_ROWS];
    int64_t integer_col_dual[MOST_COLS], integer_row_dual[MOST_ROWS], integer_group_dual[MOST_ROWS];
    size_t group[MOST_ROWS], row_of_col[MOST_COLS];
    size_t start[MOST_COLS + 1], row[MOST_PAIRS];
    double cost[MOST_PAIRS];
    int64_t integer_cost[MOST_PAIRS];
} one;

/* What makes the pairs of a row or column alike. */
struct factors {
    int64_t of_row[MOST_ROWS][FACTORS], of_col[MOST_COLS][FACTORS];
};

static void draw_factors(struct factors *f, uint64_t *state)
{
    for (size_t k = 0; k < FACTORS; k++) {
        for (size_t i = 0; i < MOST_ROWS; i++)
            f->of_row[i][k] = pick(state, 0, 1000);
        for (size_t j = 0; j < MOST_COLS; j++)
            f->of_col[j][k] = pick(state, 0, 1000);
    }
}

/* Whether a row and a column are the cheapest ones of each other. In MOSTLY_DIAGONAL problems three
 * of 29 rows have no such column. */
static bool is_cheapest(enum structure structure, size_t i, size_t j)
{
    bool has_cheapest = structure == DIAGONAL || i % 29 == 0 || i % 29 > 3;
    return i == j && has_cheapest;
}

static int64_t cost_of_pair(enum structure structure, const struct factors *f, size_t i, size_t j,
                            uint64_t *state)
{
    const int64_t *a = f->of_row[i], *b = f->of_col[j];
    int64_t apart = a[0] > b[0] ? a[0] - b[0] : b[0] - a[0], noise = pick(state, 0, 20);
    switch (structure) {
    case UNIFORM: return pick(state, 0, 1000000);
    case TIES: return pick(state, 0, 3);
    case DIFFERENCE: return apart + noise;
    case PRODUCT: return a[0] * b[0] + 1000 * noise;
    case SUM: return a[0] + b[0] + noise;
    case LOW_RANK: return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    case WEIGHTED: return (a[0] * b[0] + a[1] * b[1]) << a[2] % 12;
    case STEPS: return i <= j + 1 ? noise : 1000000;
    case BLOCKS: return i / 16 == j / 15 ? noise : 1000 + noise;
    case DIAGONAL:
    case MOSTLY_DIAGONAL: return is_cheapest(structure, i, j) ? noise : pick(state, 21, 1000000);
    default: return noise < 5 ? LAP_FORBIDDEN : noise;
    }
}

/* The costs are the same in both forms; see choose_form. */
static void draw_problem(struct problem *p, enum structure structure, const struct shape *shape,
                         uint64_t seed)
{
    static struct factors factors;
    uint64_t state = seed;
    memset(p, 0xa5, offsetof(struct problem, cost));
    draw_factors(&factors, &state);
    for (size_t k = 0; k < shape->rows * shape->cols; k++) {
        int64_t cost = cost_of_pair(structure, &factors, k % shape->rows, k / shape->rows, &state);
        p->cost[k] = cost < LAP_FORBIDDEN ? (double)cost : INFINITY;
        p->integer_cost[k] = cost;
    }
    for (size_t i = 0; shape->groups > 0 && i < shape->rows; i++)
        p->group[i] = i * shape->groups / shape->rows;
    p->problem = (lap_problem){.rows = shape->rows,
                               .cols = shape->cols,
                               .group = shape->groups > 0 ? p->group : NULL,
                               .groups = shape->groups,
                               .group_capacity = shape->capacity};
    p->solution = (lap_solution){.row_of_col = p->row_of_col,
                                 .col_dual = p->col_dual,
                                 .row_dual = p->row_dual,
                                 .group_dual = p->group_dual,
                                 .integer_col_dual = p->integer_col_dual,
                                 .integer_row_dual = p->integer_row_dual,
                                 .integer_group_dual = p->integer_group_dual};
}

static void choose_form(struct problem *p, bool integer)
{
    p->problem.cost = integer ? NULL : p->cost;
    p->problem.integer_cost = integer ? p->integer_cost : NULL;
}

/* Omits some pairs of a dense problem, but not all of any row or column. */
static void make_sparse(struct problem *p, int64_t percent_kept, uint64_t seed)
{
    uint64_t state = ~seed;
    size_t rows = p->problem.rows, kept = 0;
    for (size_t j = 0; j < p->problem.cols; j++) {
        for (size_t i = 0; i < rows; i++) {
            if (i != j % rows && pick(&state, 1, 100) > percent_kept)
                continue;
            p->row[kept] = i;
            p->cost[kept] = p->cost[j * rows + i];
            p->integer_cost[kept++] = p->integer_cost[j * rows + i];
        }
        p->start[j + 1] = kept;
    }
    p->start[0] = 0;
    p->problem.start = p->start;
    p->problem.row = p->row;
}

static void prove_drawn(enum structure structure, const struct shape *shape, uint64_t seed)
{
    for (int integer = 0; integer < 2; integer++) {
        choose_form(&one, integer);
        ck_assert_int_eq(lap_jv(&one.problem, &one.solution), 0);
        ck_assert_msg(lap_verify(&one.problem, &one.solution, 0.0) == 0,
                      "structure %d, %zu rows, seed %d, integer %d: no proof", (int)structure,
                      shape->rows, (int)seed, integer);
    }
}

static void prove(enum structure structure, const struct shape *shape, uint64_t seed)
{
    draw_problem(&one, structure, shape, seed);
    prove_drawn(structure, shape, seed);
}

START_TEST(every_structure)
{
    for (uint64_t seed = 1; seed <= random_cases(10); seed++)
        prove((enum structure)(_i % STRUCTURES), &shapes[_i / STRUCTURES], seed);
}
END_TEST

/* Few or many allowed pairs, of which lists of the best are made or not. */
START_TEST(sparse_problems)
{
    enum structure structure = (enum structure)(_i % FORBIDDEN);
    const struct shape *shape = &sparse_shapes[_i / FORBIDDEN];
    for (uint64_t seed = 1; seed <= random_cases(4); seed++) {
        draw_problem(&one, structure, shape, seed);
        make_sparse(&one, (int64_t)(10 + 15 * (seed % 4)), seed);
        prove_drawn(structure, shape, seed);
    }
}
END_TEST

/* Auctions wear out the lists, which become longer. */
START_TEST(longer_lists)
{
    prove(SUM, &(struct shape){1600, 1590, 0, 0}, 1);
    prove(LOW_RANK, &(struct shape){1590, 1590, 0, 0}, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lists");
    TCase *lists = tcase_create("lists");
    tcase_set_timeout(lists, 60);
    tcase_add_loop_test(lists, every_structure, 0,
                        STRUCTURES * (int)(sizeof shapes / sizeof shapes[0]));
    tcase_add_loop_test(lists, sparse_problems, 0,
                        FORBIDDEN * (int)(sizeof sparse_shapes / sizeof sparse_shapes[0]));
    tcase_add_test(lists, longer_lists);
    suite_add_tcase(suite, lists);
    return run_suite(suite);
}
