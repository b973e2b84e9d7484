/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of pairs from a Matrix Market file. */
#include "base/memory.h"
#include "matrix/market.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int by_column(const void *a, const void *b)
{
    const matrix_entry *x = a, *y = b;
    int order = (x->col > y->col) - (x->col < y->col);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static int allocate_pairs(matrix_costs *c, size_t count, bool real)
{
    int rc = 0;
    c->start = base_zeroed(c->cols + 1, sizeof *c->start, &rc);
    c->row = base_zeroed(count, sizeof *c->row, &rc);
    if (real)
        c->real = base_zeroed(count, sizeof *c->real, &rc);
    else
        c->whole = base_zeroed(count, sizeof *c->whole, &rc);
    return rc;
}

/* Adds the cost of an entry to that of a pair. False: beyond the range of the numbers. */
static bool add_cost(matrix_costs *c, size_t pair, const matrix_entry *entry)
{
    if (c->whole != NULL)
        return !__builtin_add_overflow(c->whole[pair], entry->value, &c->whole[pair]);
    double cost = market_real(entry);
    bool infinite = isinf(c->real[pair]) || isinf(cost);
    c->real[pair] += cost;
    return infinite || !isinf(c->real[pair]);
}

/* Lists the pairs by column and row; costs of the same pair are added up. */
static int list_pairs(market_file *f)
{
    matrix_costs *c = &f->costs;
    size_t pairs = 0;
    int rc = allocate_pairs(c, f->entries, f->real);
    if (rc == 0)
        qsort(f->entry, f->entries, sizeof *f->entry, by_column);
    for (size_t k = 0; k < f->entries && rc == 0; k++) {
        const matrix_entry *e = &f->entry[k];
        if (k == 0 || by_column(e - 1, e) != 0)
            c->row[pairs++] = e->row;
        if (!add_cost(c, pairs - 1, e))
            rc = -ERANGE;
        c->start[e->col + 1] = pairs;
    }
    for (size_t j = 0; j < c->cols && rc == 0; j++)
        if (c->start[j + 1] < c->start[j])
            c->start[j + 1] = c->start[j];
    return rc;
}

int matrix_read_costs(FILE *stream, matrix_costs *costs, matrix_error *error)
{
    matrix_scan scan;
    market_file f = {.weights = false};
    matrix_scan_init(&scan, stream, error);
    market_scan(&scan, &f);
    int rc = scan.rc == 0 && !f.array ? list_pairs(&f) : scan.rc;
    if (rc == -ERANGE)
        rc = matrix_refuse(error, 0, "costs of one pair add up beyond the range of %s",
                           f.real ? "a double" : "64 bits");
    if (rc == 0) {
        *costs = f.costs;
        f.costs = (matrix_costs){0};
    }
    market_release(&f);
    return rc;
}
