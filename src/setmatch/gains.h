/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A heap of vertices by the gain of moving them, that knows the position of each vertex: the
 * greatest gain first, the lower vertex on a tie. Private to this folder.
 */
#ifndef SETMATCH_GAINS_H
#define SETMATCH_GAINS_H

#include "base/heap.h"
#include "setmatch/affinity.h"

/* Heaps of different vertices may share `gain` and `position`. */
typedef struct gains {
    vertex *heap;
    size_t count;
    const int64_t *gain; /* by vertex */
    size_t *position;    /* by vertex: its index in its heap */
} gains;

#define GAINS_PRECEDES(h, a, b)                                                                    \
    ((h)->gain[a] > (h)->gain[b] || ((h)->gain[a] == (h)->gain[b] && (a) < (b)))
#define GAINS_PLACED(h, v, at) ((void)((h)->position[v] = (at)))
BASE_HEAP(gains, vertex, gains *, GAINS_PRECEDES, GAINS_PLACED);

/* Adds a vertex that is not in a heap, in no order: gains_build follows. */
static inline void gains_append(gains *h, vertex v)
{
    h->heap[h->count++] = v;
}

/* Restores the order after the gain of a vertex of the heap has grown or fallen. */
static inline void gains_grew(gains *h, vertex v)
{
    gains_up(h, h->heap, h->position[v], v);
}

static inline void gains_fell(gains *h, vertex v)
{
    gains_down(h, h->heap, h->count, h->position[v], v);
}

static inline void gains_remove(gains *h, vertex v)
{
    vertex last = h->heap[--h->count];
    if (last != v)
        gains_fix(h, h->heap, h->count, h->position[v], last);
}

#endif
