/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sparse integer matrices in compressed row storage, and Matrix Market.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success. Reading and
 * writing are independent of the locale.
 */
#ifndef MATRIX_MATRIX_H
#define MATRIX_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "matrix/error.h"

/* Row i holds entries row_start[i] .. row_start[i + 1] - 1; within a row columns
 * ascend and occur once. row_start has rows + 1 entries, col and value nnz =
 * row_start[rows]. An absent entry is 0; a stored one may be 0 too. */
typedef struct matrix {
    size_t rows, cols;
    size_t *row_start;
    size_t *col;
    int64_t *value;
} matrix;

/* One entry, for construction. */
typedef struct matrix_entry {
    size_t row, col;
    int64_t value;
} matrix_entry;

/* Allocates a matrix of that shape, filled with zeros, for the caller to fill. -ENOMEM. Release
 * with matrix_release. */
int matrix_allocate(matrix *m, size_t rows, size_t cols, size_t nnz);

/* Sorts entries by row and column, and replaces those of one position by their sum; without
 * `zeros`, also drops sums of 0. -ENOMEM; -ERANGE: a sum beyond int64; some are lost then. */
int matrix_add_up(matrix_entry *entries, size_t *count, bool zeros);

/* Builds *m from entries in any order, which are added up in place. -ERANGE; -ENOMEM. Release with
 * matrix_release. */
int matrix_from_entries(matrix *m, size_t rows, size_t cols, matrix_entry *entries, size_t count);

/* Frees the contents and leaves an empty matrix (all zero); safe on a zeroed one. */
void matrix_release(matrix *m);

/* Number of stored entries; 0 of a zeroed matrix. */
static inline size_t matrix_entries(const matrix *m)
{
    return m->row_start != NULL ? m->row_start[m->rows] : 0;
}

/* The entry at (row, col), 0 when absent; O(log of the row's entries). */
int64_t matrix_get(const matrix *m, size_t row, size_t col);

/* Sum of all stored values into *sum; -ERANGE beyond int64. */
int matrix_sum(const matrix *m, int64_t *sum);

/* Whether no value is negative; whether a square matrix equals its transpose. */
bool matrix_is_nonnegative(const matrix *m);
bool matrix_is_symmetric(const matrix *m);

/* Whether each stored value of one, so many times, is that of the other. */
bool matrix_equals(const matrix *a, int64_t times_a, const matrix *b, int64_t times_b);

/* Adds up the rows of each group, in linear time: row r of `m` belongs to row group_of_row[r] of
 * `sums`, which has `groups` rows, without stored zeros. -ERANGE: a partial sum; -ENOMEM. Release
 * with matrix_release. */
int matrix_sum_rows(matrix *sums, const matrix *m, const size_t *group_of_row, size_t groups);

/* Those rows, ascending, without stored zeros; `square`: and of the same columns only. -ENOMEM.
 * Release with matrix_release. */
int matrix_cut(matrix *part, const matrix *m, const size_t *row, size_t rows, bool square);

/* -ENOMEM. Release with matrix_release. */
int matrix_transpose(matrix *transposed, const matrix *m);

/* Accumulates entries in memory proportional to the number of nonzeros. A zeroed builder is empty
 * once rows and cols are set. */
typedef struct matrix_builder {
    size_t rows, cols;
    matrix_entry *entry;
    size_t used, capacity;
} matrix_builder;

/* -EINVAL: an index out of range; -ERANGE: a sum so far beyond int64; -ENOMEM. */
int matrix_builder_add(matrix_builder *b, size_t row, size_t col, int64_t value);

/* Adds value * each entry of `m`, whose shape is the builder's. Same errors. */
int matrix_builder_add_matrix(matrix_builder *b, const matrix *m, int64_t value);

/* The sum so far as a matrix without stored zeros; the builder keeps it. Same errors. */
int matrix_builder_finish(matrix_builder *b, matrix *m);

/* Frees the entries; rows and cols stay. */
void matrix_builder_clear(matrix_builder *b);

/* Beyond this number of rows or columns, a coordinate file must have at least as many bytes, so
 * that a short file cannot cause a large allocation. */
#define MATRIX_MARKET_FREE_ROWS ((size_t)1 << 20)

/* Reads Matrix Market: coordinate and array; integer, pattern (1) and real with integral values;
 * general and symmetric (either triangle; both are set). Complex, Hermitian and skew-symmetric are
 * refused. Indices count from 1, entries of one position are added up, '%' comments are between the
 * banner and the sizes, negative values are refused. Nothing may follow the last entry. Everything
 * else is refused, with the line and the reason, and so is a number of entries that a file of this
 * length cannot hold (before memory is allocated for it).
 * -EBADMSG: malformed (error set); -ENOMEM; -EIO: the stream failed (error set). `error` must not
 * be NULL. The stream must be seekable; its position afterwards is unspecified. comments: NULL, or
 * receives the comment lines without their "% ", each terminated by a newline, as one string that
 * the caller frees ("" if there are none). */
int matrix_read_market(FILE *stream, matrix *m, char **comments, matrix_error *error);

/* Costs of pairs of a row and a column, column by column. All pairs: start and row are NULL, and
 * the cost of column j on row i has index j * rows + i. Listed pairs: those of column j have
 * indices start[j] .. start[j + 1] - 1 and rows row[k], ascending. Either whole or real is not
 * NULL. */
typedef struct matrix_costs {
    size_t rows, cols;
    size_t *start, *row;
    int64_t *whole;
    double *real;
} matrix_costs;

/* Reads Matrix Market as above, but with real numbers: an array has a cost for every pair, a
 * coordinate file for the listed ones, including 0. INFINITY is allowed in a file of reals; NaN and
 * -INFINITY are refused. Errors as above. Release with matrix_costs_release. */
int matrix_read_costs(FILE *stream, matrix_costs *costs, matrix_error *error);

/* Frees the contents and zeroes the struct; safe on a zeroed one. */
void matrix_costs_release(matrix_costs *costs);

/* Writes coordinate integer general. comments: NULL, or complete lines, each of which is prefixed
 * by
 * "% ". Flushes the stream. Errors of the stream. */
int matrix_write_market(FILE *stream, const matrix *m, const char *comments);

#endif
