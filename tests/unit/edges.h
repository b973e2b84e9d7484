/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices from their values or entry by entry, and graphs of ranks from lists of edges.
 */
#ifndef TESTS_EDGES_H
#define TESTS_EDGES_H

#include <check.h>

#include "setmatch/affinity.h"

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
    ck_assert_int_eq(affinity_from_view(g, &view, false), 0);
    matrix_release(&view);
}

#endif
