/* SPDX-License-Identifier: BSD-3-Clause */
/* The FILEVIEW format, as Open MPI's io/ompio writes fileview_info.out. */
#include "matrix/fileview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void read_signature(matrix_scan *scan)
{
    matrix_scan_word(scan);
    SCAN_EXPECT_AT(scan, 0, scan->word_length > 0, "the file is empty");
    SCAN_EXPECT(scan, strcmp(scan->word, "FILEVIEW") == 0, "does not begin with the word FILEVIEW");
}

/* Returns the number of rows. */
static size_t read_counts(matrix_scan *scan, size_t *nnz)
{
    *nnz = matrix_scan_count(scan, "the number of entries");
    size_t pointers = matrix_scan_count(scan, "the number of row pointers");
    SCAN_EXPECT(scan, pointers > 0, "the number of row pointers is 0");
    SCAN_EXPECT(scan, matrix_scan_holds(scan, *nnz, 2, pointers),
                "%zu entries in %zu rows cannot be in a file of %" PRIu64 " bytes", *nnz,
                pointers - 1, scan->length);
    return pointers - 1;
}

static void read_entries(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t i = 0; i < nnz && scan->rc == 0; i++) {
        m->col[i] = matrix_scan_count(scan, "a column");
        SCAN_EXPECT(scan, m->col[i] < m->cols, "column %zu in a matrix of %zu", m->col[i], m->cols);
    }
    for (size_t i = 0; i < nnz && scan->rc == 0; i++)
        m->value[i] = (int64_t)matrix_scan_count(scan, "a value");
}

static void check_row(matrix_scan *scan, const matrix *m, size_t row)
{
    for (size_t i = m->row_start[row] + 1; i < m->row_start[row + 1] && scan->rc == 0; i++)
        SCAN_EXPECT(scan, m->col[i] > m->col[i - 1], "row %zu has column %zu after column %zu", row,
                    m->col[i], m->col[i - 1]);
}

static void read_row_pointers(matrix_scan *scan, matrix *m, size_t nnz)
{
    for (size_t row = 0; row <= m->rows && scan->rc == 0; row++) {
        size_t least = row > 0 ? m->row_start[row - 1] + 1 : 1, most = row > 0 ? nnz + 1 : 1;
        size_t pointer = matrix_scan_count(scan, "a row pointer");
        SCAN_EXPECT(scan, pointer >= least && pointer <= most, "row pointer %zu, not in %zu..%zu",
                    pointer, least, most);
        m->row_start[row] = pointer - 1;
        if (row > 0)
            check_row(scan, m, row - 1);
    }
    SCAN_EXPECT(scan, m->row_start[m->rows] == nnz, "the last row pointer is %zu, not %zu",
                m->row_start[m->rows] + 1, nnz + 1);
}

void fileview_scan_section(matrix_scan *scan)
{
    matrix_scan_word(scan);
    if (scan->word_length > 0 &&
        !(scan->word_first &&
          strspn(scan->word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == scan->word_length))
        matrix_scan_unexpected(scan, "the end of the file or a section");
}

void fileview_scan_matrix(matrix_scan *scan, matrix *m, char **comments)
{
    size_t nnz, rows;
    read_signature(scan);
    *comments = matrix_scan_comments(scan);
    rows = read_counts(scan, &nnz);
    if (scan->rc == 0)
        matrix_scan_fail(scan, matrix_allocate(m, rows, rows, nnz));
    if (scan->rc != 0)
        return;
    read_entries(scan, m, nnz);
    read_row_pointers(scan, m, nnz);
    fileview_scan_section(scan);
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
