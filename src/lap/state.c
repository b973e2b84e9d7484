/* SPDX-License-Identifier: BSD-3-Clause */
/* What all solvers share: set-up, paths with group capacities, the answer. */
#include "lap/state.h"

#include "lap/candidates.h"
#include "lap/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory: a chain of blocks, freed together ---- */

union block {
    union block *next;
    max_align_t alignment;
};

void *TYPED(allocate)(struct state *s, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(union block), &bytes))
        return NULL;
    union block *block = calloc(1, bytes);
    if (block == NULL)
        return NULL;
    block->next = s->blocks;
    s->blocks = block;
    return block + 1;
}

static void release(struct state *s)
{
    union block *block = s->blocks;
    while (block != NULL) {
        union block *next = block->next;
        free(block);
        block = next;
    }
}

static void *allocate_none(struct state *s, size_t count)
{
    size_t *array = TYPED(allocate)(s, count, sizeof *array);
    for (size_t k = 0; array != NULL && k < count; k++)
        array[k] = NONE;
    return array;
}

/* ---- one form for all problems ---- */

static const cost_t *costs_of(const lap_problem *problem)
{
#ifdef LAP_INTEGER
    return problem->integer_cost;
#else
    return problem->cost;
#endif
}

/* In squares that stay in the cache, so that neither side is read with large strides. */
static int transpose_dense(struct state *s, const lap_problem *problem)
{
    enum { SIDE = 32 };
    const cost_t *cost = costs_of(problem);
    size_t rows = problem->rows, cols = problem->cols;
    cost_t *copy = TYPED(allocate)(s, rows * cols, sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < cols; j += SIDE) {
        size_t end = cols - j < SIDE ? cols : j + SIDE;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = j; k < end; k++)
                copy[i * cols + k] = cost[k * rows + i];
    }
    s->cost = copy;
    return 0;
}

static int transpose_sparse(struct state *s, const lap_problem *problem)
{
    const cost_t *cost = costs_of(problem);
    size_t entries = lap_pairs(problem);
    size_t *start = TYPED(allocate)(s, problem->rows + 2, sizeof *start);
    size_t *col = TYPED(allocate)(s, entries, sizeof *col);
    cost_t *copy = TYPED(allocate)(s, entries, sizeof *copy);
    if (start == NULL || col == NULL || copy == NULL)
        return -ENOMEM;
    /* start[i + 1] is where the next entry of row i goes, and at last where row i ends. */
    for (size_t k = 0; k < entries; k++)
        start[problem->row[k] + 2]++;
    for (size_t i = 1; i <= problem->rows; i++)
        start[i + 1] += start[i];
    for (size_t j = 0; j < problem->cols; j++) {
        for (size_t k = problem->start[j]; k < problem->start[j + 1]; k++) {
            size_t place = start[problem->row[k] + 1]++;
            col[place] = j;
            copy[place] = cost[k];
        }
    }
    s->cost = copy;
    s->start = start;
    s->entry_object = col;
    return 0;
}

static int orient(struct state *s, const lap_problem *problem)
{
    s->problem = problem;
    s->transposed = problem->cols > problem->rows;
    s->persons = s->transposed ? problem->rows : problem->cols;
    s->objects = s->transposed ? problem->cols : problem->rows;
    if (s->transposed)
        return problem->start != NULL ? transpose_sparse(s, problem) : transpose_dense(s, problem);
    s->cost = costs_of(problem);
    s->start = problem->start;
    s->entry_object = problem->row;
    return 0;
}

/* A capacity binds only where there are more columns than it lets in. */
static bool capacity_may_bind(const lap_problem *problem)
{
    return problem->group != NULL && problem->group_capacity > 0 &&
           problem->group_capacity < problem->cols;
}

static int set_costs(struct state *s, const lap_problem *problem)
{
    int rc = orient(s, problem);
    if (rc != 0)
        return rc;
    if (s->start == NULL && is_wide(s) && !capacity_may_bind(problem))
        return TYPED(keep_candidates)(s);
    return TYPED(check)(problem, costs_of(problem), lap_pairs(problem));
}

/* ---- groups ---- */

/* With more columns than rows every row gets one, so a capacity never makes a choice. */
static bool rows_fit_capacity(const struct state *s)
{
    const lap_problem *problem = s->problem;
    for (size_t g = 0; g < s->groups; g++)
        if (s->first_member[g + 1] - s->first_member[g] > problem->group_capacity)
            return false;
    return true;
}

static void list_members(struct state *s)
{
    for (size_t i = 0; i < s->problem->rows; i++)
        s->first_member[s->group[i] + 1]++;
    for (size_t g = 0; g < s->groups; g++) {
        s->first_member[g + 1] += s->first_member[g];
        s->entrance[g] = s->first_member[g]; /* where the next member goes */
    }
    for (size_t i = 0; i < s->problem->rows; i++)
        s->members[s->entrance[s->group[i]]++] = i;
}

static int set_groups(struct state *s, const lap_problem *problem)
{
    if (!capacity_may_bind(problem))
        return 0;
    s->group = problem->group;
    s->groups = problem->groups;
    s->capacity = problem->group_capacity;
    s->group_dual = TYPED(allocate)(s, s->groups, sizeof *s->group_dual);
    s->entered_at = TYPED(allocate)(s, s->groups, sizeof *s->entered_at);
    s->is_entered = TYPED(allocate)(s, s->groups, sizeof *s->is_entered);
    s->load = TYPED(allocate)(s, s->groups, sizeof *s->load);
    s->entered = TYPED(allocate)(s, s->groups, sizeof *s->entered);
    s->entrance = TYPED(allocate)(s, s->groups, sizeof *s->entry_object);
    s->first_member = TYPED(allocate)(s, s->groups + 1, sizeof *s->first_member);
    s->members = TYPED(allocate)(s, problem->rows, sizeof *s->members);
    if (s->group_dual == NULL || s->entered_at == NULL || s->is_entered == NULL ||
        s->load == NULL || s->entered == NULL || s->entrance == NULL || s->first_member == NULL ||
        s->members == NULL)
        return -ENOMEM;
    list_members(s);
    if (!s->transposed)
        return 0;
    int rc = rows_fit_capacity(s) ? 0 : LAP_INFEASIBLE;
    s->group = NULL;
    s->groups = 0;
    return rc;
}

static int set_up(struct state *s, const lap_problem *problem)
{
    int rc = set_costs(s, problem);
    if (rc == 0)
        rc = set_groups(s, problem);
    if (rc != 0)
        return rc;
    s->object_of = allocate_none(s, s->persons);
    s->person_of = allocate_none(s, s->objects);
    s->paid = TYPED(allocate)(s, s->objects, sizeof *s->paid);
    s->dual = TYPED(allocate)(s, s->objects, sizeof *s->dual);
    s->price = TYPED(allocate)(s, s->objects, sizeof *s->price);
    s->from = TYPED(allocate)(s, s->objects, sizeof *s->from);
    s->order = TYPED(allocate)(s, s->objects, sizeof *s->order);
    s->settled_at = TYPED(allocate)(s, s->objects, sizeof *s->settled_at);
    bool complete = s->object_of != NULL && s->person_of != NULL && s->paid != NULL &&
                    s->dual != NULL && s->price != NULL && s->from != NULL && s->order != NULL &&
                    s->settled_at != NULL;
    return complete ? 0 : -ENOMEM;
}

/* ---- paths ---- */

cost_t TYPED(cost_of)(const struct state *s, size_t person, size_t object)
{
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL)
        return pairs.cost[object];
    size_t low = 0, high = pairs.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(pairs.object[middle] <= object ? &low : &high) = middle;
    }
    return pairs.cost[low];
}

void TYPED(begin)(struct state *s)
{
    for (size_t k = 0; k < s->groups_entered; k++)
        s->is_entered[s->entered[k]] = false;
    s->settled = 0;
    s->groups_entered = 0;
}

void TYPED(enter_group)(struct state *s, size_t object, cost_t at)
{
    size_t g = s->group[object];
    s->is_entered[g] = true;
    s->entered[s->groups_entered++] = g;
    s->entered_at[g] = at;
    s->entrance[g] = object;
}

/* An assigned member keeps its price, unless it was settled itself. Rounding must not
 * make a dual positive. */
static void lower_group(struct state *s, size_t g, cost_t drop)
{
    s->group_dual[g] -= drop;
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        cost_t dual = s->dual[member] + (is_free(s, member) ? 0 : drop);
        set_dual(s, member, dual < 0 ? dual : 0);
    }
}

void TYPED(change_duals)(struct state *s, cost_t distance)
{
    for (size_t k = 0; k < s->settled; k++) {
        size_t object = s->order[k];
        set_dual(s, object, s->dual[object] - (distance - s->settled_at[object]));
    }
    for (size_t k = 0; k < s->groups_entered; k++)
        lower_group(s, s->entered[k], distance - s->entered_at[s->entered[k]]);
}

void TYPED(flip_path)(struct state *s, size_t object)
{
    if (s->group != NULL)
        s->load[s->group[object]]++;
    while (object != NONE) {
        if (s->from[object] == NONE) {
            s->person_of[object] = NONE;
            set_dual(s, object, 0);
            object = s->entrance[s->group[object]];
        }
        size_t person = s->from[object];
        size_t left = s->object_of[person];
        give(s, person, object);
        object = left;
    }
}

/* ---- the answer ---- */

static void write_person_duals(const struct state *s, cost_t *out)
{
    for (size_t i = 0; out != NULL && i < s->persons; i++) {
        size_t object = s->object_of[i];
        out[i] = person_dual(s, object);
    }
}

static size_t whole_object(const struct state *s, size_t object)
{
    return s->whole_object != NULL ? s->whole_object[object] : object;
}

static void write_object_duals(const struct state *s, cost_t *out, size_t count)
{
    for (size_t i = 0; out != NULL && i < count; i++)
        out[i] = 0;
    for (size_t i = 0; out != NULL && i < s->objects; i++)
        out[whole_object(s, i)] = s->dual[i];
}

static void write_duals(const struct state *s, cost_t *row_dual, cost_t *col_dual,
                        cost_t *group_dual)
{
    write_person_duals(s, s->transposed ? row_dual : col_dual);
    if (s->transposed)
        write_object_duals(s, col_dual, s->problem->cols);
    else
        write_object_duals(s, row_dual, s->problem->rows);
    bool wanted = s->problem->group != NULL && group_dual != NULL;
    for (size_t g = 0; wanted && g < s->problem->groups; g++)
        group_dual[g] = s->group != NULL ? s->group_dual[g] : 0;
}

static cost_t write_assignment(const struct state *s, size_t *row_of_col)
{
    cost_t total = 0;
    for (size_t k = 0; k < s->problem->cols; k++)
        row_of_col[k] = LAP_UNASSIGNED;
    for (size_t k = 0; k < s->persons; k++) {
        size_t object = whole_object(s, s->object_of[k]);
        row_of_col[s->transposed ? object : k] = s->transposed ? k : object;
        total += s->paid[s->object_of[k]];
    }
    return total;
}

static void write_solution(const struct state *s, lap_solution *solution)
{
    cost_t total = write_assignment(s, solution->row_of_col);
    solution->total = (double)total;
#ifdef LAP_INTEGER
    solution->integer_total = total;
    write_duals(s, solution->integer_row_dual, solution->integer_col_dual,
                solution->integer_group_dual);
#else
    write_duals(s, solution->row_dual, solution->col_dual, solution->group_dual);
#endif
}

int TYPED(run)(const lap_problem *problem, lap_solution *solution, int (*solve)(struct state *))
{
    struct state s = {0};
    int rc = lap_check_shape(problem, solution);
    if (rc == 0)
        rc = set_up(&s, problem);
    if (rc == 0)
        rc = solve(&s);
    if (rc == 0)
        write_solution(&s, solution);
    release(&s);
    return rc;
}
