/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph.h"

int undirected_graph(const matrix *view, matrix *graph)
{
    matrix_builder b = {.rows = view->rows, .cols = view->rows};
    bool symmetric = matrix_is_symmetric(view);
    int rc = 0;
    for (size_t row = 0; row < view->rows; row++)
        for (size_t i = view->row_start[row]; rc == 0 && i < view->row_start[row + 1]; i++) {
            size_t col = view->col[i];
            if (col == row)
                continue;
            rc = matrix_builder_add(&b, row, col, view->value[i]);
            if (rc == 0 && !symmetric)
                rc = matrix_builder_add(&b, col, row, view->value[i]);
        }
    if (rc == 0)
        rc = matrix_builder_finish(&b, graph);
    matrix_builder_clear(&b);
    return rc;
}
