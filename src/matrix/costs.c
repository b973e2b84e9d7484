/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of pairs from a Matrix Market file. */
#include "matrix/market.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

/* Values as read: of all pairs column by column, or of listed pairs with row and column. */
struct collection {
    size_t rows, cols;
    int array, real;
    locale_t c_locale;
    market_number *value;
    size_t *row, *col;
    size_t count, capacity;
};

/* ---- reading ---- */

static int begin_costs(void *context, matrix_scan *scan, const market_layout *layout)
{
    struct collection *c = context;
    size_t copies = layout->symmetric ? 2 : 1;
    (void)scan;
    c->rows = layout->rows;
    c->cols = layout->cols;
    c->array = layout->array;
    c->real = layout->field == MARKET_REAL;
    if (c->array ? __builtin_mul_overflow(c->rows, c->cols, &c->capacity)
                 : __builtin_mul_overflow(layout->stored, copies, &c->capacity))
        return -ENOMEM;
    c->value = calloc(c->capacity | 1, sizeof *c->value);
    if (c->array)
        return c->value != NULL ? 0 : -ENOMEM;
    c->row = calloc(c->capacity | 1, sizeof *c->row);
    c->col = calloc(c->capacity | 1, sizeof *c->col);
    return c->value != NULL && c->row != NULL && c->col != NULL ? 0 : -ENOMEM;
}

static int read_real(void *context, matrix_scan *scan, market_number *value)
{
    const struct collection *c = context;
    return matrix_scan_double(scan, c->c_locale, "a cost", &value->real);
}

static int add_cost(void *context, size_t row, size_t col, market_number value)
{
    struct collection *c = context;
    if (c->array) {
        c->value[col * c->rows + row] = value;
        return 0;
    }
    c->row[c->count] = row;
    c->col[c->count] = col;
    c->value[c->count++] = value;
    return 0;
}

/* ---- pairs in order ---- */

/* Counting sort of `from` by key, stable. Elements of a key get start[key] .. start[key + 1] - 1;
 * start has keys + 2 entries of 0. */
static void sort_by_key(const size_t *key, size_t *start, size_t keys, const size_t *from,
                        size_t *to, size_t count)
{
    for (size_t k = 0; k < count; k++)
        start[key[k] + 2]++;
    for (size_t k = 1; k <= keys; k++)
        start[k + 1] += start[k];
    for (size_t k = 0; k < count; k++) {
        size_t pair = from != NULL ? from[k] : k;
        to[start[key[pair] + 1]++] = pair;
    }
}

/* Adds another cost of the same pair. -1: beyond the range of the numbers. */
static int add_number(int real, market_number *sum, market_number value)
{
    if (!real)
        return __builtin_add_overflow(sum->whole, value.whole, &sum->whole) ? -1 : 0;
    double total = sum->real + value.real;
    if (isinf(total) && !isinf(sum->real) && !isinf(value.real))
        return -1;
    sum->real = total;
    return 0;
}

/* Copies the pairs in `order`; costs of the same pair are added up. */
static int copy_sorted_pairs(const struct collection *c, const size_t *order, size_t *start,
                             size_t *row, market_number *value)
{
    size_t kept = 0;
    for (size_t j = 0, k = 0; j < c->cols; j++) {
        size_t first = kept, end = start[j + 1];
        start[j] = first;
        for (; k < end; k++) {
            size_t pair = order[k];
            if (kept > first && row[kept - 1] == c->row[pair]) {
                if (add_number(c->real, &value[kept - 1], c->value[pair]) != 0)
                    return -ERANGE;
                continue;
            }
            row[kept] = c->row[pair];
            value[kept++] = c->value[pair];
        }
    }
    start[c->cols] = kept;
    return 0;
}

static int sort_pairs(const struct collection *c, size_t *start, size_t *row, market_number *value)
{
    struct base_arena arena = {0};
    size_t *of_row = base_arena_alloc(&arena, c->rows + 2, sizeof *of_row);
    size_t *by_row = base_arena_alloc(&arena, c->count, sizeof *by_row);
    size_t *order = base_arena_alloc(&arena, c->count, sizeof *order);
    int rc = arena.failed ? -ENOMEM : 0;
    if (rc == 0) {
        sort_by_key(c->row, of_row, c->rows, NULL, by_row, c->count);
        sort_by_key(c->col, start, c->cols, by_row, order, c->count);
        rc = copy_sorted_pairs(c, order, start, row, value);
    }
    base_arena_release(&arena);
    return rc;
}

/* ---- results ---- */

/* The members of the union start at one address, so an array of unions is an array of either. */
static void set_values(const struct collection *c, market_number *value, matrix_costs *costs)
{
    costs->rows = c->rows;
    costs->cols = c->cols;
    if (c->real)
        costs->real = &value->real;
    else
        costs->whole = &value->whole;
}

static int build_pair_list(matrix_scan *scan, const struct collection *c, matrix_costs *costs)
{
    size_t *start = calloc(c->cols + 2, sizeof *start), *row = calloc(c->count | 1, sizeof *row);
    market_number *value = calloc(c->count | 1, sizeof *value);
    int rc =
        start == NULL || row == NULL || value == NULL ? -ENOMEM : sort_pairs(c, start, row, value);
    if (rc == 0) {
        *costs = (matrix_costs){.start = start, .row = row};
        set_values(c, value, costs);
        return 0;
    }
    free(start);
    free(row);
    free(value);
    return rc != -ERANGE
               ? rc
               : matrix_refuse(scan->error, 0, "costs of one pair add up beyond the range of %s",
                               c->real ? "a double" : "64 bits");
}

static int read_market_costs(matrix_scan *scan, struct collection *c, matrix_costs *costs)
{
    const market_sink sink = {c, begin_costs, read_real, add_cost};
    int rc = market_read(scan, &sink, NULL);
    if (rc != 0)
        return rc;
    if (!c->array)
        return build_pair_list(scan, c, costs);
    *costs = (matrix_costs){0};
    set_values(c, c->value, costs);
    c->value = NULL;
    return 0;
}

int matrix_read_costs(FILE *stream, matrix_costs *costs, matrix_error *error)
{
    matrix_scan scan;
    struct collection c = {.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (c.c_locale == (locale_t)0)
        return -ENOMEM;
    int rc = matrix_scan_init(&scan, stream, error);
    if (rc == 0)
        rc = read_market_costs(&scan, &c, costs);
    freelocale(c.c_locale);
    free(c.value);
    free(c.row);
    free(c.col);
    return rc;
}

void matrix_costs_release(matrix_costs *costs)
{
    free(costs->start);
    free(costs->row);
    free(costs->whole);
    free(costs->real);
    *costs = (matrix_costs){0};
}
