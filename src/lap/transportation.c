/* SPDX-License-Identifier: BSD-3-Clause */
/* Auctions, then shortest augmenting paths.
 *
 * A row with dual v costs a column the cost of the pair less v. In both parts, each assigned column
 * is on a row that costs it least, and rows with room have dual 0. */
#include "lap/transportation.h"

#include "base/arena.h"
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define NONE SIZE_MAX

/* Bids per column, in the mean. Where many columns want the same rows, bids lower duals in small
 * steps; paths lower them at once. */
enum { BIDS = 16 };

/* One unit of a row's capacity, and its column. */
struct unit {
    double level; /* the least dual of the row that the column accepts, as far as it is known */
    size_t column;
};

struct search {
    const lap_problem *problem;
    size_t *unit_first, *used; /* the units of row i: unit[unit_first[i]] and used[i] - 1 more */
    struct unit *unit;
    size_t *unit_of; /* by column: its place in unit[]; not kept in auctions */
    size_t *row_of;  /* by column; NONE: not assigned */
    double *paid;    /* by column: the cost of its pair */
    double *dual;    /* by row */

    size_t *waiting; /* columns without a row, a ring of `cols` */
    size_t waits_first, waits;

    /* Dijkstra's method; INFINITY: not reached */
    double *distance;
    size_t *from;                       /* by row: the column that reached it */
    size_t *heap, *heap_place, in_heap; /* place NONE: it has left the heap */
    size_t *reached, reaches;           /* rows, in the order in which they were reached */
};

static bool row_has_room(const struct search *s, size_t i)
{
    return s->unit_first[i] + s->used[i] < s->unit_first[i + 1];
}

static void put_column(struct search *s, size_t j, size_t i, double cost)
{
    assert(row_has_room(s, i));
    size_t place = s->unit_first[i] + s->used[i]++;
    s->unit[place] = (struct unit){0.0, j};
    s->unit_of[j] = place;
    s->row_of[j] = i;
    s->paid[j] = cost;
}

/* ---- auctions ---- */

/* The column that accepts least comes first; the order of equal ones follows from the input. */
#define UNIT_PRECEDES(order, a, b) ((void)(order), (a).level > (b).level)
BASE_HEAP(unit_heap, struct unit, const void *, UNIT_PRECEDES, BASE_HEAP_UNPLACED);

/* The cheapest pair of a column, of several one whose row has room, and what the next one costs
 * more. NONE: it has no pairs. */
static size_t find_cheapest(const struct search *s, size_t j, double *difference)
{
    const lap_problem *p = s->problem;
    double least = INFINITY, second = INFINITY;
    size_t cheapest = NONE;
    for (size_t k = p->start[j]; k < p->start[j + 1]; k++) {
        double value = p->cost[k] - s->dual[p->row[k]];
        if (value < least || (value == least && !row_has_room(s, p->row[cheapest]))) {
            second = least;
            least = value;
            cheapest = k;
        } else if (value < second) {
            second = value;
        }
    }
    *difference = second < (double)INFINITY ? second - least : 0.0;
    return cheapest;
}

static void wait(struct search *s, size_t j)
{
    assert(s->waits < s->problem->cols);
    size_t at = s->waits_first + s->waits++;
    s->waiting[at < s->problem->cols ? at : at - s->problem->cols] = j;
}

static size_t next_waiting(struct search *s)
{
    size_t j = s->waiting[s->waits_first];
    s->waits_first = s->waits_first + 1 < s->problem->cols ? s->waits_first + 1 : 0;
    s->waits--;
    return j;
}

/* Takes the place of the column that accepts least. */
static void outbid(struct search *s, size_t j, size_t k, double level)
{
    size_t i = s->problem->row[k];
    struct unit *units = s->unit + s->unit_first[i];
    s->row_of[units->column] = NONE;
    wait(s, units->column);
    unit_heap_down(NULL, units, s->used[i], 0, (struct unit){level, j});
    s->row_of[j] = i;
    s->paid[j] = s->problem->cost[k];
    s->dual[i] = units->level;
}

static void bid(struct search *s, size_t j)
{
    double difference;
    size_t k = find_cheapest(s, j, &difference);
    if (k == NONE)
        return;
    size_t i = s->problem->row[k];
    if (row_has_room(s, i))
        put_column(s, j, i, s->problem->cost[k]);
    else if (difference > 0.0)
        outbid(s, j, k, s->dual[i] - difference);
}

static void hold_auctions(struct search *s)
{
    const lap_problem *p = s->problem;
    size_t bids = BIDS * p->cols;
    for (size_t j = 0; j < p->cols; j++)
        wait(s, j);
    while (s->waits > 0 && bids-- > 0)
        bid(s, next_waiting(s));
    for (size_t i = 0; i < p->rows; i++)
        for (size_t at = s->unit_first[i]; at < s->unit_first[i] + s->used[i]; at++)
            s->unit_of[s->unit[at].column] = at;
}

/* ---- shortest paths ---- */

static inline bool row_precedes(const struct search *s, size_t a, size_t b)
{
    return s->distance[a] < s->distance[b] || (s->distance[a] == s->distance[b] && a < b);
}

#define ROW_PLACED(s, row, at) ((s)->heap_place[row] = (at))
BASE_HEAP(row_heap, size_t, const struct search *, row_precedes, ROW_PLACED);

/* `saved`: the distance of the column, less what it costs now. */
static void scan_column(struct search *s, size_t j, double saved)
{
    const lap_problem *p = s->problem;
    for (size_t k = p->start[j]; k < p->start[j + 1]; k++) {
        size_t i = p->row[k];
        double distance = p->cost[k] - s->dual[i] + saved;
        if (distance >= s->distance[i])
            continue;
        if (s->distance[i] == (double)INFINITY) {
            s->reached[s->reaches++] = i;
            s->heap_place[i] = s->in_heap++;
        } else if (s->heap_place[i] == NONE) {
            continue; /* nearer by rounding alone */
        }
        s->distance[i] = distance;
        s->from[i] = j;
        row_heap_up(s, s->heap, s->heap_place[i], i);
    }
}

static size_t nearest_row(struct search *s)
{
    size_t i = s->heap[0];
    if (--s->in_heap > 0)
        row_heap_down(s, s->heap, s->in_heap, 0, s->heap[s->in_heap]);
    s->heap_place[i] = NONE;
    return i;
}

/* Leads from a column to the nearest row with room; NONE: no path does. */
static size_t find_path(struct search *s, size_t from)
{
    double difference;
    size_t cheapest = find_cheapest(s, from, &difference), row;
    if (cheapest == NONE)
        return NONE;
    row = s->problem->row[cheapest];
    scan_column(s, from, s->dual[row] - s->problem->cost[cheapest]);
    while (s->in_heap > 0) {
        row = nearest_row(s);
        if (row_has_room(s, row))
            return row;
        for (size_t at = s->unit_first[row]; at < s->unit_first[row] + s->used[row]; at++) {
            size_t j = s->unit[at].column;
            scan_column(s, j, s->distance[row] - (s->paid[j] - s->dual[row]));
        }
    }
    return NONE;
}

static double cell_cost(const lap_problem *p, size_t j, size_t i)
{
    size_t k = p->start[j];
    while (p->row[k] != i)
        k++;
    return p->cost[k];
}

/* Each column of the path moves to the row that it reached. */
static void augment_row(struct search *s, size_t row)
{
    for (size_t i = row, left; i != NONE; i = left) {
        size_t j = s->from[i];
        left = s->row_of[j];
        if (left != NONE) {
            size_t last = s->unit_first[left] + --s->used[left];
            s->unit[s->unit_of[j]] = s->unit[last];
            s->unit_of[s->unit[last].column] = s->unit_of[j];
        }
        put_column(s, j, i, cell_cost(s->problem, j, i));
    }
}

static int assign_column(struct search *s, size_t j)
{
    s->reaches = s->in_heap = 0;
    size_t row = find_path(s, j);
    double end = row != NONE ? s->distance[row] : 0.0;
    for (size_t r = 0; r < s->reaches; r++) {
        size_t i = s->reached[r];
        if (s->distance[i] < end)
            s->dual[i] -= end - s->distance[i];
        s->distance[i] = INFINITY;
    }
    if (row == NONE)
        return LAP_INFEASIBLE;
    augment_row(s, row);
    return 0;
}

/* ---- the whole ---- */

static int search_init(struct search *s, struct base_arena *arena, const size_t *capacity)
{
    size_t rows = s->problem->rows, cols = s->problem->cols;
    s->unit_first = base_arena_alloc(arena, rows + 1, sizeof *s->unit_first);
    s->used = base_arena_alloc(arena, rows, sizeof *s->used);
    s->unit_of = base_arena_alloc(arena, cols, sizeof *s->unit_of);
    s->row_of = base_arena_alloc(arena, cols, sizeof *s->row_of);
    s->paid = base_arena_alloc(arena, cols, sizeof *s->paid);
    s->dual = base_arena_alloc(arena, rows, sizeof *s->dual);
    s->waiting = base_arena_alloc(arena, cols, sizeof *s->waiting);
    s->distance = base_arena_alloc(arena, rows, sizeof *s->distance);
    s->from = base_arena_alloc(arena, rows, sizeof *s->from);
    s->heap = base_arena_alloc(arena, rows, sizeof *s->heap);
    s->heap_place = base_arena_alloc(arena, rows, sizeof *s->heap_place);
    s->reached = base_arena_alloc(arena, rows, sizeof *s->reached);
    if (arena->failed)
        return -ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        size_t units = capacity[i] < cols ? capacity[i] : cols;
        if (__builtin_add_overflow(s->unit_first[i], units, &s->unit_first[i + 1]))
            return -ENOMEM;
        s->distance[i] = INFINITY;
    }
    for (size_t j = 0; j < cols; j++)
        s->row_of[j] = NONE;
    s->unit = base_arena_alloc(arena, s->unit_first[rows], sizeof *s->unit);
    return s->unit == NULL ? -ENOMEM : 0;
}

static void write_columns(const struct search *s, lap_solution *solution)
{
    size_t rows = s->problem->rows, cols = s->problem->cols;
    solution->total = 0.0;
    for (size_t j = 0; j < cols; j++) {
        size_t i = s->row_of[j];
        solution->row_of_col[j] = i;
        solution->col_dual[j] = s->paid[j] - s->dual[i];
        solution->total += s->paid[j];
    }
    memcpy(solution->row_dual, s->dual, rows * sizeof *s->dual);
}

int lap_transportation(const lap_problem *problem, const size_t *capacity, lap_solution *solution)
{
    struct base_arena arena = {0};
    struct search s = {.problem = problem};
    int rc = search_init(&s, &arena, capacity);
    if (rc == 0)
        hold_auctions(&s);
    for (size_t j = 0; j < problem->cols && rc == 0; j++)
        if (s.row_of[j] == NONE)
            rc = assign_column(&s, j);
    if (rc == 0)
        write_columns(&s, solution);
    base_arena_release(&arena);
    return rc;
}
