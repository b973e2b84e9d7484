/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as a view file, or as a matrix in its place, and as a Matrix Market
 * file; what is accepted must come back the same, and adds up. */
#include "matrix/view_file.h"

#include <errno.h>
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

static int same_files(const view_file *a, const view_file *b)
{
    int alike = a->patterns == b->patterns && same(&a->view, &b->view);
    for (size_t k = 0; alike && k < a->patterns; k++) {
        const access_pattern *p = &a->pattern[k], *q = &b->pattern[k];
        alike = strcmp(p->file, q->file) == 0 && p->calls == q->calls && p->first == q->first &&
                p->unit == q->unit && a->bytes[k].cols == b->bytes[k].cols &&
                same(&a->bytes[k], &b->bytes[k]);
    }
    return alike;
}

/* The comments are another's affair: a reader strips what cannot be told from the format. */
static void check_round_trip(view_file *f)
{
    char *text = NULL;
    size_t length;
    view_file back;
    matrix_error error;
    free(f->comments);
    f->comments = NULL;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL || view_file_write(out, f) != 0 || fclose(out) != 0)
        abort();
    FILE *in = fmemopen(text, length, "r");
    if (in == NULL || view_file_read(in, &back, &error) != 0 || !same_files(f, &back))
        abort();
    fclose(in);
    view_file_release(&back);
    free(text);
}

static void check_sum(const view_file *f)
{
    view_file sum = {0};
    int rc = view_file_add(&sum, f);
    if (rc == 0)
        rc = view_file_add(&sum, f);
    if (rc != 0 && rc != -ERANGE)
        abort();
    if (rc == 0 && sum.patterns > f->patterns)
        abort();
    view_file_release(&sum);
}

/* A matrix of many empty rows may need more rows than its own text has bytes: not read back. */
static int readable(const matrix *m, size_t length)
{
    return m->rows <= MATRIX_MARKET_FREE_ROWS || m->rows <= length;
}

static void check_market(const matrix *m)
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
    view_file f;
    matrix m;
    char *comments;
    matrix_error error;
    FILE *stream = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (stream == NULL)
        return 0;
    if (view_file_read(stream, &f, &error) == 0) {
        check_round_trip(&f);
        check_sum(&f);
        view_file_release(&f);
    }
    rewind(stream);
    if (matrix_read_market(stream, &m, &comments, &error) == 0) {
        check_market(&m);
        matrix_release(&m);
        free(comments);
    }
    fclose(stream);
    return 0;
}
