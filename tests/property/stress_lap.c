/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of the assignment solvers: random instances of many kinds, each solved by every
 * solver of the table. All must agree, for small instances also with brute force, and each must
 * prove its solution. A failure prints the command that reproduces it. */
#include "lap/lap.h"

#include "../unit/seeded.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 160, MAX_PAIRS = MAX_SIDE * MAX_SIDE, LONG_SIDE = MAX_PAIRS / 8, BRUTE_SIDE = 7 };

enum structure {
    UNIFORM,
    EQUAL,
    PRODUCT,
    GEOMETRIC,
    LOW_RANK,
    NODES,
    HEAVY_TAIL,
    DIFFERENCE,
    STEPS,
    STRUCTURES
};

struct kind {
    const char *name;
    enum structure structure;
    int64_t low, high;
    int forbidden_of_ten;
    bool grouped;
};

static const struct kind kinds[] = {
    {"ties", UNIFORM, 0, 2, 0, false},
    {"small", UNIFORM, -20, 20, 0, false},
    {"wide", UNIFORM, -1000000, 1000000, 0, false},
    {"all equal", EQUAL, -3, 3, 0, false},
    {"products", PRODUCT, 1, 50, 0, false},
    {"geometric", GEOMETRIC, 0, 1000, 0, false},
    {"low rank", LOW_RANK, 0, 300, 0, false},
    {"nodes", NODES, 0, 500, 0, false},
    {"heavy tail", HEAVY_TAIL, 1, 1 << 20, 0, false},
    {"heavy tail, many forbidden", HEAVY_TAIL, 1, 1 << 20, 6, false},
    {"difference", DIFFERENCE, 0, 100000, 0, false},
    {"steps", STEPS, 0, 10000, 0, false},
    {"some forbidden", UNIFORM, -9, 9, 3, false},
    {"many forbidden", UNIFORM, 0, 99, 7, false},
    {"nearly all forbidden", UNIFORM, -3, 3, 9, false},
    {"geometric, some forbidden", GEOMETRIC, 0, 1000, 4, false},
    {"groups, ties", UNIFORM, 0, 2, 0, true},
    {"groups, wide", UNIFORM, -1000000, 1000000, 0, true},
    {"groups, all equal", EQUAL, 0, 3, 0, true},
    {"groups, products", PRODUCT, 1, 50, 0, true},
    {"groups, low rank", LOW_RANK, 0, 300, 0, true},
    {"groups, heavy tail", HEAVY_TAIL, 1, 1 << 20, 0, true},
    {"groups, difference", DIFFERENCE, 0, 100000, 0, true},
    {"groups, nodes", NODES, 0, 500, 0, true},
    {"groups, some forbidden", UNIFORM, -9, 9, 3, true},
    {"groups, many forbidden", UNIFORM, 0, 99, 7, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* One instance in all four forms, with the same integers, so that solutions are comparable. */
struct instance {
    size_t rows, cols;
    bool dense, integer, fractions;
    double factor; /* integer costs are multiplied by this much, real ones too unless fractions */
    int64_t value[MAX_PAIRS]; /* LAP_FORBIDDEN: not allowed */
    double cost[MAX_PAIRS];
    int64_t integer_cost[MAX_PAIRS];
    size_t start[LONG_SIDE + 1], row[MAX_PAIRS], group[LONG_SIDE];
    lap_problem problem;
    size_t row_of_col[LONG_SIDE];
    double col_dual[LONG_SIDE], row_dual[LONG_SIDE], group_dual[MAX_SIDE];
    int64_t integer_col_dual[LONG_SIDE], integer_row_dual[LONG_SIDE], integer_group_dual[MAX_SIDE];
    lap_solution solution;
};

/* ---- construction ---- */

static void choose_shape(struct instance *in, uint64_t *state)
{
    int64_t most = BRUTE_SIDE;
    if (pick(state, 0, 3) == 0)
        most = pick(state, 0, 9) == 0 ? MAX_SIDE : 30;
    in->rows = (size_t)pick(state, 0, most);
    in->cols = pick(state, 0, 2) == 0 ? in->rows : (size_t)pick(state, 0, most);
    if (pick(state, 0, 49) == 0) { /* many on one side, few on the other */
        in->rows = (size_t)pick(state, LONG_SIDE / 8, LONG_SIDE);
        in->cols = (size_t)pick(state, 1, 8);
        if (pick(state, 0, 1) > 0) {
            size_t rows = in->cols;
            in->cols = in->rows;
            in->rows = rows;
        }
    }
    in->dense = pick(state, 0, 2) > 0;
    in->integer = pick(state, 0, 1) > 0;
    in->fractions = !in->integer && pick(state, 0, 2) == 0;
}

static void fill_values(struct instance *in, const struct kind *kind, uint64_t *state)
{
    int64_t a[MAX_SIDE][3], b[MAX_SIDE][3], equal = pick(state, kind->low, kind->high);
    for (size_t k = 0; k < MAX_SIDE; k++) {
        for (int c = 0; c < 3; c++) {
            a[k][c] = pick(state, kind->low, kind->high);
            b[k][c] = pick(state, kind->low, kind->high);
        }
    }
    for (size_t j = 0; j < in->cols; j++) {
        for (size_t i = 0; i < in->rows; i++) {
            const int64_t *x = a[j % MAX_SIDE], *y = b[i % MAX_SIDE];
            const int64_t cost[STRUCTURES] = {
                [UNIFORM] = pick(state, kind->low, kind->high),
                [EQUAL] = equal,
                [PRODUCT] = (int64_t)((i + 1) * (j + 1)),
                [GEOMETRIC] = (int64_t)hypot((double)(x[0] - y[0]), (double)(x[1] - y[1])),
                [LOW_RANK] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2],
                [HEAVY_TAIL] = kind->high / pick(state, 1, kind->high),
                [DIFFERENCE] = x[0] < y[0] ? y[0] - x[0] : x[0] - y[0],
                [STEPS] = i <= j + 1 ? pick(state, kind->low, kind->high) : 100 * kind->high,
                [NODES] = a[(j * 7 + i / 4) % MAX_SIDE][0] - pick(state, 0, 1),
            };
            bool forbidden = pick(state, 0, 9) < kind->forbidden_of_ten;
            in->value[j * in->rows + i] = forbidden ? LAP_FORBIDDEN : cost[kind->structure];
        }
    }
}

/* A sparse problem omits most forbidden pairs, and lists some as forbidden. */
static void write_pairs(struct instance *in, uint64_t *state)
{
    size_t used = 0;
    for (size_t j = 0; j < in->cols; j++) {
        in->start[j] = used;
        for (size_t i = 0; i < in->rows; i++) {
            int64_t value = in->value[j * in->rows + i];
            bool forbidden = value == LAP_FORBIDDEN;
            if (!in->dense && forbidden && pick(state, 0, 3) > 0)
                continue;
            double real =
                (double)value * in->factor + (in->fractions ? 1.0 / (double)(used + 3) : 0.0);
            in->cost[used] = forbidden ? INFINITY : real;
            in->integer_cost[used] = forbidden ? LAP_FORBIDDEN : value * (int64_t)in->factor;
            in->row[used++] = i;
        }
    }
    in->start[in->cols] = used;
}

static void choose_groups(struct instance *in, uint64_t *state)
{
    size_t groups = (size_t)pick(state, 1, in->rows < 9 ? 5 : 9);
    size_t fewer = in->rows < in->cols ? in->rows : in->cols;
    int64_t least = pick(state, 0, 3) == 0 ? 0 : (int64_t)(fewer / groups);
    in->problem.group = in->group;
    in->problem.groups = groups;
    in->problem.group_capacity = (size_t)pick(state, least, least + 3);
    bool blocks = pick(state, 0, 1) > 0;
    for (size_t i = 0; i < in->rows; i++)
        in->group[i] = blocks ? i * groups / in->rows : (size_t)pick(state, 0, (int64_t)groups - 1);
}

static void make_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    uint64_t state = seed;
    choose_shape(in, &state);
    /* The largest allowed integers: the costs of low rank are below 2^20. */
    in->factor = in->integer && pick(&state, 0, 4) == 0 ? 0x1p28 : 1.0;
    fill_values(in, kind, &state);
    write_pairs(in, &state);
    in->problem = (lap_problem){
        .rows = in->rows,
        .cols = in->cols,
        .cost = in->integer ? NULL : in->cost,
        .integer_cost = in->integer ? in->integer_cost : NULL,
        .start = in->dense ? NULL : in->start,
        .row = in->dense ? NULL : in->row,
    };
    if (kind->grouped)
        choose_groups(in, &state);
    in->solution = (lap_solution){
        .row_of_col = in->row_of_col,
        .col_dual = in->col_dual,
        .row_dual = in->row_dual,
        .group_dual = in->group_dual,
        .integer_col_dual = in->integer_col_dual,
        .integer_row_dual = in->integer_row_dual,
        .integer_group_dual = in->integer_group_dual,
    };
}

/* ---- brute force, over the values ---- */

struct search {
    const struct instance *in;
    bool taken[BRUTE_SIDE];
    size_t load[BRUTE_SIDE];
    int64_t least;
};

static bool may_take(const struct search *s, size_t row, size_t col)
{
    const lap_problem *p = &s->in->problem;
    bool full =
        p->group != NULL && p->group_capacity > 0 && s->load[p->group[row]] == p->group_capacity;
    return !s->taken[row] && !full && s->in->value[col * s->in->rows + row] != LAP_FORBIDDEN;
}

static void try_column(struct search *s, size_t col, size_t pairs, int64_t so_far)
{
    const struct instance *in = s->in;
    size_t wanted = in->rows < in->cols ? in->rows : in->cols;
    if (pairs == wanted) {
        s->least = so_far < s->least ? so_far : s->least;
        return;
    }
    if (pairs + in->cols - col < wanted)
        return;
    try_column(s, col + 1, pairs, so_far);
    for (size_t i = 0; i < in->rows; i++) {
        if (!may_take(s, i, col))
            continue;
        size_t g = in->problem.group != NULL ? in->group[i] : 0;
        s->taken[i] = true;
        s->load[g]++;
        try_column(s, col + 1, pairs + 1, so_far + in->value[col * in->rows + i]);
        s->load[g]--;
        s->taken[i] = false;
    }
}

/* LAP_FORBIDDEN: nothing is feasible. */
static int64_t brute_force(const struct instance *in)
{
    struct search s = {.in = in, .least = LAP_FORBIDDEN};
    try_column(&s, 0, 0, 0);
    return s.least;
}

/* ---- the properties ---- */

static const char *tool;

static bool complain(const struct kind *kind, uint64_t seed, const char *solver, const char *what)
{
    printf("# %s: %s\n# replay: %s --kind='%s' --seed=%" PRIu64 " --instances=1\n", solver, what,
           tool, kind->name, seed);
    return false;
}

static bool agrees(const struct instance *in, int rc, int expected, double total)
{
    double tolerance = in->fractions ? 1e-6 : 0.0;
    return rc == expected && (rc != 0 || fabs(in->solution.total - total) <= tolerance);
}

static bool agrees_with_brute_force(const struct instance *in, int rc)
{
    if (in->rows > BRUTE_SIDE || in->cols > BRUTE_SIDE || in->fractions)
        return true;
    int64_t least = brute_force(in);
    if (least == LAP_FORBIDDEN)
        return rc == LAP_INFEASIBLE;
    bool exact = !in->integer || in->solution.integer_total == least * (int64_t)in->factor;
    return rc == 0 && exact && in->solution.total == (double)least * in->factor;
}

static bool check_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    int first = 0;
    double total = 0.0;
    for (const lap_solver *solver = lap_solvers; solver->name != NULL; solver++) {
        int rc = solver->solve(&in->problem, &in->solution);
        if (solver == lap_solvers) {
            first = rc;
            total = in->solution.total;
            if (rc != 0 && rc != LAP_INFEASIBLE)
                return complain(kind, seed, solver->name, "refused");
            if (!agrees_with_brute_force(in, rc))
                return complain(kind, seed, solver->name, "not what brute force finds");
        }
        if (!agrees(in, rc, first, total))
            return complain(kind, seed, solver->name, "not what the first solver finds");
        if (rc == 0 && lap_verify(&in->problem, &in->solution, in->fractions ? 1e-6 : 0.0) != 0)
            return complain(kind, seed, solver->name, "no proof");
    }
    return true;
}

/* ---- the command ---- */

static bool check_kind(struct instance *in, const struct kind *kind, uint64_t seed, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        make_instance(in, kind, seed + k);
        if (!check_instance(in, kind, seed + k))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options =
        read_options(argc, argv, 4000,
                     "Solves random assignment problems by every solver, and proves the answers.");
    struct instance *in = malloc(sizeof *in);
    int number = 0, failed = in == NULL;
    tool = argv[0];
    uint64_t each =
        options.kind != NULL ? options.instances : (options.instances + KINDS - 1) / KINDS;
    for (int k = 0; k < KINDS && in != NULL; k++) {
        if (options.kind != NULL && strcmp(options.kind, kinds[k].name) != 0)
            continue;
        bool good = check_kind(in, &kinds[k], options.seed, each);
        printf("%sok %d - %s: %" PRIu64 " instances\n", good ? "" : "not ", ++number, kinds[k].name,
               each);
        failed += !good;
    }
    printf("1..%d\n", number);
    free(in);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
