/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks over the components of a graph along the arcs whose weight counts. Private to this folder.
 */
#ifndef SETMATCH_WALK_H
#define SETMATCH_WALK_H

#include <stdbool.h>

#include "setmatch/affinity.h"

typedef struct walk {
    const affinity *g;
    int64_t counted; /* the least weight that counts */
    bool *visited;   /* by vertex */
    vertex *order;   /* the visited vertices, component by component */
    size_t length;
    vertex *stack;
    size_t *at; /* by vertex: the next arc of a depth-first walk */
} walk;

/* Memory for graphs of up to that number of vertices. -ENOMEM. */
int walk_init(walk *w, struct base_arena *arena, size_t vertices);

/* Nothing is visited. A weight counts if it is at least `counted`. */
void walk_reset(walk *w, const affinity *g, int64_t counted);

/* Append the component of `seed`, which is not visited; neighbours in the order of their arcs.
 * Without recursion: a component may be one path of a million vertices. */
void walk_breadth_first(walk *w, vertex seed);
void walk_depth_first(walk *w, vertex seed);

/* Undoes the walk of the component order[from], ... Returns its vertex with the fewest links, the
 * lowest on a tie: an end of a path, a corner of a grid. */
vertex walk_undo(walk *w, size_t from);

#endif
