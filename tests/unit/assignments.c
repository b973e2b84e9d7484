/* SPDX-License-Identifier: BSD-3-Clause */
#include "assignments.h"

#include "proof.h"
#include "seeded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Brute force solves problems of up to SMALL_SIDE rows and columns. Those of more than MANY pairs
 * are large. */
enum { SMALL_SIDE = 7, MANY = 18000 };

const char *const structure_names[STRUCTURES] = {
    "uniform", "ties", "equal",  "square", "geometric",
    "product", "hops", "blocks", "steps",  "diagonal",
};
static const char *const change_names[CHANGES] = {
    "no change",      "negated",        "weighted rows", "one cheap", "one forbidden",
    "some forbidden", "most forbidden", "empty column",  "largest",
};

/* ---- costs ---- */

enum { LINES = 2 };

/* Of rows and columns: places from 0 to `range`, and weights. */
struct lines {
    int64_t range, (*row)[LINES], (*col)[LINES], *weight_of_row;
};

static void draw_places(int64_t (*place)[LINES], size_t count, int64_t range, uint64_t *state)
{
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < LINES; l++)
            place[k][l] = pick(state, 0, range);
}

/* A few rows may weigh far more than the others. */
static struct lines draw_lines(struct assignment *a, uint64_t *state)
{
    size_t rows = a->shape.rows, cols = a->shape.cols;
    struct lines l = {pick(state, 0, 3) > 0 ? 3000 : 20,
                      base_arena_alloc(&a->arena, rows, sizeof *l.row),
                      base_arena_alloc(&a->arena, cols, sizeof *l.col),
                      base_arena_alloc(&a->arena, rows, sizeof *l.weight_of_row)};
    bool heavy = pick(state, 0, 1) > 0;
    draw_places(l.row, rows, l.range, state);
    draw_places(l.col, cols, l.range, state);
    for (size_t i = 0; i < rows; i++) {
        int64_t drawn = pick(state, 1, 100);
        l.weight_of_row[i] = heavy ? 10000 / (drawn * drawn) : drawn;
    }
    return l;
}

static int64_t cost_of_pair(enum structure structure, const struct lines *l, size_t i, size_t j,
                            uint64_t *state)
{
    const int64_t *a = l->row[i], *b = l->col[j];
    int64_t gap = a[0] > b[0] ? a[0] - b[0] : b[0] - a[0], little = pick(state, 0, 20);
    switch (structure) {
    case UNIFORM: return pick(state, -500000, 500000);
    case TIES: return pick(state, 0, 3);
    case SQUARE: return gap * gap;
    case GEOMETRIC: return (int64_t)hypot((double)gap, (double)(a[1] - b[1]));
    case PRODUCT: return a[0] * b[0];
    case HOPS: return a[0] * 16 / (l->range + 1) == b[0] * 16 / (l->range + 1) ? 0 : 2;
    case BLOCKS: return i / 16 == j / 15 ? little : 1000 + little;
    case STEPS: return i <= j + 1 ? pick(state, 0, 10000) : 1000000;
    case DIAGONAL: return i == j && j % 29 != 1 ? little : pick(state, 21, 1000000);
    default: return 7;
    }
}

static void find_largest(struct assignment *a)
{
    a->largest = 1;
    for (size_t k = 0; k < a->shape.rows * a->shape.cols; k++)
        if (a->value[k] != LAP_FORBIDDEN && llabs(a->value[k]) > a->largest)
            a->largest = llabs(a->value[k]);
}

static void draw_values(struct assignment *a, const struct lines *l, uint64_t *state)
{
    for (size_t j = 0; j < a->shape.cols; j++)
        for (size_t i = 0; i < a->shape.rows; i++)
            a->value[j * a->shape.rows + i] = cost_of_pair(a->structure, l, i, j, state);
    find_largest(a);
}

/* ---- changes ---- */

static bool is_small(const struct shape *s)
{
    return s->rows <= SMALL_SIDE && s->cols <= SMALL_SIDE;
}

/* The pairs of a known assignment are always allowed. */
static bool is_kept(const struct shape *s, size_t i, size_t j)
{
    if (is_small(s))
        return false;
    return s->cols <= s->rows ? i == j * s->rows / s->cols : j == i * s->cols / s->rows;
}

static int64_t percent_allowed(const struct assignment *a, uint64_t *state)
{
    int64_t percent = a->shape.listed > 0 ? a->shape.listed : 100;
    if (a->change == SOME_FORBIDDEN)
        return percent * 2 / 3;
    return a->change == MOST_FORBIDDEN ? percent * pick(state, 0, 30) / 100 : percent;
}

/* `one`: whether it is the pair that is changed alone. */
static int64_t changed(const struct assignment *a, const struct lines *l, size_t i, size_t j,
                       bool one)
{
    int64_t value = a->value[j * a->shape.rows + i];
    switch (a->change) {
    case NEGATED: return -value;
    case WEIGHTED_ROWS: return value * l->weight_of_row[i];
    case ONE_CHEAP: return one ? value - 2 * a->largest : value;
    case ONE_FORBIDDEN: return one && !is_kept(&a->shape, i, j) ? LAP_FORBIDDEN : value;
    default: return value;
    }
}

static void change_values(struct assignment *a, const struct lines *l, uint64_t *state)
{
    const struct shape *s = &a->shape;
    int64_t percent = percent_allowed(a, state);
    size_t drawn = (size_t)next_random(state);
    for (size_t k = 0; k < s->rows * s->cols; k++) {
        size_t i = k % s->rows, j = k / s->rows;
        bool one = k == drawn % (s->rows * s->cols);
        bool omitted = pick(state, 1, 100) > percent && !is_kept(s, i, j);
        bool emptied = a->change == EMPTY_COLUMN && j == drawn % s->cols;
        int64_t value = changed(a, l, i, j, one);
        a->value[k] = omitted || emptied ? LAP_FORBIDDEN : value;
    }
    find_largest(a);
}

/* Powers of two, so that real costs are not rounded. */
static int64_t factor_to_limit(const struct assignment *a)
{
    size_t fewer = a->shape.rows < a->shape.cols ? a->shape.rows : a->shape.cols;
    int64_t limit = INT64_MAX / 32 / (int64_t)(fewer + 1), factor = 1;
    while (factor * 2 <= limit / a->largest)
        factor *= 2;
    return factor;
}

/* ---- arrays ---- */

static bool is_listed(const struct assignment *a, size_t k)
{
    return a->shape.listed == 0 || a->value[k] != LAP_FORBIDDEN || k % 4 == 0;
}

/* A list omits most of what is forbidden. Arrays are as long as needed, so that sanitizers notice
 * accesses beyond them. */
static void list_pairs(struct assignment *a)
{
    const struct shape *s = &a->shape;
    for (size_t k = 0; k < s->rows * s->cols; k++)
        a->pairs += is_listed(a, k);
    a->start = base_arena_alloc(&a->arena, s->cols + 1, sizeof *a->start);
    a->row = base_arena_alloc(&a->arena, a->pairs, sizeof *a->row);
    a->value_of = base_arena_alloc(&a->arena, a->pairs, sizeof *a->value_of);
    a->cost = base_arena_alloc(&a->arena, a->pairs, sizeof *a->cost);
    a->integer_cost = base_arena_alloc(&a->arena, a->pairs, sizeof *a->integer_cost);
    for (size_t k = 0, pair = 0; k < s->rows * s->cols; k++) {
        if (!is_listed(a, k))
            continue;
        a->row[pair] = k % s->rows;
        a->value_of[pair++] = k;
        a->start[k / s->rows + 1] = pair;
    }
    for (size_t j = 0; j < s->cols; j++)
        if (a->start[j + 1] < a->start[j])
            a->start[j + 1] = a->start[j];
}

static void *output_array(struct assignment *a, int output, size_t count, size_t size)
{
    struct output *o = &a->output[output];
    *o = (struct output){base_arena_alloc(&a->arena, count, size),
                         base_arena_alloc(&a->arena, count, size), count * size};
    return o->array;
}

static void make_arrays(struct assignment *a)
{
    const struct shape *s = &a->shape;
    list_pairs(a);
    a->problem = (lap_problem){.rows = s->rows,
                               .cols = s->cols,
                               .start = s->listed > 0 ? a->start : NULL,
                               .row = s->listed > 0 ? a->row : NULL};
    a->solution = (lap_solution){.row_of_col = output_array(a, 0, s->cols, sizeof(size_t)),
                                 .col_dual = output_array(a, 1, s->cols, sizeof(double)),
                                 .row_dual = output_array(a, 2, s->rows, sizeof(double)),
                                 .integer_col_dual = output_array(a, 3, s->cols, sizeof(int64_t)),
                                 .integer_row_dual = output_array(a, 4, s->rows, sizeof(int64_t))};
}

void draw_assignment(struct assignment *a, enum structure structure, enum change change,
                     const struct shape *shape, uint64_t seed)
{
    uint64_t state = ~seed; /* not what the caller draws by the same seed */
    *a = (struct assignment){.structure = structure, .change = change, .shape = *shape};
    a->value = base_arena_alloc(&a->arena, shape->rows * shape->cols, sizeof *a->value);
    struct lines lines = draw_lines(a, &state);
    draw_values(a, &lines, &state);
    change_values(a, &lines, &state);
    a->factor = change == LARGEST ? factor_to_limit(a) : 1;
    a->infeasible = change == EMPTY_COLUMN && shape->cols > 0 && shape->cols <= shape->rows;
    a->feasible = change != EMPTY_COLUMN && !is_small(shape);
    make_arrays(a);
}

void release_assignment(struct assignment *a)
{
    base_arena_release(&a->arena);
}

/* Rows become columns. */
static void transpose(const struct assignment *a, struct assignment *t)
{
    size_t rows = a->shape.rows, cols = a->shape.cols;
    *t = (struct assignment){.structure = a->structure,
                             .change = a->change,
                             .shape = {cols, rows, a->shape.listed},
                             .largest = a->largest,
                             .factor = a->factor,
                             .feasible = a->feasible,
                             .infeasible = a->infeasible};
    t->value = base_arena_alloc(&t->arena, rows * cols, sizeof *t->value);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            t->value[i * cols + j] = a->value[j * rows + i];
    make_arrays(t);
}

void choose_form(struct assignment *a, enum form form)
{
    double unit = (double)a->factor * (form == TENTHS ? .1 : 1.);
    for (size_t k = 0; k < a->pairs; k++) {
        int64_t value = a->value[a->value_of[k]];
        bool forbidden = value == LAP_FORBIDDEN;
        a->cost[k] = forbidden ? INFINITY : (double)value * unit;
        a->integer_cost[k] = forbidden ? LAP_FORBIDDEN : value * a->factor;
    }
    a->problem.cost = form == INTEGER ? NULL : a->cost;
    a->problem.integer_cost = form == INTEGER ? a->integer_cost : NULL;
}

/* ---- solutions ---- */

enum { MARK = 0xa5 };

void mark_solution(struct assignment *a)
{
    for (int o = 0; o < OUTPUTS; o++)
        memset(a->output[o].array, MARK, a->output[o].bytes);
    a->solution.total = -1.;
    a->solution.integer_total = -1;
}

bool is_marked(const struct assignment *a)
{
    for (int o = 0; o < OUTPUTS; o++)
        for (size_t k = 0; k < a->output[o].bytes; k++)
            if (((const unsigned char *)a->output[o].array)[k] != MARK)
                return false;
    return a->solution.total == -1. && a->solution.integer_total == -1;
}

/* ---- brute force ---- */

struct search {
    const struct assignment *a;
    bool taken[SMALL_SIDE];
    int64_t least;
};

static size_t wanted(const struct shape *s)
{
    return s->rows < s->cols ? s->rows : s->cols;
}

static void try_columns(struct search *search, size_t col, size_t assigned, int64_t so_far)
{
    const struct assignment *a = search->a;
    const struct shape *s = &a->shape;
    if (assigned == wanted(s)) {
        search->least = so_far < search->least ? so_far : search->least;
        return;
    }
    if (assigned + s->cols - col < wanted(s))
        return;
    try_columns(search, col + 1, assigned, so_far);
    for (size_t i = 0; i < s->rows; i++) {
        int64_t value = a->value[col * s->rows + i];
        if (search->taken[i] || value == LAP_FORBIDDEN)
            continue;
        search->taken[i] = true;
        try_columns(search, col + 1, assigned + 1, so_far + value);
        search->taken[i] = false;
    }
}

/* ---- what must hold ---- */

enum { UNKNOWN = -1 };

/* `total` is a sum of values; NAN: not known. */
struct expected {
    int rc;
    double total;
};

static struct expected expect(const struct assignment *a)
{
    struct search search = {.a = a, .least = LAP_FORBIDDEN};
    if (!is_small(&a->shape))
        return (struct expected){a->feasible ? 0 : a->infeasible ? LAP_INFEASIBLE : UNKNOWN, NAN};
    try_columns(&search, 0, 0, 0);
    return (struct expected){search.least < LAP_FORBIDDEN ? 0 : LAP_INFEASIBLE,
                             (double)search.least};
}

/* Rounding makes no dual positive of a side that has members without a pair. */
static bool signs_hold(const struct assignment *a)
{
    const struct shape *s = &a->shape;
    bool hold = true;
    for (size_t i = 0; s->rows > s->cols && i < s->rows; i++)
        hold = hold && a->solution.row_dual[i] <= 0.;
    for (size_t j = 0; s->cols > s->rows && j < s->cols; j++)
        hold = hold && a->solution.col_dual[j] <= 0.;
    return hold;
}

/* What is not known yet becomes what the first solver finds. */
static const char *fault_of_solution(const struct assignment *a, enum form form, int rc,
                                     struct expected *expected)
{
    double unit = (double)a->factor * (form == TENTHS ? .1 : 1.);
    double tolerance = form == TENTHS ? (double)a->largest * unit * 1e-11 : 0.;
    if (expected->rc == UNKNOWN)
        expected->rc = rc;
    if (rc != expected->rc || rc < 0)
        return rc == 0 ? "solves what is infeasible" : "fails";
    if (rc != 0)
        return is_marked(a) ? NULL : "writes something but fails";
    if (isnan(expected->total))
        expected->total = a->solution.total / unit;
    double error = fabs(a->solution.total - expected->total * unit);
    if (error > tolerance * (double)(a->shape.cols + 1))
        return "finds another total";
    return lap_verify(&a->problem, &a->solution, tolerance) == 0 ? NULL : "has no proof";
}

static bool is_repeated(struct assignment *a, const lap_solver *solver, int expected)
{
    for (int o = 0; o < OUTPUTS; o++)
        memcpy(a->output[o].copy, a->output[o].array, a->output[o].bytes);
    bool same = solver->solve(&a->problem, &a->solution) == expected;
    for (int o = 0; o < OUTPUTS; o++)
        same = same && memcmp(a->output[o].copy, a->output[o].array, a->output[o].bytes) == 0;
    return same;
}

static const char *fault_of_solver(struct assignment *a, const lap_solver *solver, enum form form,
                                   struct expected *expected)
{
    mark_solution(a);
    int rc = solver->solve(&a->problem, &a->solution);
    const char *fault = fault_of_solution(a, form, rc, expected);
    bool repeats = (solver - lap_solvers) % FORMS == (int)form;
    if (fault == NULL && rc == 0 && form == TENTHS && !signs_hold(a))
        return "has positive duals";
    if (fault == NULL && repeats && !is_repeated(a, solver, rc))
        return "finds something else the second time";
    return fault;
}

static const char *fault_in_forms(struct assignment *a, struct expected *expected, const char *way)
{
    static char message[200];
    bool large = a->pairs > MANY;
    for (enum form form = REAL; form < FORMS; form++) {
        choose_form(a, form);
        for (const lap_solver *s = lap_solvers; s->name != NULL && (s == lap_solvers || !large);
             s++) {
            const char *fault = fault_of_solver(a, s, form, expected);
            if (fault == NULL)
                continue;
            snprintf(message, sizeof message, "%s, %s, %zu rows, %zu columns%s: %s in form %d %s",
                     structure_names[a->structure], change_names[a->change], a->shape.rows,
                     a->shape.cols, way, s->name, (int)form, fault);
            return message;
        }
    }
    return NULL;
}

const char *find_fault(struct assignment *a)
{
    struct expected expected = expect(a);
    struct assignment transposed;
    const char *fault = fault_in_forms(a, &expected, "");
    if (fault != NULL)
        return fault;
    transpose(a, &transposed);
    fault = fault_in_forms(&transposed, &expected, ", transposed");
    release_assignment(&transposed);
    return fault;
}

/* ---- shapes ---- */

/* Most are small; some have up to 160 rows and columns, some many rows and few columns. */
static struct shape draw_shape(uint64_t *state)
{
    int64_t most = pick(state, 0, 3) > 0 ? SMALL_SIDE : pick(state, 0, 9) > 0 ? 30 : 160;
    size_t rows = (size_t)pick(state, 0, most), cols = (size_t)pick(state, 0, most);
    if (pick(state, 0, 2) == 0)
        cols = rows;
    if (pick(state, 0, 49) == 0) {
        rows = (size_t)pick(state, 400, 3200);
        cols = (size_t)pick(state, 1, 8);
    }
    struct shape s = {.rows = rows, .cols = cols};
    if (pick(state, 0, 2) == 0)
        s.listed = pick(state, 20, 100);
    return s;
}

void draw_any(struct assignment *a, enum structure structure, uint64_t seed)
{
    uint64_t state = seed + ((uint64_t)structure << 32);
    struct shape shape = draw_shape(&state);
    draw_assignment(a, structure, (enum change)pick(&state, 0, CHANGES - 1), &shape, seed);
}
