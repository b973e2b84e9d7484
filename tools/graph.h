/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view as partitioners of graphs want it.
 */
#ifndef TOOLS_GRAPH_H
#define TOOLS_GRAPH_H

#include "matrix/matrix.h"

/* V + transpose(V) without the diagonal and without zeros, in both triangles; divided by two where
 * all values are even, as in views that hold each value twice. A sum beyond int64 becomes
 * INT64_MAX. -ENOMEM. Release with matrix_release. */
int undirected_graph(const matrix *view, matrix *graph);

#endif
