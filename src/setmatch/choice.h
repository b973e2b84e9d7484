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
 * were placed, and is filled from the bottom of the trees. The trees, and those of the window, hang
 * from one more vertex, which has the number of ranks and is never chosen; those of the window by
 * the edges to the ranks that they hang from in the graph. */
typedef struct choice {
    trees all;
    size_t vertices; /* ranks */
    size_t waiting;  /* ranks, the first in all.order[], that were not in the window */
    size_t count, most_in_window;
    vertex *window;    /* `count` ranks, children before parents */
    bool *is_inside;   /* by vertex: in the window, or the one more */
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

/* An empty window of up to so many ranks, of which up to `most` are chosen at a time: both are at
 * least 1, and there are ranks. Variants: see trees_init. 0, -ENOMEM, or 1 if there is a cycle.
 * Release it also after an error. Memory: O(most_in_window * most + ranks). */
int choice_init(choice *c, const affinity *g, size_t variant, size_t most_in_window, size_t most);

void choice_release(choice *c);

/* Takes in more ranks, as long as there are any, up to most_in_window. */
void choice_fill_window(choice *c);

/* The least cut, by the number of ranks, up to `most` and those in the window. Valid until ranks
 * are placed. */
const int64_t *choice_cuts(choice *c);

/* Sets node[v] = n for that number of ranks, of the least cut, which leave the window. After
 * choice_cuts. */
void choice_place(choice *c, size_t number, size_t n, size_t *node);

#endif
