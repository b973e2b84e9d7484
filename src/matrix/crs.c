/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices in compressed row storage: construction, access, sum. */
#include "matrix/matrix.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int matrix_allocate(matrix *m, size_t rows, size_t cols, size_t nnz)
{
    matrix made = {.rows = rows, .cols = cols};
    if (rows == SIZE_MAX)
        return -ENOMEM;
    made.row_start = calloc(rows + 1, sizeof *made.row_start);
    made.col = calloc(nnz | 1, sizeof *made.col);
    made.value = calloc(nnz | 1, sizeof *made.value);
    if (made.row_start == NULL || made.col == NULL || made.value == NULL) {
        matrix_release(&made);
        return -ENOMEM;
    }
    *m = made;
    return 0;
}

void matrix_release(matrix *m)
{
    free(m->row_start);
    free(m->col);
    free(m->value);
    memset(m, 0, sizeof *m);
}

static int compare_positions(const void *a, const void *b)
{
    const matrix_entry *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->col > y->col) - (x->col < y->col);
}

/* By rows or by columns, where those that are alike keep their order. */
static void distribute(const matrix_entry *from, matrix_entry *to, size_t count, bool by_row,
                       size_t *start, size_t most)
{
    memset(start, 0, (most + 1) * sizeof *start);
    for (size_t i = 0; i < count; i++)
        start[(by_row ? from[i].row : from[i].col) + 1]++;
    for (size_t k = 0; k < most; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < count; i++)
        to[start[by_row ? from[i].row : from[i].col]++] = from[i];
}

/* Rows and columns are below `most`. -ENOMEM. */
static int distribute_twice(matrix_entry *entries, size_t count, size_t most)
{
    int rc = 0;
    matrix_entry *copy = base_zeroed(count, sizeof *copy, &rc);
    size_t *start = base_zeroed(most + 1, sizeof *start, &rc);
    if (rc == 0) {
        distribute(entries, copy, count, false, start, most);
        distribute(copy, entries, count, true, start, most);
    }
    free(start);
    free(copy);
    return rc;
}

/* Most callers provide them in order, which is cheaper to check than to sort. -ENOMEM. */
static int sort_entries(matrix_entry *entries, size_t count)
{
    size_t most = 0;
    bool is_sorted = true;
    for (size_t i = 0; i < count; i++) {
        size_t larger = entries[i].row > entries[i].col ? entries[i].row : entries[i].col;
        most = larger >= most ? larger + 1 : most;
        is_sorted &= i == 0 || compare_positions(&entries[i - 1], &entries[i]) <= 0;
    }
    if (is_sorted)
        return 0;
    if (most <= count)
        return distribute_twice(entries, count, most);
    qsort(entries, count, sizeof *entries, compare_positions);
    return 0;
}

/* The sum of up to 2^64 int64 fits 128 bits, so that only the result can be out of range. */
int matrix_add_up(matrix_entry *entries, size_t *count, bool zeros)
{
    size_t used = 0;
    int rc = sort_entries(entries, *count);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < *count;) {
        matrix_entry sum = entries[i];
        __int128 total = 0;
        for (; i < *count && compare_positions(&sum, &entries[i]) == 0; i++)
            total += entries[i].value;
        sum.value = (int64_t)total;
        if (sum.value != total)
            return -ERANGE;
        if (zeros || sum.value != 0)
            entries[used++] = sum;
    }
    *count = used;
    return 0;
}

int matrix_from_entries(matrix *m, size_t rows, size_t cols, matrix_entry *entries, size_t count)
{
    matrix made;
    int rc = matrix_add_up(entries, &count, true);
    if (rc == 0)
        rc = matrix_allocate(&made, rows, cols, count);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        assert(entries[i].row < rows && entries[i].col < cols);
        made.row_start[entries[i].row + 1]++;
        made.col[i] = entries[i].col;
        made.value[i] = entries[i].value;
    }
    for (size_t row = 0; row < rows; row++)
        made.row_start[row + 1] += made.row_start[row];
    *m = made;
    return 0;
}

static int compare_indices(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int64_t matrix_get(const matrix *m, size_t row, size_t col)
{
    size_t first = m->row_start[row], count = m->row_start[row + 1] - first;
    const size_t *found = bsearch(&col, m->col + first, count, sizeof col, compare_indices);
    return found != NULL ? m->value[found - m->col] : 0;
}

bool matrix_is_nonnegative(const matrix *m)
{
    for (size_t i = 0, nnz = matrix_entries(m); i < nnz; i++)
        if (m->value[i] < 0)
            return false;
    return true;
}

bool matrix_is_symmetric(const matrix *m)
{
    for (size_t row = 0; row < m->rows; row++)
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
            if (matrix_get(m, m->col[i], row) != m->value[i])
                return false;
    return true;
}

bool matrix_equals(const matrix *a, int64_t times_a, const matrix *b, int64_t times_b)
{
    size_t nnz = matrix_entries(a);
    if (a->rows != b->rows || a->cols != b->cols || nnz != matrix_entries(b))
        return false;
    if (nnz == 0)
        return true;
    if (memcmp(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start) != 0 ||
        memcmp(a->col, b->col, nnz * sizeof *a->col) != 0)
        return false;
    for (size_t i = 0; i < nnz; i++)
        if ((__int128)a->value[i] * times_a != (__int128)b->value[i] * times_b)
            return false;
    return true;
}

/* Rows are visited in order, so that the columns of each transposed row ascend. */
int matrix_transpose(matrix *transposed, const matrix *m)
{
    size_t nnz = matrix_entries(m);
    int rc = matrix_allocate(transposed, m->cols, m->rows, nnz);
    if (rc != 0)
        return rc;
    size_t *start = transposed->row_start;
    for (size_t i = 0; i < nnz; i++)
        start[m->col[i] + 1]++;
    for (size_t row = 0; row < transposed->rows; row++)
        start[row + 1] += start[row];
    for (size_t row = 0; nnz > 0 && row < m->rows; row++) {
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++) {
            size_t at = start[m->col[i]]++;
            transposed->col[at] = row;
            transposed->value[at] = m->value[i];
        }
    }
    /* Filling has advanced each start to that of the next row. */
    memmove(start + 1, start, transposed->rows * sizeof *start);
    start[0] = 0;
    return 0;
}

/* Adds up the entries of a column, which are adjacent in each row, and drops zeros. */
static int merge_columns(matrix *m)
{
    size_t used = 0;
    for (size_t row = 0, i = 0; row < m->rows; row++) {
        m->row_start[row] = used;
        for (size_t end = m->row_start[row + 1]; i < end;) {
            size_t col = m->col[i];
            int64_t sum = 0;
            for (; i < end && m->col[i] == col; i++)
                if (__builtin_add_overflow(sum, m->value[i], &sum))
                    return -ERANGE;
            m->col[used] = col;
            m->value[used] = sum;
            used += sum != 0;
        }
    }
    m->row_start[m->rows] = used;
    return 0;
}

/* Two transpositions sort the entries of a group by their columns. */
int matrix_sum_rows(matrix *sums, const matrix *m, const size_t *group_of_row, size_t groups)
{
    matrix by_column, made = {0};
    int rc = matrix_transpose(&by_column, m);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < matrix_entries(&by_column); i++) {
        by_column.col[i] = group_of_row[by_column.col[i]];
        assert(by_column.col[i] < groups);
    }
    by_column.cols = groups;
    rc = matrix_transpose(&made, &by_column);
    matrix_release(&by_column);
    if (rc == 0)
        rc = merge_columns(&made);
    if (rc == 0)
        *sums = made;
    else
        matrix_release(&made);
    return rc;
}

int matrix_sum(const matrix *m, int64_t *sum)
{
    __int128 total = 0;
    for (size_t i = 0; i < matrix_entries(m); i++)
        total += m->value[i];
    if ((int64_t)total != total)
        return -ERANGE;
    *sum = (int64_t)total;
    return 0;
}

int matrix_cut(matrix *part, const matrix *m, const size_t *row, size_t rows, bool square)
{
    size_t count = 0;
    matrix_entry *entry = base_alloc(matrix_entries(m), sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = m->row_start[row[i]]; k < m->row_start[row[i] + 1]; k++) {
            const size_t *col = &m->col[k];
            const size_t *found =
                square ? bsearch(col, row, rows, sizeof *row, compare_indices) : NULL;
            if (m->value[k] != 0 && (!square || found != NULL))
                entry[count++] =
                    (matrix_entry){i, square ? (size_t)(found - row) : *col, m->value[k]};
        }
    int rc = matrix_from_entries(part, rows, square ? rows : m->cols, entry, count);
    free(entry);
    return rc;
}
