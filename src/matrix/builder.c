/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices that are built entry by entry: a buffer whose entries are added up whenever it is full.
 */
#include "matrix/matrix.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

#define FIRST_CAPACITY 1024
#define FEW_ENTRIES ((size_t)1 << 18) /* not worth adding up early */

/* Makes room for one entry. Grows only if adding up frees less than half, so that appending is
 * O(log) amortized. */
static int reserve_entry(matrix_builder *b)
{
    if (b->used < b->capacity)
        return 0;
    int rc = b->used < FEW_ENTRIES ? 0 : matrix_add_up(b->entry, &b->used, false);
    if (rc == 0 && b->used >= b->capacity / 2)
        rc = base_reserve(&b->entry, &b->capacity,
                          b->capacity > 0 ? b->capacity + 1 : FIRST_CAPACITY, sizeof *b->entry);
    return rc;
}

int matrix_builder_add(matrix_builder *b, size_t row, size_t col, int64_t value)
{
    if (row >= b->rows || col >= b->cols)
        return -EINVAL;
    int rc = reserve_entry(b);
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
    int rc = matrix_add_up(b->entry, &b->used, false);
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
