/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of pairs from a Matrix Market file. */
#include "matrix/market.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct pair {
    size_t row, col;
    market_number value;
};

/* Values as read: of all pairs column by column, or of listed pairs. */
struct collection {
    size_t rows, cols;
    int array, real;
    locale_t c_locale;
    market_number *value;
    struct pair *pair;
    size_t count;
};

/* ---- reading ---- */

static int begin_costs(void *context, matrix_scan *scan, const market_layout *layout)
{
    struct collection *c = context;
    size_t copies = layout->symmetric ? 2 : 1, capacity;
    (void)scan;
    c->rows = layout->rows;
    c->cols = layout->cols;
    c->array = layout->array;
    c->real = layout->field == MARKET_REAL;
    if (c->array ? __builtin_mul_overflow(c->rows, c->cols, &capacity)
                 : __builtin_mul_overflow(layout->stored, copies, &capacity))
        return -ENOMEM;
    if (c->array)
        c->value = calloc(capacity | 1, sizeof *c->value);
    else
        c->pair = calloc(capacity | 1, sizeof *c->pair);
    return c->value != NULL || c->pair != NULL ? 0 : -ENOMEM;
}

static int read_real(void *context, matrix_scan *scan, market_number *value)
{
    const struct collection *c = context;
    return matrix_scan_double(scan, c->c_locale, "a cost", &value->real);
}

static int add_cost(void *context, size_t row, size_t col, market_number value)
{
    struct collection *c = context;
    if (c->array)
        c->value[col * c->rows + row] = value;
    else
        c->pair[c->count++] = (struct pair){row, col, value};
    return 0;
}

/* ---- pairs in order ---- */

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = (x->col > y->col) - (x->col < y->col);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
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

/* Sorts the pairs by column and row; costs of the same pair are added up. */
static int sort_pairs(const struct collection *c, size_t *start, size_t *row, market_number *value)
{
    size_t kept = 0;
    qsort(c->pair, c->count, sizeof *c->pair, compare_pairs);
    for (size_t j = 0, k = 0; j < c->cols; j++) {
        start[j] = kept;
        for (; k < c->count && c->pair[k].col == j; k++) {
            const struct pair *pair = &c->pair[k];
            if (kept == start[j] || row[kept - 1] != pair->row) {
                row[kept] = pair->row;
                value[kept++] = pair->value;
            } else if (add_number(c->real, &value[kept - 1], pair->value) != 0) {
                return -ERANGE;
            }
        }
    }
    start[c->cols] = kept;
    return 0;
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
    size_t *start = calloc(c->cols + 1, sizeof *start), *row = calloc(c->count | 1, sizeof *row);
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
    free(c.pair);
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
