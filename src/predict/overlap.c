/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of bins by file domain. */
#include "predict/overlap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

recorded_range recorded_range_of(const access_pattern *pattern, const matrix *bytes)
{
    size_t last = 0;
    __int128 inside = 0;
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        if (bytes->col[i] > last)
            last = bytes->col[i];
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        if (bytes->col[i] == last)
            inside += bytes->value[i];
    __int128 length = (inside + pattern->calls - 1) / pattern->calls;
    if (length > pattern->unit)
        length = pattern->unit;
    return (recorded_range){
        .lo = pattern->first,
        .hi = pattern->first + (int64_t)last * pattern->unit + (length > 0 ? (int64_t)length : 1),
        .unit = pattern->unit,
        .bins = last + 1,
    };
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int overlap_find(const recorded_range *range, const file_domains *domains, matrix *parts)
{
    matrix_builder builder = {.rows = range->bins, .cols = domains->count};
    int64_t period = range->hi - range->lo;
    size_t near = 0;
    int rc = 0;
    if (domains->stripe > 0 && (int64_t)domains->columns < period / domains->stripe)
        period = (int64_t)domains->columns * domains->stripe;
    for (size_t b = 0; b < range->bins && rc == 0; b++) {
        int64_t from = range->lo + (int64_t)b * range->unit;
        int64_t end = from + least(least(range->unit, range->hi - from), period);
        while (from < end && rc == 0) {
            domain_range at = domains_range_at(domains, from, &near);
            int64_t to = least(at.hi, end);
            rc = matrix_builder_add(&builder, b, at.domain, to - from);
            from = to;
        }
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, parts);
    matrix_builder_clear(&builder);
    return rc;
}

/* ---- bytes by domain ---- */

/* A row of the result. */
typedef struct spread_row {
    int64_t *sum;    /* by domain; zeroed before and after */
    size_t *touched; /* domains with bytes */
    size_t count;
} spread_row;

/* The parts add up to the bytes of the bin. */
static void spread_bin(int64_t bytes, const matrix *parts, size_t bin, spread_row *row)
{
    size_t first = parts->row_start[bin], end = parts->row_start[bin + 1];
    __int128 length = 0, before = 0;
    int64_t given = 0;
    for (size_t i = first; i < end; i++)
        length += parts->value[i];
    for (size_t i = first; i < end; i++) {
        before += parts->value[i];
        int64_t upto = (int64_t)(bytes * before / length), share = upto - given;
        given = upto;
        if (share > 0 && row->sum[parts->col[i]] == 0)
            row->touched[row->count++] = parts->col[i];
        row->sum[parts->col[i]] += share;
    }
}

static int compare_domains(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Appends the row to the result, whose arrays have room for `capacity` entries, and clears it. */
static int flush_row(spread_row *row, size_t at, matrix *result, size_t *capacity)
{
    size_t entries = result->row_start[at], columns = *capacity, values = *capacity;
    if (base_reserve(&result->col, &columns, entries + row->count, sizeof *result->col) != 0 ||
        base_reserve(&result->value, &values, entries + row->count, sizeof *result->value) != 0)
        return -ENOMEM;
    *capacity = columns < values ? columns : values;
    qsort(row->touched, row->count, sizeof *row->touched, compare_domains);
    for (size_t i = 0; i < row->count; i++) {
        result->col[entries] = row->touched[i];
        result->value[entries++] = row->sum[row->touched[i]];
        row->sum[row->touched[i]] = 0;
    }
    result->row_start[at + 1] = entries;
    row->count = 0;
    return 0;
}

int overlap_spread(const matrix *bytes, const matrix *parts, matrix *result)
{
    spread_row row = {calloc(parts->cols, sizeof *row.sum), calloc(parts->cols, sizeof(size_t)), 0};
    matrix made = {0};
    size_t capacity = 0;
    int rc = matrix_allocate(&made, bytes->rows, parts->cols, 0);
    if (rc == 0 && (row.sum == NULL || row.touched == NULL))
        rc = -ENOMEM;
    for (size_t r = 0; r < bytes->rows && rc == 0; r++) {
        for (size_t i = bytes->row_start[r]; i < bytes->row_start[r + 1]; i++)
            spread_bin(bytes->value[i], parts, bytes->col[i], &row);
        rc = flush_row(&row, r, &made, &capacity);
    }
    free(row.sum);
    free(row.touched);
    if (rc == 0)
        *result = made;
    else
        matrix_release(&made);
    return rc;
}

size_t overlap_count(const matrix *bytes, const matrix *parts)
{
    size_t count = 0;
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        count += parts->row_start[bytes->col[i] + 1] - parts->row_start[bytes->col[i]];
    return count;
}
