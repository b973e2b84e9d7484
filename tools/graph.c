/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph.h"

/* Sum of the entries (row, col) and (col, row). */
static int64_t edge_weight(const matrix *view, size_t row, size_t i)
{
    int64_t sum;
    if (__builtin_add_overflow(view->value[i], matrix_get(view, view->col[i], row), &sum))
        return INT64_MAX;
    return sum;
}

/* Recorders write each value twice. */
static void halve_even_weights(matrix *graph)
{
    size_t entries = graph->row_start[graph->rows];
    for (size_t i = 0; i < entries; i++)
        if (graph->value[i] % 2 != 0)
            return;
    for (size_t i = 0; i < entries; i++)
        graph->value[i] /= 2;
}

int undirected_graph(const matrix *view, matrix *graph)
{
    matrix_builder b = {.rows = view->rows, .cols = view->rows};
    int rc = 0;
    for (size_t row = 0; row < view->rows; row++)
        for (size_t i = view->row_start[row]; rc == 0 && i < view->row_start[row + 1]; i++) {
            size_t col = view->col[i];
            int64_t weight = edge_weight(view, row, i);
            if (col == row || weight == 0 || (col < row && matrix_get(view, col, row) > 0))
                continue;
            rc = matrix_builder_add(&b, row, col, weight);
            if (rc == 0)
                rc = matrix_builder_add(&b, col, row, weight);
        }
    if (rc == 0)
        rc = matrix_builder_finish(&b, graph);
    matrix_builder_clear(&b);
    if (rc == 0)
        halve_even_weights(graph);
    return rc;
}
