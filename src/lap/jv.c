/* SPDX-License-Identifier: BSD-3-Clause */
/* Jonker and Volgenant's shortest augmenting paths, rectangular, with group capacities.
 *
 * The persons of the paper are our columns, its objects our rows. Its column reduction
 * and reduction transfer lower the duals of objects that may stay free, which only a
 * square matrix allows; so row duals start at 0, and a dual is lowered only where the
 * row gets or has a column. See doc/lap.md. */
#include "lap/check.h"
#include "lap/lap.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define NONE SIZE_MAX

/* The paper's number of passes; the steps bound a price war between columns. */
enum { REDUCTION_PASSES = 2, REDUCTION_STEPS_PER_COLUMN = 4 };

/* Rows per entry of block_least; comparisons in flight. */
enum { BLOCK = 64, CHAINS = 8 };

struct jv {
    const double *cost;
    size_t rows, cols;

    /* The partial assignment; NONE where there is none. */
    size_t *row_of_col;
    size_t *col_of_row;
    size_t *unassigned; /* columns that wait */
    size_t waiting;

    /* Groups; group is NULL when no capacity can bind, and groups is then 0. */
    const size_t *group;
    size_t groups, capacity;
    size_t *load;         /* columns on the rows of each group */
    size_t *first_member; /* members[first_member[g]] .. of group g, ascending */
    size_t *members;

    double *row_dual;
    double *group_dual;
    double *price; /* row dual + group dual; -INFINITY hides a row from the search */

    /* One search. dist is INFINITY for rows not reached and for settled ones. */
    double *dist;
    double *block_least; /* not above any dist of its block */
    size_t blocks;
    size_t *from; /* the column that reached the row; NONE: reached through its group */
    double radius;
    size_t *order; /* assigned rows as they were settled */
    double *settled_at;
    size_t settled, scanned;
    size_t *entered; /* full groups as they were reached, each through entry_row */
    double *entered_at;
    size_t *entry_row;
    size_t groups_entered;

    double *reals; /* the memory behind all arrays */
    size_t *indices;
};

static const double *column(const struct jv *s, size_t col)
{
    return s->cost + col * s->rows;
}

static bool is_free(const struct jv *s, size_t row)
{
    return s->col_of_row[row] == NONE;
}

/* A row that can take a column without another one giving way. */
static bool is_open(const struct jv *s, size_t row)
{
    return is_free(s, row) && (s->group == NULL || s->load[s->group[row]] < s->capacity);
}

static double true_price(const struct jv *s, size_t row)
{
    return s->row_dual[row] + (s->group != NULL ? s->group_dual[s->group[row]] : 0.0);
}

static void give(struct jv *s, size_t col, size_t row)
{
    s->row_of_col[col] = row;
    s->col_of_row[row] = col;
}

/* ---- augmenting row reduction ---- */

struct two_least {
    double least, second;
    size_t row, second_row;
};

static struct two_least find_two_least(const struct jv *s, size_t col)
{
    const double *cost = column(s, col);
    struct two_least found = { INFINITY, INFINITY, NONE, NONE };
    for (size_t i = 0; i < s->rows; i++) {
        double reduced = cost[i] - s->price[i];
        if (reduced >= found.second) {
            continue;
        }
        if (reduced < found.least) {
            found.second = found.least;
            found.second_row = found.row;
            found.least = reduced;
            found.row = i;
        } else {
            found.second = reduced;
            found.second_row = i;
        }
    }
    return found;
}

/* Gives col its cheapest row and lowers that row's dual as far as the next best row
 * allows. Returns the column that gave way, NONE, or col itself when it must wait: a
 * column gives way only where the dual falls, otherwise two could alternate for ever. */
static size_t reduce_row(struct jv *s, size_t col)
{
    struct two_least found = find_two_least(s, col);
    size_t row = found.row;
    if (row == NONE) {
        return col;
    }
    double dual = s->row_dual[row];
    if (found.second < INFINITY) {
        dual -= found.second - found.least;
    }
    bool falls = dual < s->row_dual[row];
    if (!falls && !is_open(s, row) && found.second_row != NONE && found.second <= found.least) {
        row = found.second_row;
        dual = s->row_dual[row];
    }
    if (!is_open(s, row) && (is_free(s, row) || !falls)) {
        return col;
    }
    size_t previous = s->col_of_row[row];
    if (previous != NONE) {
        s->row_of_col[previous] = NONE;
    } else if (s->group != NULL) {
        s->load[s->group[row]]++;
    }
    give(s, col, row);
    s->row_dual[row] = dual;
    s->price[row] = true_price(s, row);
    return previous;
}

static void augmenting_row_reduction(struct jv *s)
{
    size_t steps = 0;
    for (int pass = 0; pass < REDUCTION_PASSES; pass++) {
        size_t count = s->waiting;
        s->waiting = 0;
        for (size_t k = 0; k < count; k++) {
            size_t col = s->unassigned[k];
            size_t previous = NONE;
            while (col != NONE && col != previous
                   && steps / REDUCTION_STEPS_PER_COLUMN < s->cols) {
                previous = col;
                col = reduce_row(s, col);
                steps++;
            }
            if (col != NONE) {
                s->unassigned[s->waiting++] = col;
            }
        }
    }
}

/* ---- augmentation: Dijkstra's method over rows and full groups ---- */

static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* In several chains, since one alone waits for every comparison to end. */
static inline double least_of(const double *value, size_t count)
{
    double chain[CHAINS] = { INFINITY, INFINITY, INFINITY, INFINITY,
                             INFINITY, INFINITY, INFINITY, INFINITY };
    size_t i = 0;
    for (; i + CHAINS <= count; i += CHAINS) {
        for (size_t k = 0; k < CHAINS; k++) {
            chain[k] = lesser(value[i + k], chain[k]);
        }
    }
    for (size_t k = 0; i + k < count; k++) {
        chain[k] = lesser(value[i + k], chain[k]);
    }
    for (size_t k = 1; k < CHAINS; k++) {
        chain[0] = lesser(chain[k], chain[0]);
    }
    return chain[0];
}

static size_t block_size(const struct jv *s, size_t block)
{
    size_t rest = s->rows - block * BLOCK;
    return rest < BLOCK ? rest : BLOCK;
}

/* The inner loop of the whole method: no branches, all arrays contiguous. */
static inline double relax(const double *restrict cost, const double *restrict price,
                           double *restrict dist, size_t *restrict from, size_t count,
                           double base, size_t col)
{
    for (size_t i = 0; i < count; i++) {
        double length = cost[i] - price[i] - base;
        from[i] = length < dist[i] ? col : from[i];
        dist[i] = length < dist[i] ? length : dist[i];
    }
    return least_of(dist, count);
}

/* Relaxes the pairs of col, whose own distance less its dual is -base. */
static void scan_column(struct jv *s, size_t col, double base)
{
    const double *cost = column(s, col);
    size_t whole = s->rows / BLOCK;
    for (size_t b = 0; b < whole; b++) {
        size_t i = b * BLOCK;
        s->block_least[b] = relax(cost + i, s->price + i, s->dist + i, s->from + i, BLOCK, base, col);
    }
    if (whole < s->blocks) {
        size_t i = whole * BLOCK;
        s->block_least[whole] = relax(cost + i, s->price + i, s->dist + i, s->from + i,
                                      s->rows - i, base, col);
    }
}

static void scan_next(struct jv *s)
{
    size_t row = s->order[s->scanned++];
    size_t col = s->col_of_row[row];
    double dual = column(s, col)[row] - true_price(s, row);
    scan_column(s, col, dual - s->settled_at[row]);
}

static void hide(struct jv *s, size_t row)
{
    s->price[row] = -INFINITY;
    s->dist[row] = INFINITY;
}

/* A free row of a full group is of use when a column of that group gives way: every
 * assigned row of the group comes within reach. Its other free rows lead nowhere new. */
static void enter_group(struct jv *s, size_t row)
{
    size_t g = s->group[row];
    s->entered[s->groups_entered++] = g;
    s->entered_at[g] = s->radius;
    s->entry_row[g] = row;
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        double length = s->radius - s->row_dual[member];
        if (is_free(s, member)) {
            hide(s, member);
        } else if (s->price[member] > -INFINITY && length < s->dist[member]) {
            s->dist[member] = length;
            s->from[member] = NONE;
            s->block_least[member / BLOCK] = fmin(s->block_least[member / BLOCK], length);
        }
    }
}

static void settle(struct jv *s, size_t row)
{
    if (is_free(s, row)) {
        enter_group(s, row);
        return;
    }
    s->order[s->settled++] = row;
    s->settled_at[row] = s->radius;
    hide(s, row);
}

/* Settles the rows within the radius; stops at the first open one and returns it. */
static size_t settle_block(struct jv *s, size_t block)
{
    size_t first = block * BLOCK, count = block_size(s, block);
    for (size_t i = first; i < first + count; i++) {
        if (s->dist[i] > s->radius) {
            continue;
        }
        if (is_open(s, i)) {
            return i;
        }
        settle(s, i);
    }
    s->block_least[block] = least_of(s->dist + first, count);
    return NONE;
}

static size_t settle_ring(struct jv *s)
{
    for (size_t b = 0; b < s->blocks; b++) {
        size_t row = s->block_least[b] <= s->radius ? settle_block(s, b) : NONE;
        if (row != NONE) {
            return row;
        }
    }
    return NONE;
}

/* The nearest open row, or NONE when there is no way to one. */
static size_t find_path(struct jv *s, size_t start)
{
    for (size_t i = 0; i < s->rows; i++) {
        s->dist[i] = INFINITY;
    }
    s->settled = s->scanned = s->groups_entered = 0;
    s->radius = -INFINITY;
    scan_column(s, start, 0.0);
    for (;;) {
        double least = least_of(s->block_least, s->blocks);
        bool all_scanned = s->scanned == s->settled;
        if (all_scanned && least == INFINITY) {
            return NONE;
        }
        if (!all_scanned && least > s->radius) {
            scan_next(s);
            continue;
        }
        /* Rounding may leave a length a little below the radius. */
        s->radius = fmax(s->radius, least);
        size_t row = settle_ring(s);
        if (row != NONE) {
            return row;
        }
    }
}

static void lower_group(struct jv *s, size_t g)
{
    double drop = s->radius - s->entered_at[g];
    s->group_dual[g] -= drop;
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t row = s->members[k];
        if (!is_free(s, row)) {
            s->row_dual[row] = fmin(s->row_dual[row] + drop, 0.0);
        }
        s->price[row] = true_price(s, row);
    }
}

/* A path of length radius was found: whatever lies nearer gets dearer by the difference. */
static void update_duals(struct jv *s)
{
    for (size_t k = 0; k < s->settled; k++) {
        size_t row = s->order[k];
        s->row_dual[row] -= s->radius - s->settled_at[row];
        s->price[row] = true_price(s, row);
    }
    for (size_t k = 0; k < s->groups_entered; k++) {
        lower_group(s, s->entered[k]);
    }
}

/* Walks the path back from its open row; every column on it moves to the row that it reached. */
static void flip_path(struct jv *s, size_t row)
{
    if (s->group != NULL) {
        s->load[s->group[row]]++;
    }
    while (row != NONE) {
        if (s->from[row] == NONE) {
            s->col_of_row[row] = NONE;
            s->row_dual[row] = 0.0;
            s->price[row] = true_price(s, row);
            row = s->entry_row[s->group[row]];
        }
        size_t col = s->from[row];
        size_t left = s->row_of_col[col];
        give(s, col, row);
        row = left;
    }
}

static int augment(struct jv *s)
{
    for (size_t k = 0; k < s->waiting; k++) {
        size_t row = find_path(s, s->unassigned[k]);
        if (row == NONE) {
            return LAP_INFEASIBLE;
        }
        update_duals(s);
        flip_path(s, row);
    }
    return 0;
}

/* ---- set-up ---- */

/* A capacity binds only where a group has more rows, and there are more columns. */
static bool capacity_binds(const lap_problem *problem)
{
    return problem->group != NULL && problem->group_capacity > 0
           && problem->group_capacity < problem->cols;
}

static double *take_reals(double **next, size_t count)
{
    double *taken = *next;
    *next += count;
    return taken;
}

static size_t *take_indices(size_t **next, size_t count)
{
    size_t *taken = *next;
    *next += count;
    return taken;
}

static int allocate(struct jv *s)
{
    size_t per_row, per_group, reals, indices;
    /* The larger need, indices, is 4 rows + 2 cols + 4 groups + 1; cols <= rows. */
    if (__builtin_mul_overflow(s->rows, (size_t)6, &per_row)
        || __builtin_mul_overflow(s->groups, (size_t)4, &per_group)
        || __builtin_add_overflow(per_row, per_group, &indices)
        || __builtin_add_overflow(indices, (size_t)1, &indices)) {
        return -ENOMEM;
    }
    reals = 4 * s->rows + s->blocks + 2 * s->groups + 1;
    s->reals = calloc(reals, sizeof *s->reals);
    s->indices = calloc(indices, sizeof *s->indices);
    if (s->reals == NULL || s->indices == NULL) {
        free(s->reals);
        free(s->indices);
        return -ENOMEM;
    }
    return 0;
}

static void lay_out(struct jv *s)
{
    double *real = s->reals;
    s->row_dual = take_reals(&real, s->rows);
    s->price = take_reals(&real, s->rows);
    s->dist = take_reals(&real, s->rows);
    s->settled_at = take_reals(&real, s->rows);
    s->block_least = take_reals(&real, s->blocks);
    s->group_dual = take_reals(&real, s->groups);
    s->entered_at = take_reals(&real, s->groups);

    size_t *index = s->indices;
    s->col_of_row = take_indices(&index, s->rows);
    s->from = take_indices(&index, s->rows);
    s->order = take_indices(&index, s->rows);
    s->members = take_indices(&index, s->rows);
    s->row_of_col = take_indices(&index, s->cols);
    s->unassigned = take_indices(&index, s->cols);
    s->load = take_indices(&index, s->groups);
    s->entered = take_indices(&index, s->groups);
    s->entry_row = take_indices(&index, s->groups);
    s->first_member = take_indices(&index, s->groups + 1);
}

static void list_members(struct jv *s)
{
    for (size_t i = 0; i < s->rows; i++) {
        s->first_member[s->group[i] + 1]++;
    }
    for (size_t g = 0; g < s->groups; g++) {
        s->first_member[g + 1] += s->first_member[g];
        s->entry_row[g] = s->first_member[g]; /* where the next member goes */
    }
    for (size_t i = 0; i < s->rows; i++) {
        s->members[s->entry_row[s->group[i]]++] = i;
    }
}

static int set_up(struct jv *s, const lap_problem *problem)
{
    *s = (struct jv){ .cost = problem->cost, .rows = problem->rows, .cols = problem->cols };
    s->blocks = s->rows / BLOCK + (s->rows % BLOCK != 0);
    if (capacity_binds(problem)) {
        s->group = problem->group;
        s->groups = problem->groups;
        s->capacity = problem->group_capacity;
    }
    int rc = allocate(s);
    if (rc != 0) {
        return rc;
    }
    lay_out(s);
    for (size_t i = 0; i < s->rows; i++) {
        s->col_of_row[i] = NONE;
    }
    for (size_t j = 0; j < s->cols; j++) {
        s->row_of_col[j] = NONE;
        s->unassigned[j] = j;
    }
    s->waiting = s->cols;
    if (s->group != NULL) {
        list_members(s);
    }
    return 0;
}

static void release(struct jv *s)
{
    free(s->reals);
    free(s->indices);
}

/* ---- the answer ---- */

static void write_duals(const struct jv *s, const lap_problem *problem, lap_solution *solution)
{
    for (size_t j = 0; solution->col_dual != NULL && j < s->cols; j++) {
        size_t row = s->row_of_col[j];
        solution->col_dual[j] = column(s, j)[row] - true_price(s, row);
    }
    for (size_t i = 0; solution->row_dual != NULL && i < s->rows; i++) {
        solution->row_dual[i] = s->row_dual[i];
    }
    bool wanted = problem->group != NULL && solution->group_dual != NULL;
    for (size_t g = 0; wanted && g < problem->groups; g++) {
        solution->group_dual[g] = s->group != NULL ? s->group_dual[g] : 0.0;
    }
}

static void write_solution(const struct jv *s, const lap_problem *problem, lap_solution *solution)
{
    double total = 0.0;
    for (size_t j = 0; j < s->cols; j++) {
        solution->row_of_col[j] = s->row_of_col[j];
        total += column(s, j)[s->row_of_col[j]];
    }
    solution->total = total;
    write_duals(s, problem, solution);
}

int lap_jv(const lap_problem *problem, lap_solution *solution)
{
    struct jv s;
    int rc = lap_check_input(problem, solution);
    if (rc != 0) {
        return rc;
    }
    rc = set_up(&s, problem);
    if (rc != 0) {
        return rc;
    }
    augmenting_row_reduction(&s);
    rc = augment(&s);
    if (rc == 0) {
        write_solution(&s, problem, solution);
    }
    release(&s);
    return rc;
}
