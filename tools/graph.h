/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view as the undirected graph that graph partitioners read.
 */
#ifndef TOOLS_GRAPH_H
#define TOOLS_GRAPH_H

#include "matrix/matrix.h"

/* V + transpose(V) without the diagonal and without zeros, in both triangles. If all values are
 * even, as in views that contain each value twice, they are halved. A sum beyond int64 becomes
 * INT64_MAX. Returns 0 or -ENOMEM. Release with matrix_release. */
int undirected_graph(const matrix *view, matrix *graph);

#endif
