/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of V + transpose(V) without the diagonal, entry by entry. */
#include "setmatch/rows.h"

#include <errno.h>
#include <string.h>

static int view_is_valid(const matrix *view)
{
    if (view->rows != view->cols)
        return 0;
    for (size_t i = 0; view->rows > 0 && i < view->row_start[view->rows]; i++)
        if (view->value[i] < 0)
            return 0;
    return 1;
}

/* Rows are visited in order, so that the columns of each transposed row ascend. */
static int transpose_view(matrix *transposed, const matrix *m)
{
    size_t nnz = m->row_start[m->rows];
    int rc = matrix_allocate(transposed, m->cols, m->rows, nnz);
    if (rc != 0)
        return rc;
    size_t *start = transposed->row_start;
    for (size_t i = 0; i < nnz; i++)
        start[m->col[i] + 1]++;
    for (size_t row = 0; row < transposed->rows; row++)
        start[row + 1] += start[row];
    for (size_t row = 0; row < m->rows; row++) {
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

int symmetric_rows_init(symmetric_rows *rows, const matrix *view)
{
    if (!view_is_valid(view))
        return -EINVAL;
    *rows = (symmetric_rows){.view = view};
    return view->rows == 0 ? 0 : transpose_view(&rows->transposed, view);
}

void symmetric_rows_release(symmetric_rows *rows)
{
    matrix_release(&rows->transposed);
}

row_sum symmetric_row(const symmetric_rows *rows, size_t row)
{
    return (row_sum){rows->view, &rows->transposed, row, rows->view->row_start[row],
                     rows->transposed.row_start[row]};
}

/* The column of entry i of a row, or SIZE_MAX beyond its end. */
static size_t column_at(const matrix *m, size_t row, size_t i)
{
    return i < m->row_start[row + 1] ? m->col[i] : SIZE_MAX;
}

int next_pair(row_sum *sum, row_pair *pair)
{
    for (;;) {
        size_t here = column_at(sum->view, sum->row, sum->in_view);
        size_t there = column_at(sum->transposed, sum->row, sum->in_transposed);
        pair->other = here < there ? here : there;
        pair->value = 0;
        if (pair->other == SIZE_MAX)
            return 0;
        if (here == pair->other)
            pair->value += (uint64_t)sum->view->value[sum->in_view++];
        if (there == pair->other)
            pair->value += (uint64_t)sum->transposed->value[sum->in_transposed++];
        if (pair->other != sum->row)
            return 1;
    }
}
