/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as a Matrix Market file; what is accepted must come back the same. */
#include "matrix/matrix.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int same(const matrix *a, const matrix *b)
{
    size_t nnz = a->row_start[a->rows];
    return a->rows == b->rows && a->cols == b->cols && nnz == b->row_start[b->rows] &&
           memcmp(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start) == 0 &&
           memcmp(a->col, b->col, nnz * sizeof *a->col) == 0 &&
           memcmp(a->value, b->value, nnz * sizeof *a->value) == 0;
}

/* A matrix of many empty rows may need more rows than its own text has bytes: not read back. */
static int readable(const matrix *m, size_t length)
{
    return m->rows <= MATRIX_MARKET_FREE_ROWS || m->rows <= length;
}

static void check_round_trip(const matrix *m)
{
    char *text = NULL;
    size_t length;
    matrix back;
    matrix_error error;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL || matrix_write_market(out, m, NULL) != 0 || fclose(out) != 0)
        abort();
    FILE *in = fmemopen(text, length, "r");
    if (in == NULL)
        abort();
    if (readable(m, length)) {
        if (matrix_read_market(in, &back, NULL, &error) != 0 || !same(m, &back))
            abort();
        matrix_release(&back);
    }
    fclose(in);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    matrix m;
    matrix_error error;
    char *comments;
    FILE *stream = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (stream == NULL)
        return 0;
    if (matrix_read_market(stream, &m, &comments, &error) == 0) {
        check_round_trip(&m);
        matrix_release(&m);
        free(comments);
    }
    fclose(stream);
    return 0;
}
