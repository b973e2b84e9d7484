/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices from tables, and graphs of ranks from lists of edges.
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

/* The graph of these edges; an edge is {a, b, weight}. */
static inline void graph_of_edges(affinity *g, size_t ranks, int64_t (*edge)[3], size_t edges)
{
    matrix view;
    matrix_builder b = {.rows = ranks, .cols = ranks};
    for (size_t k = 0; k < edges; k++)
        ck_assert_int_eq(matrix_builder_add(&b, (size_t)edge[k][0], (size_t)edge[k][1], edge[k][2]),
                         0);
    ck_assert_int_eq(matrix_builder_finish(&b, &view), 0);
    ck_assert_int_eq(affinity_from_view(g, &view, false), 0);
    matrix_builder_clear(&b);
    matrix_release(&view);
}

#endif
