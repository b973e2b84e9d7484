/* SPDX-License-Identifier: BSD-3-Clause */
/* The FILEVIEW format, as Open MPI's io/ompio writes fileview_info.out. */
#include "matrix/fileview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int read_signature(matrix_scan *scan)
{
    int rc = matrix_scan_word(scan);
    if (rc != 0)
        return rc;
    if (scan->word_length == 0)
        return matrix_refuse(scan->error, 0, "the file is empty");
    if (strcmp(scan->word, "FILEVIEW") != 0)
        return matrix_refuse(scan->error, scan->word_line, "does not begin with the word FILEVIEW");
    return 0;
}

/* A number takes a separator and a digit. */
static int check_fileview_length(matrix_scan *scan, size_t nnz, size_t pointers)
{
    size_t numbers, bytes;
    if (__builtin_mul_overflow(nnz, 2, &numbers) ||
        __builtin_add_overflow(numbers, pointers, &numbers) ||
        __builtin_mul_overflow(numbers, 2, &bytes) || bytes > matrix_scan_left(scan))
        return matrix_refuse(scan->error, scan->word_line,
                             "%zu entries in %zu rows cannot be in a file of %" PRIu64 " bytes",
                             nnz, pointers - 1, scan->length);
    return 0;
}

static int read_counts(matrix_scan *scan, size_t *nnz, size_t *rows)
{
    size_t pointers;
    int rc = matrix_scan_count(scan, "the number of entries", nnz);
    if (rc == 0)
        rc = matrix_scan_count(scan, "the number of row pointers", &pointers);
    if (rc != 0)
        return rc;
    if (pointers == 0)
        return matrix_refuse(scan->error, scan->word_line, "the number of row pointers is 0");
    *rows = pointers - 1;
    return check_fileview_length(scan, *nnz, pointers);
}

static int read_columns(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t i = 0; i < nnz; i++) {
        int rc = matrix_scan_count(scan, "a column", &m->col[i]);
        if (rc != 0)
            return rc;
        if (m->col[i] >= m->cols)
            return matrix_refuse(scan->error, scan->word_line, "column %zu in a matrix of %zu",
                                 m->col[i], m->cols);
    }
    return 0;
}

static int read_values(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t i = 0; i < nnz; i++) {
        size_t value;
        int rc = matrix_scan_count(scan, "a value", &value);
        if (rc != 0)
            return rc;
        m->value[i] = (int64_t)value;
    }
    return 0;
}

static int check_row(matrix_scan *scan, const matrix *m, size_t row)
{
    for (size_t i = m->row_start[row] + 1; i < m->row_start[row + 1]; i++)
        if (m->col[i] <= m->col[i - 1])
            return matrix_refuse(scan->error, scan->word_line,
                                 "row %zu has column %zu after column %zu", row, m->col[i],
                                 m->col[i - 1]);
    return 0;
}

static int read_row_pointers(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t row = 0; row <= m->rows; row++) {
        size_t pointer;
        size_t least = row > 0 ? m->row_start[row - 1] + 1 : 1;
        size_t most = row > 0 ? nnz + 1 : 1;
        int rc = matrix_scan_count(scan, "a row pointer", &pointer);
        if (rc != 0)
            return rc;
        if (pointer < least || pointer > most)
            return matrix_refuse(scan->error, scan->word_line, "row pointer %zu, not in %zu..%zu",
                                 pointer, least, most);
        m->row_start[row] = pointer - 1;
        rc = row > 0 ? check_row(scan, m, row - 1) : 0;
        if (rc != 0)
            return rc;
    }
    if (m->row_start[m->rows] != nnz)
        return matrix_refuse(scan->error, scan->word_line, "the last row pointer is %zu, not %zu",
                             m->row_start[m->rows] + 1, nnz + 1);
    return 0;
}

int fileview_scan_section(matrix_scan *scan)
{
    int rc = matrix_scan_word(scan);
    if (rc != 0 || scan->word_length == 0)
        return rc;
    if (scan->word_first && strspn(scan->word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == scan->word_length)
        return 0;
    return matrix_scan_unexpected(scan, "the end of the file or a section");
}

static int read_arrays(matrix_scan *scan, matrix *m, size_t nnz)
{
    int rc = read_columns(scan, m, nnz);
    if (rc == 0)
        rc = read_values(scan, m, nnz);
    return rc == 0 ? read_row_pointers(scan, m, nnz) : rc;
}

int fileview_scan_matrix(matrix_scan *scan, matrix *m, char **comments)
{
    matrix read = {0};
    char *text = NULL;
    size_t nnz = 0, rows = 0;
    int rc = read_signature(scan);
    if (rc == 0)
        rc = matrix_scan_comments(scan, &text);
    if (rc == 0)
        rc = read_counts(scan, &nnz, &rows);
    if (rc == 0)
        rc = matrix_allocate(&read, rows, rows, nnz);
    if (rc == 0)
        rc = read_arrays(scan, &read, nnz);
    if (rc == 0)
        rc = fileview_scan_section(scan);
    if (rc == 0) {
        *m = read;
        *comments = text;
        return 0;
    }
    matrix_release(&read);
    free(text);
    return rc;
}

int matrix_read_fileview(FILE *stream, matrix *m, matrix_error *error)
{
    matrix_scan scan;
    char *comments;
    int rc = matrix_scan_init(&scan, stream, error);
    if (rc == 0)
        rc = fileview_scan_matrix(&scan, m, &comments);
    if (rc == 0)
        free(comments);
    return rc;
}

int matrix_write_fileview(FILE *stream, const matrix *m, const char *comments)
{
    size_t nnz = matrix_entries(m);
    if (m->rows != m->cols || !matrix_is_nonnegative(m))
        return -EINVAL;
    fputs("FILEVIEW\n", stream);
    matrix_write_comments(stream, comments);
    fprintf(stream, "%zu %zu\n", nnz, m->rows + 1);
    for (size_t i = 0; i < nnz; i++)
        fprintf(stream, "%zu ", m->col[i]);
    fputc('\n', stream);
    for (size_t i = 0; i < nnz; i++)
        fprintf(stream, "%" PRId64 " ", m->value[i]);
    fputc('\n', stream);
    for (size_t row = 0; row <= m->rows; row++)
        fprintf(stream, "%zu ", m->row_start != NULL ? m->row_start[row] + 1 : 1);
    fputc('\n', stream);
    return matrix_finish_writing(stream);
}
