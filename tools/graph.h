/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view as the undirected graph that graph partitioners read.
 */
#ifndef TOOLS_GRAPH_H
#define TOOLS_GRAPH_H

#include "matrix/matrix.h"

/* The weights of pairs of ranks (setmatch/quality.h) that are not 0, in both triangles. -ERANGE: a
 * weight beyond int64; -ENOMEM. Release with matrix_release. */
int undirected_graph(const matrix *view, matrix *graph);

#endif
