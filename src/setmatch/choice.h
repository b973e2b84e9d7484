/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Of some ranks of a forest, any number with the least cut to all others: found exactly, by sums
 * over subtrees. Private to this folder.
 *
 * Source: Lukes, "Efficient algorithm for the partitioning of trees", IBM Journal of Research and
 * Development 18 (1974).
 */
#ifndef SETMATCH_CHOICE_H
#define SETMATCH_CHOICE_H

#include <stdbool.h>

#include "setmatch/trees.h"

/* The ranks to choose from are those of a window. It has whole subtrees, but for the ranks that
 * were placed, and is filled from the bottom of the trees. All trees hang from the root, which is
 * the vertex after the ranks and is never chosen. A rank whose parent is outside the window hangs
 * from the root, too, by the edge to its parent. */
typedef struct choice {
    trees all;
    size_t vertices; /* ranks, and the number of the root */
    size_t waiting;  /* ranks, the first in all.order[], that were not in the window */
    size_t count, most_in_window;
    vertex *window;    /* `count` ranks, children before parents */
    bool *is_inside;   /* by vertex: in the window, or the root */
    vertex *row;       /* by vertex inside: of the tables */
    vertex *unused;    /* rows, as many as the window has places left */
    size_t most;       /* ranks that can be chosen */
    int64_t *cut[2];   /* by row, whether the vertex is chosen, and ranks chosen of its subtree */
    uint64_t *part[2]; /* by row, whether the parent is chosen, and ranks chosen of what the parent
                          has merged so far with this subtree: twice those of the subtree, and 1
                          with its root */
    size_t *ranks;     /* by vertex: of its subtree, as far as it is merged */
    size_t *number;    /* by vertex: those to choose of its subtree */
    bool *is_stale;    /* by vertex: its subtree has changed */
    bool *chosen;      /* by vertex */
    int64_t *sum;      /* of a vertex, chosen or not, while it merges a subtree */
    size_t work;       /* table entries */
    struct base_arena arena;
} choice;

/* An empty window of up to `most_in_window` ranks, of which up to `most` are chosen at a time: both
 * are at least 1, and there are ranks. Variants: see trees_init. 0, -ENOMEM, or 1 if there is a
 * cycle. Release it also after an error. Memory: O(most_in_window * most + ranks). */
int choice_init(choice *c, const affinity *g, size_t variant, size_t most_in_window, size_t most);

void choice_release(choice *c);

/* Adds ranks to the window, up to most_in_window in all, as long as there are any. */
void choice_fill_window(choice *c);

/* cut[k]: the least cut between k ranks of the window and all others that are not placed, for k up
 * to `most` and to the ranks in the window. Valid until choice_place. */
const int64_t *choice_cuts(choice *c);

/* Sets node[v] = n for that number of ranks, of the least cut, which leave the window. To be called
 * after choice_cuts, of the same window. */
void choice_place(choice *c, size_t number, size_t n, size_t *node);

#endif
