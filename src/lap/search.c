/* SPDX-License-Identifier: BSD-3-Clause */
/* Dijkstra's method, with a heap or a linear search for the nearest object. See doc/lap.md. */
#include "lap/search.h"

#include "base/heap.h"

#include <errno.h>

/* Pairs in a list, of persons with twice as many or more. With 192 pairs a person that takes a
 * sixth off the time of a plan for 2,048 domains on 256 nodes; 16 do as well. */
enum { LISTED = 32 };

/* Where objects stay free, no price is above 0: a pair leads no nearer than its cost says. False:
 * no memory. */
static bool init_lists(struct search *q, struct state *s)
{
    q->list = NULL;
    q->listed = NULL;
    if (s->start == NULL || s->persons == s->objects ||
        s->start[s->persons] / (2 * LISTED) < s->persons)
        return true;
    q->list = base_arena_alloc(&s->arena, s->persons, LISTED * sizeof *q->list);
    q->listed = base_arena_alloc(&s->arena, s->persons, sizeof *q->listed);
    return !s->arena.failed;
}

int TYPED(search_init)(struct search *q, struct state *s, bool with_heap)
{
    int rc = TYPED(tree_init)(&q->tree, s);
    q->dist = base_arena_alloc(&s->arena, s->objects, sizeof *q->dist);
    q->queue = base_arena_alloc(&s->arena, s->objects, sizeof *q->queue);
    q->place = with_heap ? base_arena_alloc(&s->arena, s->objects, sizeof *q->place) : NULL;
    q->group_dist = base_arena_alloc(&s->arena, s->groups, sizeof *q->group_dist);
    q->reached = base_arena_alloc(&s->arena, s->objects, sizeof *q->reached);
    q->reaches = 0;
    if (rc != 0 || s->arena.failed || !init_lists(q, s))
        return -ENOMEM;
    for (size_t i = 0; i < s->objects; i++)
        q->dist[i] = COST_MAX;
    return 0;
}

static void search_reset(struct search *q)
{
    for (size_t k = 0; k < q->reaches; k++)
        q->dist[q->reached[k]] = COST_MAX;
    for (size_t g = 0; g < q->tree.s->groups; g++)
        q->group_dist[g] = COST_MAX;
    q->queued = q->reaches = 0;
    q->nearest = NONE;
    q->limit = COST_MAX;
    TYPED(tree_reset)(&q->tree);
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

/* Removes the nearest object that is nearer than the nearest open one; NONE: there is none. */
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
    const struct state *s = q->tree.s;
    bool is_end = is_open(s, object);
    if (!is_end && is_free(s, object)) { /* the nearest one of its group leads to all there is */
        size_t g = s->group[object];
        if (length >= q->group_dist[g])
            return;
        q->group_dist[g] = length;
    }
    bool is_new = q->dist[object] == COST_MAX;
    if (is_new)
        q->reached[q->reaches++] = object;
    q->dist[object] = length;
    q->tree.from[object] = person;
    if (is_end) {
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

/* Lists the person's cheapest pairs, in ascending order. */
static void make_list(struct search *q, size_t person)
{
    struct pairs pairs = pairs_of(q->tree.s, person);
    struct pair *list = q->list + person * LISTED;
    size_t count = 0;
    for (size_t k = 0; k < pairs.count; k++) {
        if (pairs.cost[k] == COST_MAX ||
            (count == LISTED && pairs.cost[k] >= list[LISTED - 1].cost))
            continue;
        size_t at = count < LISTED ? count++ : LISTED - 1;
        for (; at > 0 && list[at - 1].cost > pairs.cost[k]; at--)
            list[at] = list[at - 1];
        list[at] = (struct pair){pairs.cost[k], pairs.object[k]};
    }
    q->listed[person] = count;
}

/* Returns whether no other pair of the person leads to anything nearer than the limit. */
static bool scan_list(struct search *q, size_t person, cost_t base)
{
    const struct state *s = q->tree.s;
    const struct pair *list = q->list + person * LISTED;
    if (q->listed[person] == 0)
        make_list(q, person);
    for (size_t k = 0; k < q->listed[person]; k++) {
        if (list[k].cost - base >= q->limit)
            return true;
        offer(q, list[k].object, list[k].cost - s->price[list[k].object] - base, person);
    }
    return q->listed[person] < LISTED;
}

/* `base`: what the person's pairs cost more than their distance. */
static void scan_person(struct search *q, size_t person, cost_t base)
{
    const struct state *s = q->tree.s;
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL) {
        for (size_t i = 0; i < pairs.count; i++)
            if (pairs.cost[i] < COST_MAX)
                offer(q, i, pairs.cost[i] - s->price[i] - base, person);
        return;
    }
    if (q->listed != NULL && scan_list(q, person, base))
        return;
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = pairs.object[k];
        if (pairs.cost[k] < COST_MAX)
            offer(q, object, pairs.cost[k] - s->price[object] - base, person);
    }
}

/* A free object of a full group: the group's assigned objects could be given up for it. */
static void scan_group(struct search *q, size_t object, cost_t at)
{
    const struct state *s = q->tree.s;
    size_t g = s->group[object];
    if (q->group_dist[g] == COST_MIN)
        return;
    q->group_dist[g] = COST_MIN;
    TYPED(tree_enter)(&q->tree, object, at);
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (!is_free(s, member))
            offer(q, member, at - s->dual[member], NONE);
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
        if (is_free(s, object)) {
            scan_group(q, object, at);
        } else {
            tree_join(&q->tree, object, at);
            scan_person(q, s->person_of[object], person_dual(s, object) - at);
        }
    }
    if (q->nearest == NONE)
        return LAP_INFEASIBLE;
    TYPED(tree_lower_prices)(&q->tree, q->limit > at ? q->limit : at);
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
