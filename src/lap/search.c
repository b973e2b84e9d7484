/* SPDX-License-Identifier: BSD-3-Clause */
/* Dijkstra's method, with a heap or a linear search for the nearest object. See doc/lap.md. */
#include "lap/search.h"

#include "base/heap.h"

#include <errno.h>

int TYPED(search_init)(struct search *q, struct state *s, bool with_heap)
{
    int rc = TYPED(tree_init)(&q->tree, s);
    q->dist = base_arena_alloc(&s->arena, s->objects, sizeof *q->dist);
    q->queue = base_arena_alloc(&s->arena, s->objects, sizeof *q->queue);
    q->place = with_heap ? base_arena_alloc(&s->arena, s->objects, sizeof *q->place) : NULL;
    q->reached = base_arena_alloc(&s->arena, s->objects, sizeof *q->reached);
    q->reaches = 0;
    if (rc != 0 || s->arena.failed)
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++)
        q->dist[i] = COST_MAX;
    return 0;
}

static void search_reset(struct search *q)
{
    for (size_t k = 0; k < q->reaches; k++)
        q->dist[q->reached[k]] = COST_MAX;
    q->queued = q->reaches = q->tree.joined = 0;
    q->nearest = NONE;
    q->limit = COST_MAX;
}

/* ---- the queue ---- */

static inline bool is_nearer(const struct search *q, size_t a, size_t b)
{
    return q->dist[a] < q->dist[b] || (q->dist[a] == q->dist[b] && a < b);
}

#define OBJECT_PLACED(q, object, at) ((q)->place[object] = (at))
BASE_HEAP(object_heap, size_t, const struct search *, is_nearer, OBJECT_PLACED);

static void enqueue(struct search *q, size_t object, bool is_new)
{
    if (q->place != NULL)
        object_heap_up(q, q->queue, is_new ? q->queued++ : q->place[object], object);
    else if (is_new)
        q->queue[q->queued++] = object;
}

static size_t find_nearest(const struct search *q)
{
    size_t best = 0;
    for (size_t k = 1; k < q->queued; k++)
        if (q->dist[q->queue[k]] < q->dist[q->queue[best]])
            best = k;
    return best;
}

/* Removes the nearest object that is nearer than the nearest free one; NONE: there is none. */
static size_t dequeue(struct search *q)
{
    size_t best = q->place != NULL || q->queued == 0 ? 0 : find_nearest(q);
    if (q->queued == 0 || q->dist[q->queue[best]] >= q->limit)
        return NONE;
    size_t object = q->queue[best], last = q->queue[--q->queued];
    if (q->place == NULL)
        q->queue[best] = last;
    else if (q->queued > 0)
        object_heap_down(q, q->queue, q->queued, 0, last);
    return object;
}

/* ---- paths ---- */

/* `length` is below the object's distance and below the limit. */
static void shorten(struct search *q, size_t object, cost_t length, size_t person)
{
    bool is_new = q->dist[object] == COST_MAX;
    if (is_new)
        q->reached[q->reaches++] = object;
    q->dist[object] = length;
    q->tree.from[object] = person;
    if (is_free(q->tree.s, object)) {
        q->nearest = object;
        q->limit = length;
    } else {
        enqueue(q, object, is_new);
    }
}

static inline void offer(struct search *q, size_t object, cost_t length, size_t person)
{
    if (length < q->dist[object] && length < q->limit)
        shorten(q, object, length, person);
}

/* `base`: what the person's pairs cost more than their distance. */
static void scan_person(struct search *q, size_t person, cost_t base)
{
    const struct state *s = q->tree.s;
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] < COST_MAX)
            offer(q, object, pairs.cost[k] - s->dual[object] - base, person);
    }
}

static int augment(struct search *q, size_t person)
{
    const struct state *s = q->tree.s;
    cost_t at = COST_MIN;
    search_reset(q);
    scan_person(q, person, 0);
    for (size_t object = dequeue(q); object != NONE; object = dequeue(q)) {
        /* Rounding may make a length slightly less than the previous one. */
        at = q->dist[object] > at ? q->dist[object] : at;
        q->dist[object] = COST_MIN;
        tree_join(&q->tree, object, at);
        scan_person(q, s->person_of[object], person_dual(s, object) - at);
    }
    if (q->nearest == NONE)
        return LAP_INFEASIBLE;
    TYPED(tree_lower_duals)(&q->tree, q->limit > at ? q->limit : at);
    TYPED(tree_flip)(&q->tree, q->nearest);
    return 0;
}

int TYPED(augment_all)(struct search *q)
{
    const struct state *s = q->tree.s;
    int rc = 0;
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        if (s->object_of[j] == NONE)
            rc = augment(q, j);
    return rc;
}
