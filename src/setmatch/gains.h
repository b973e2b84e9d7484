/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vertices in order of what is gained by moving them: a binary heap that knows where each vertex
 * is. The greatest gain first, the lower vertex on a tie. Private to this folder.
 */
#ifndef SETMATCH_GAINS_H
#define SETMATCH_GAINS_H

#include "setmatch/affinity.h"

/* `gain` and `place` may be shared by heaps that hold different vertices. */
typedef struct gains {
    vertex *heap;
    size_t count;
    const int64_t *gain; /* by vertex */
    size_t *place;       /* by vertex: where it is in its heap */
} gains;

/* Puts it at the end; gains_order makes a heap of what was put so. */
static inline void gains_put(gains *h, vertex v)
{
    h->place[v] = h->count;
    h->heap[h->count++] = v;
}

static inline int gains_precede(const gains *h, vertex a, vertex b)
{
    return h->gain[a] > h->gain[b] || (h->gain[a] == h->gain[b] && a < b);
}

static inline void gains_set(gains *h, size_t place, vertex v)
{
    h->heap[place] = v;
    h->place[v] = place;
}

static inline void gains_rise(gains *h, size_t place)
{
    vertex v = h->heap[place];
    while (place > 0 && gains_precede(h, v, h->heap[(place - 1) / 2])) {
        gains_set(h, place, h->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    gains_set(h, place, v);
}

static inline void gains_sink(gains *h, size_t place)
{
    vertex v = h->heap[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && gains_precede(h, h->heap[child + 1], h->heap[child]))
            child++;
        if (!gains_precede(h, h->heap[child], v))
            break;
        gains_set(h, place, h->heap[child]);
        place = child;
    }
    gains_set(h, place, v);
}

/* Makes a heap of what was put. */
static inline void gains_order(gains *h)
{
    for (size_t place = h->count / 2; place-- > 0;)
        gains_sink(h, place);
}

/* Restores the order after the gain of v, which is in the heap, has grown or fallen. */
static inline void gains_grew(gains *h, vertex v)
{
    gains_rise(h, h->place[v]);
}

static inline void gains_fell(gains *h, vertex v)
{
    gains_sink(h, h->place[v]);
}

static inline void gains_remove(gains *h, vertex v)
{
    size_t place = h->place[v];
    vertex last = h->heap[--h->count];
    if (last == v)
        return;
    gains_set(h, place, last);
    gains_rise(h, place);
    gains_sink(h, h->place[last]);
}

#endif
