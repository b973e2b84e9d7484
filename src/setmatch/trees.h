/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trees of a graph without cycles. Private to this folder.
 */
#ifndef SETMATCH_TREES_H
#define SETMATCH_TREES_H

#include "base/arena.h"
#include "setmatch/affinity.h"

typedef struct trees {
    vertex *order;   /* parents before children, each subtree in one piece, of the children of a
                        vertex the one with the largest subtree last */
    vertex *parent;  /* by vertex; of a root the number of vertices */
    int64_t *weight; /* by vertex: of the edge to its parent, 0 of a root */
} trees;

/* Variants hang the trees by other vertices. The arena owns the memory. 0, -ENOMEM, or 1 if there
 * is a cycle. O(vertices + arcs). */
int trees_init(trees *t, struct base_arena *arena, const affinity *g, size_t variant);

#endif
