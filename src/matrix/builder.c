/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices that grow entry by entry: a buffer that is folded whenever it is full. */
#include "matrix/matrix.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 1024

static void keep_nonzeros(matrix_builder *b, const matrix *sum)
{
    b->used = 0;
    for (size_t i = 0; i < sum->rows; i++) {
        for (size_t k = sum->row_start[i]; k < sum->row_start[i + 1]; k++)
            if (sum->value[k] != 0)
                b->entry[b->used++] = (matrix_entry){i, sum->col[k], sum->value[k]};
    }
}

/* Brings the buffer down to one entry a place. */
static int fold(matrix_builder *b)
{
    matrix sum;
    int rc = matrix_from_entries(&sum, b->rows, b->cols, b->entry, b->used);
    if (rc != 0)
        return rc;
    keep_nonzeros(b, &sum);
    matrix_release(&sum);
    return 0;
}

static int grow(matrix_builder *b)
{
    size_t capacity = b->capacity > 0 ? b->capacity : FIRST_CAPACITY / 2, size;
    if (__builtin_mul_overflow(capacity, 2 * sizeof *b->entry, &size))
        return -ENOMEM;
    matrix_entry *grown = realloc(b->entry, size);
    if (grown == NULL)
        return -ENOMEM;
    b->entry = grown;
    b->capacity = capacity * 2;
    return 0;
}

/* Grows only when folding frees less than half, so that adding stays O(log) amortized. */
static int make_room(matrix_builder *b)
{
    if (b->used < b->capacity)
        return 0;
    int rc = fold(b);
    if (rc == 0 && b->used >= b->capacity / 2)
        rc = grow(b);
    return rc;
}

int matrix_builder_add(matrix_builder *b, size_t row, size_t col, int64_t value)
{
    if (row >= b->rows || col >= b->cols)
        return -EINVAL;
    int rc = make_room(b);
    if (rc == 0)
        b->entry[b->used++] = (matrix_entry){row, col, value};
    return rc;
}

int matrix_builder_add_matrix(matrix_builder *b, const matrix *m, int64_t value)
{
    int rc = m->rows == b->rows && m->cols == b->cols ? 0 : -EINVAL;
    for (size_t i = 0; i < m->rows && rc == 0; i++) {
        for (size_t k = m->row_start[i]; k < m->row_start[i + 1] && rc == 0; k++) {
            int64_t product;
            rc = __builtin_mul_overflow(m->value[k], value, &product)
                     ? -ERANGE
                     : matrix_builder_add(b, i, m->col[k], product);
        }
    }
    return rc;
}

int matrix_builder_finish(matrix_builder *b, matrix *m)
{
    int rc = fold(b);
    if (rc == 0)
        rc = matrix_from_entries(m, b->rows, b->cols, b->entry, b->used);
    return rc;
}

void matrix_builder_clear(matrix_builder *b)
{
    free(b->entry);
    b->entry = NULL;
    b->used = b->capacity = 0;
}
