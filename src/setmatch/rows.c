/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of V + transpose(V) without the diagonal, entry by entry. */
#include "setmatch/rows.h"

#include <errno.h>

int symmetric_rows_init(symmetric_rows *rows, const matrix *view)
{
    if (view->rows != view->cols || !matrix_is_nonnegative(view))
        return -EINVAL;
    *rows = (symmetric_rows){.view = view};
    return matrix_transpose(&rows->transposed, view);
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
