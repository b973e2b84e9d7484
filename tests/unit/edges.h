/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices from tables, from their values or entry by entry; graphs of ranks from lists of edges.
 */
#ifndef TESTS_EDGES_H
#define TESTS_EDGES_H

#include <check.h>
#include <stdlib.h>

#include "setmatch/affinity.h"

/* Replaces *m, which is zeroed or a matrix, by the entries of a table that are not 0. A row of the
 * table has `width` numbers, of which `cols` count. Aborts without memory: also for programs that
 * are no suites of Check's. */
static inline void matrix_of_table(matrix *m, size_t rows, size_t cols, const int64_t *table,
                                   size_t width)
{
    matrix_builder b = {.rows = rows, .cols = cols};
    int rc = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols && rc == 0; j++)
            rc = matrix_builder_add(&b, i, j, table[i * width + j]);
    matrix_release(m);
    if (rc != 0 || matrix_builder_finish(&b, m) != 0)
        abort();
    matrix_builder_clear(&b);
}

/* Sets to 0 all but the `most` largest numbers of each column in each group of rows; of equal ones
 * the first count as larger. */
static inline void keep_largest_of_table(int64_t *table, size_t width, size_t cols,
                                         const size_t *group_of_row, size_t rows, size_t most)
{
    for (size_t j = 0; j < cols; j++) {
        for (size_t i = 0; i < rows; i++) {
            size_t larger = 0;
            for (size_t k = 0; k < rows; k++)
                larger += group_of_row[k] == group_of_row[i] &&
                          (table[k * width + j] > table[i * width + j] ||
                           (table[k * width + j] == table[i * width + j] && k < i));
            if (larger >= most)
                table[i * width + j] = 0;
        }
    }
}

static inline void add_entry(matrix_builder *b, size_t row, size_t col, int64_t value)
{
    ck_assert_int_eq(matrix_builder_add(b, row, col, value), 0);
}

/* What was added, without zeros; the builder's memory is freed. */
static inline matrix finish_matrix(matrix_builder *b)
{
    matrix m;
    ck_assert_int_eq(matrix_builder_finish(b, &m), 0);
    matrix_builder_clear(b);
    return m;
}

/* From value[row * cols + col]. */
static inline matrix matrix_of_values(size_t rows, size_t cols, const int64_t *value)
{
    matrix_builder b = {.rows = rows, .cols = cols};
    for (size_t k = 0; k < rows * cols; k++)
        add_entry(&b, k / cols, k % cols, value[k]);
    return finish_matrix(&b);
}

/* The graph of these edges; an edge is {a, b, weight}. */
static inline void graph_of_edges(affinity *g, size_t ranks, int64_t (*edge)[3], size_t edges)
{
    matrix_builder b = {.rows = ranks, .cols = ranks};
    for (size_t k = 0; k < edges; k++)
        add_entry(&b, (size_t)edge[k][0], (size_t)edge[k][1], edge[k][2]);
    matrix view = finish_matrix(&b);
    ck_assert_int_eq(affinity_from_view(g, &view), 0);
    matrix_release(&view);
}

#endif
