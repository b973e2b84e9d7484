/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Graphs of ranks from lists of edges.
 */
#ifndef TESTS_EDGES_H
#define TESTS_EDGES_H

#include <check.h>

#include "setmatch/affinity.h"

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
