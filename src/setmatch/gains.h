/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A heap of vertices by the gain of moving them: the greatest gain first, the lower vertex on a
 * tie. Most gains fall, and few vertices come to the top, so the heap learns of a lower gain only
 * there: until then an entry keeps its earlier, greater gain. Private to this folder.
 */
#ifndef SETMATCH_GAINS_H
#define SETMATCH_GAINS_H

#include "base/heap.h"
#include "setmatch/affinity.h"

/* The present gain of a vertex, and the index of its entry in its heap. */
typedef struct gains_vertex {
    int64_t gain;
    vertex position;
} gains_vertex;

/* A vertex in a heap; its gain is at least the present one. */
typedef struct gains_entry {
    int64_t gain;
    vertex of;
} gains_entry;

/* Heaps of different vertices may share `vertices`. */
typedef struct gains {
    gains_entry *heap;
    size_t count;
    gains_vertex *vertices;
} gains;

#define GAINS_PRECEDES(h, a, b) ((a).gain > (b).gain || ((a).gain == (b).gain && (a).of < (b).of))
#define GAINS_PLACED(h, item, at) ((void)((h)->vertices[(item).of].position = (vertex)(at)))
BASE_HEAP(gains, gains_entry, gains *, GAINS_PRECEDES, GAINS_PLACED);

static inline gains_entry gains_entry_of(const gains *h, vertex v)
{
    return (gains_entry){h->vertices[v].gain, v};
}

/* Adds a vertex that is not in a heap, in no order: gains_build follows. */
static inline void gains_append(gains *h, vertex v)
{
    h->heap[h->count++] = gains_entry_of(h, v);
}

static inline void gains_insert(gains *h, vertex v)
{
    gains_up(h, h->heap, h->count++, gains_entry_of(h, v));
}

/* Call this after the gain of a vertex of the heap has grown. */
static inline void gains_grew(gains *h, vertex v)
{
    size_t at = h->vertices[v].position;
    if (h->vertices[v].gain > h->heap[at].gain)
        gains_up(h, h->heap, at, gains_entry_of(h, v));
}

/* The vertex of the greatest gain; NO_VERTEX: the heap is empty. */
static inline vertex gains_top(gains *h)
{
    if (h->count == 0)
        return NO_VERTEX;
    while (h->heap[0].gain != h->vertices[h->heap[0].of].gain)
        gains_down(h, h->heap, h->count, 0, gains_entry_of(h, h->heap[0].of));
    return h->heap[0].of;
}

static inline void gains_remove_top(gains *h)
{
    gains_entry last = h->heap[--h->count];
    if (h->count > 0)
        gains_down(h, h->heap, h->count, 0, last);
}

#endif
