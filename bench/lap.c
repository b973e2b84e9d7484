/* SPDX-License-Identifier: BSD-3-Clause */
/* lap_bench: solves assignment problems that are named by strings, proves the answers, and
 * prints the times as comma-separated values. */
#include "lap/lap.h"

#include "../tests/unit/seeded.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANK = 4, LARGEST = 1000000, FANOUT = 16 };

/* The heaviest cost of a heavy tail; a cost that no optimum pays. */
#define HEAVIEST 1e12
#define FORBIDDEN_TO_ALL 1e9

enum structure {
    UNIFORM,
    TIES,
    EQUAL,
    PARETO,
    GEOMETRIC,
    DIFFERENCE,
    LOW_RANK,
    PRODUCT,
    HOPS,
    STEPS,
    TWO_COSTS,
    SQUARE,
    MINIMUM,
    SUM,
    BLOCKS,
    STRUCTURES
};

static const char *const structure_names[STRUCTURES] = {
    "uniform", "ties",  "equal",    "pareto", "geometric", "difference", "lowrank", "product",
    "hops",    "steps", "twocosts", "square", "minimum",   "sum",        "blocks",
};

/* A problem string, taken apart. */
struct recipe {
    enum structure structure;
    bool integer;
    size_t rows, cols, degree; /* degree: entries a column; 0: dense */
};

struct instance {
    lap_problem problem;
    lap_solution solution;
    void *arrays[16];
    size_t count;
};

static void *allocate(struct instance *in, size_t count, size_t size)
{
    void *array = calloc(count | 1, size);
    if (array == NULL) {
        fprintf(stderr, "lap_bench: out of memory\n");
        exit(EXIT_FAILURE);
    }
    in->arrays[in->count++] = array;
    return array;
}

static void release(struct instance *in)
{
    for (size_t k = 0; k < in->count; k++)
        free(in->arrays[k]);
}

/* ---- costs ---- */

/* Coordinates or factors of rows and columns, RANK numbers from 0 to 1 each. */
struct vectors {
    double *of_row, *of_col;
};

static double *draw(struct instance *in, size_t count, uint64_t *state)
{
    double *drawn = allocate(in, count, sizeof *drawn);
    for (size_t k = 0; k < count; k++)
        drawn[k] = (double)(next_random(state) >> 11) * 0x1p-53;
    return drawn;
}

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < RANK; k++)
        sum += a[k] * b[k];
    return sum / RANK;
}

/* Hops between two nodes of a tree with 16 children everywhere, whose leaves have 16 rows or
 * columns each. */
static double hops(size_t row, size_t col)
{
    double sum = 0.0;
    for (row /= FANOUT, col /= FANOUT; row != col; row /= FANOUT, col /= FANOUT)
        sum += 2.0;
    return sum;
}

/* Pairs within a block of rows and columns are cheap, but blocks have more columns than rows, or
 * fewer: some columns must go elsewhere. */
static double block_cost(double row, double col, double number)
{
    return floor(row * FANOUT) == floor(col * FANOUT) ? number * 100.0 : (1.0 + number) * LARGEST;
}

/* 1 for four of ten numbers, and one of ten thousand above ten million. */
static double heavy_tail(double number)
{
    return fmin(floor(pow(1.0 - number, -1.75) / 2.36) + 1.0, HEAVIEST);
}

static double one_cost(const struct recipe *recipe, const struct vectors *v, size_t row, size_t col,
                       uint64_t *state)
{
    const double *r = v->of_row + row * RANK, *c = v->of_col + col * RANK;
    double number = (double)(next_random(state) >> 11) * 0x1p-53;
    switch (recipe->structure) {
    case TIES: return number * 100.0;
    case PARETO: return heavy_tail(number);
    case GEOMETRIC: return hypot(r[0] - c[0], r[1] - c[1]) / 1.5 * LARGEST;
    case DIFFERENCE: return fabs(r[0] - c[0]) * LARGEST;
    case LOW_RANK: return dot(r, c) * LARGEST;
    case PRODUCT: return (double)(row + 1) * (double)(col + 1);
    case HOPS: return hops(row, (size_t)(c[1] * (double)recipe->rows)) * ceil(c[0] * 1000.0);
    case STEPS: return row <= col + 1 ? number * LARGEST : FORBIDDEN_TO_ALL;
    case TWO_COSTS: return number < 0.5 ? 100.0 : 100.0 * LARGEST;
    case SQUARE: return (r[0] - c[0]) * (r[0] - c[0]) * LARGEST;
    case MINIMUM: return (double)(row < col ? row : col);
    case SUM: return (r[0] + c[0]) * LARGEST + number * 100.0;
    case BLOCKS: return block_cost(r[0], c[0], number);
    case EQUAL: return 1.0;
    default: return number * LARGEST;
    }
}

/* The number of pairs of the columns before this one. */
static size_t pairs_before(const lap_problem *problem, size_t col)
{
    return problem->start != NULL ? problem->start[col] : col * problem->rows;
}

static void fill_costs(struct instance *in, const struct recipe *recipe, uint64_t *state)
{
    lap_problem *problem = &in->problem;
    const struct vectors v = {draw(in, recipe->rows * RANK, state),
                              draw(in, recipe->cols * RANK, state)};
    size_t pairs = pairs_before(problem, recipe->cols);
    double *real = recipe->integer ? NULL : allocate(in, pairs, sizeof *real);
    int64_t *integer = recipe->integer ? allocate(in, pairs, sizeof *integer) : NULL;
    for (size_t col = 0, k = 0; k < pairs; k++) {
        while (k == pairs_before(problem, col + 1))
            col++;
        size_t row = problem->start != NULL ? problem->row[k] : k - pairs_before(problem, col);
        double cost = one_cost(recipe, &v, row, col, state);
        if (recipe->integer)
            integer[k] = (int64_t)cost + 1; /* scipy's sparse matrices know no zero */
        else
            real[k] = cost + 1.0;
    }
    problem->cost = real;
    problem->integer_cost = integer;
}

static int compare(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool contains(const size_t *rows, size_t count, size_t row)
{
    for (size_t k = 0; k < count; k++)
        if (rows[k] == row)
            return true;
    return false;
}

/* Column j may have row j, so that there is an assignment, and others at random; with steps none
 * beyond row j + 1. Returns their number. */
static size_t draw_rows(const struct recipe *recipe, size_t col, size_t *rows, uint64_t *state)
{
    size_t count = 0, range = recipe->rows;
    if (recipe->structure == STEPS && col + 2 < range)
        range = col + 2;
    rows[count++] = col % recipe->rows;
    while (count < recipe->degree && count < range) {
        size_t row = (size_t)pick(state, 0, (int64_t)range - 1);
        if (!contains(rows, count, row))
            rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, compare);
    return count;
}

static void choose_pairs(struct instance *in, const struct recipe *recipe, uint64_t *state)
{
    size_t *start = allocate(in, recipe->cols + 1, sizeof *start);
    size_t *row = allocate(in, recipe->cols * recipe->degree, sizeof *row);
    for (size_t j = 0; j < recipe->cols; j++)
        start[j + 1] = start[j] + draw_rows(recipe, j, row + start[j], state);
    in->problem.start = start;
    in->problem.row = row;
}

static void make_instance(struct instance *in, const struct recipe *recipe, uint64_t seed)
{
    uint64_t state = seed;
    *in = (struct instance){.problem = {.rows = recipe->rows, .cols = recipe->cols}};
    if (recipe->degree > 0)
        choose_pairs(in, recipe, &state);
    fill_costs(in, recipe, &state);
    in->solution = (lap_solution){
        .row_of_col = allocate(in, recipe->cols, sizeof(size_t)),
        .col_dual = allocate(in, recipe->cols, sizeof(double)),
        .row_dual = allocate(in, recipe->rows, sizeof(double)),
        .integer_col_dual = allocate(in, recipe->cols, sizeof(int64_t)),
        .integer_row_dual = allocate(in, recipe->rows, sizeof(int64_t)),
    };
}

/* ---- a file for other programs ---- */

/* rows, cols, number of listed pairs (0: dense), 1 for integers; then start and row of a
 * list; then the costs. All are 8 bytes in this machine's order. */
static int dump(const struct instance *in, const char *path)
{
    const lap_problem *p = &in->problem;
    bool listed = p->start != NULL, integer = p->integer_cost != NULL;
    size_t pairs = listed ? p->start[p->cols] : p->rows * p->cols;
    const uint64_t head[] = {p->rows, p->cols, listed ? pairs : 0, integer};
    const void *cost = integer ? (const void *)p->integer_cost : p->cost;
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return -errno;
    bool good = fwrite(head, sizeof head, 1, file) == 1;
    if (listed) {
        good = good && fwrite(p->start, sizeof *p->start, p->cols + 1, file) == p->cols + 1;
        good = good && fwrite(p->row, sizeof *p->row, pairs, file) == pairs;
    }
    good = good && fwrite(cost, 8, pairs, file) == pairs;
    good = fclose(file) == 0 && good;
    return good ? 0 : -EIO;
}

/* ---- measuring ---- */

struct options {
    const char *solvers; /* NULL: all */
    const char *dump;
    long repetitions;
    uint64_t seed;
    int status;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_seconds(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool prove(const struct instance *in)
{
    return lap_verify(&in->problem, &in->solution, in->problem.integer_cost != NULL ? 0.0 : 1e-6) ==
           0;
}

static int measure(struct instance *in, const lap_solver *solver, const char *name,
                   long repetitions)
{
    double *seconds = calloc((size_t)repetitions, sizeof *seconds);
    int rc = seconds != NULL ? 0 : -ENOMEM;
    for (long k = 0; k < repetitions && rc == 0; k++) {
        double begin = now();
        rc = solver->solve(&in->problem, &in->solution);
        seconds[k] = now() - begin;
    }
    if (rc == 0) {
        bool proved = prove(in);
        qsort(seconds, (size_t)repetitions, sizeof *seconds, compare_seconds);
        printf("%s,%s,%ld,%.6f,%.6f,%.17g,%s\n", name, solver->name, repetitions, seconds[0],
               seconds[repetitions / 2], in->solution.total, proved ? "yes" : "NO");
        fflush(stdout);
        rc = proved ? 0 : -EIO;
    } else {
        fprintf(stderr, "lap_bench: %s, %s: %s\n", name, solver->name,
                rc < 0 ? strerror(-rc) : "no assignment");
    }
    free(seconds);
    return rc;
}

static bool is_wanted(const struct options *options, const lap_solver *solver)
{
    return options->solvers == NULL || strcmp(options->solvers, solver->name) == 0;
}

static bool parse_structure(const char *name, enum structure *structure)
{
    for (*structure = 0; *structure < STRUCTURES; ++*structure)
        if (strcmp(structure_names[*structure], name) == 0)
            return true;
    return false;
}

static int parse_recipe(const char *name, struct recipe *recipe)
{
    char structure[16], kind[8];
    int end = 0, listed_end = 0;
    *recipe = (struct recipe){.degree = 0};
    int fields = sscanf(name, "%15[a-z]-%7[a-z]-%zux%zu%n/%zu%n", structure, kind, &recipe->rows,
                        &recipe->cols, &end, &recipe->degree, &listed_end);
    recipe->integer = fields >= 4 && strcmp(kind, "int") == 0;
    bool known = fields >= 4 && parse_structure(structure, &recipe->structure) &&
                 (recipe->integer || strcmp(kind, "real") == 0);
    bool complete = (fields == 4 && name[end] == '\0') ||
                    (fields == 5 && name[listed_end] == '\0' && recipe->degree > 0);
    return known && complete && recipe->rows > 0 && recipe->cols > 0 &&
                   recipe->degree <= recipe->rows
               ? 0
               : -EINVAL;
}

static int run_problem(struct options *options, const char *name)
{
    struct recipe recipe;
    if (parse_recipe(name, &recipe) != 0) {
        fprintf(stderr, "lap_bench: %s: not a problem (see --help)\n", name);
        return EXIT_FAILURE;
    }
    struct instance in;
    make_instance(&in, &recipe, options->seed);
    int rc = options->dump != NULL ? dump(&in, options->dump) : 0;
    if (rc != 0)
        fprintf(stderr, "lap_bench: %s: %s\n", options->dump, strerror(-rc));
    for (const lap_solver *s = lap_solvers; s->name != NULL && rc == 0; s++)
        rc = is_wanted(options, s) ? measure(&in, s, name, options->repetitions) : 0;
    release(&in);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- the command ---- */

static const struct argp_option option_table[] = {
    {"solver", 's', "NAME", 0, "Only this solver", 0},
    {"repeat", 'r', "N", 0, "Solve N times, print the least and the median time (default 3)", 0},
    {"seed", 'S', "N", 0, "Seed of the costs (default 1)", 0},
    {"dump", 'd', "FILE", 0, "Write the problem to a file, as 8-byte numbers", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 's':
        options->solvers = arg;
        return lap_find_solver(arg) != NULL
                   ? 0
                   : (argp_error(state, "%s: no such solver", arg), EINVAL);
    case 'r':
        options->repetitions = strtol(arg, NULL, 10);
        return options->repetitions > 0 ? 0 : (argp_error(state, "%s: not a count", arg), EINVAL);
    case 'S': options->seed = strtoull(arg, NULL, 10); return 0;
    case 'd': options->dump = arg; return 0;
    case ARGP_KEY_INIT:
        printf("problem,solver,repetitions,seconds_least,seconds_median,total,proved\n");
        return 0;
    case ARGP_KEY_ARG: options->status |= run_problem(options, arg); return 0;
    case ARGP_KEY_NO_ARGS: argp_usage(state); return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        option_table,
        parse,
        "PROBLEM...",
        "Solves assignment problems, proves the answers and prints the times.\v"
        "A PROBLEM is STRUCTURE-KIND-ROWSxCOLS, or STRUCTURE-KIND-ROWSxCOLS/DEGREE for a sparse "
        "one "
        "with DEGREE rows allowed a column. STRUCTURE: uniform, ties, equal, pareto, geometric, "
        "difference, lowrank, product, hops, steps, twocosts, square, minimum, sum or blocks. "
        "KIND: int or real. Options count for the problems after "
        "them.",
        NULL,
        NULL,
        NULL};
    struct options options = {.repetitions = 3, .seed = 1, .status = EXIT_SUCCESS};
    return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options) == 0 ? options.status
                                                                             : EXIT_FAILURE;
}
