/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of V + transpose(V) without the diagonal, entry by entry. Private to this folder.
 */
#ifndef SETMATCH_ROWS_H
#define SETMATCH_ROWS_H

#include "matrix/matrix.h"

typedef struct symmetric_rows {
    const matrix *view;
    matrix transposed;
} symmetric_rows;

/* An iterator over one row. */
typedef struct row_sum {
    const matrix *view, *transposed;
    size_t row, in_view, in_transposed;
} row_sum;

/* Two int64 >= 0 always fit their sum in uint64. */
typedef struct row_pair {
    size_t other;
    uint64_t value;
} row_pair;

/* Borrows the view. -EINVAL: not square or a negative value; -ENOMEM. */
int symmetric_rows_init(symmetric_rows *rows, const matrix *view);

void symmetric_rows_release(symmetric_rows *rows);

row_sum symmetric_row(const symmetric_rows *rows, size_t row);

/* The next entry, columns ascending; 0 at the end. */
int next_pair(row_sum *sum, row_pair *pair);

#endif
