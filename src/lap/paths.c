/* SPDX-License-Identifier: BSD-3-Clause */
/* Dijkstra's method over partial lists. A person's list is relaxed first; only when the
 * search gets as far as the list's bound is the person's whole row of costs read. */
#include "lap/paths.h"

#include "lap/vector.h"

#include <errno.h>

/* ---- set-up ---- */

static bool allocate_search(struct paths *p)
{
    struct state *s = p->s;
    size_t ids = s->objects + s->persons;
    p->dist = TYPED(allocate)(s, s->objects, sizeof *p->dist);
    p->base = TYPED(allocate)(s, s->persons, sizeof *p->base);
    p->touched = TYPED(allocate)(s, s->objects, sizeof *p->touched);
    p->heap = TYPED(allocate)(s, ids, sizeof *p->heap);
    p->place = TYPED(allocate)(s, ids, sizeof *p->place);
    return p->dist != NULL && p->base != NULL && p->touched != NULL && p->heap != NULL &&
           p->place != NULL;
}

static bool allocate_lists(struct paths *p, size_t entries)
{
    struct state *s = p->s;
    p->entry = TYPED(allocate)(s, entries, sizeof *p->entry);
    p->start = TYPED(allocate)(s, s->persons, sizeof *p->start);
    p->end = TYPED(allocate)(s, s->persons, sizeof *p->end);
    return p->entry != NULL && p->start != NULL && p->end != NULL;
}

static void list_all(struct paths *p)
{
    struct state *s = p->s;
    size_t used = 0;
    for (size_t j = 0; j < s->persons; j++) {
        struct pairs pairs = pairs_of(s, j);
        p->start[j] = used;
        for (size_t k = 0; k < pairs.count; k++)
            if (pairs.cost[k] < COST_MAX)
                p->entry[used++] = (struct listed){pairs.cost[k], object_at(pairs, k)};
        p->end[j] = used;
    }
}

static size_t count_allowed(const struct state *s)
{
    size_t total = s->start != NULL ? s->start[s->persons] : s->persons * s->objects;
    size_t allowed = 0;
    for (size_t k = 0; k < total; k++)
        allowed += s->cost[k] < COST_MAX;
    return allowed;
}

static int init_complete(struct paths *p)
{
    if (!allocate_lists(p, count_allowed(p->s)))
        return -ENOMEM;
    list_all(p);
    return 0;
}

static int init_partial(struct paths *p, size_t width)
{
    struct state *s = p->s;
    size_t entries;
    p->width = width;
    p->room = 2 * width;
    if (__builtin_mul_overflow(s->persons, p->room, &entries) || !allocate_lists(p, entries))
        return -ENOMEM;
    p->bound = TYPED(allocate)(s, s->persons, sizeof *p->bound);
    p->key = TYPED(allocate)(s, p->room, sizeof *p->key);
    if (p->bound == NULL || p->key == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < s->persons; j++) {
        p->start[j] = p->end[j] = j * p->room;
        p->bound[j] = COST_MIN;
    }
    return 0;
}

int TYPED(paths_init)(struct paths *p, struct state *s, size_t width)
{
    *p = (struct paths){.s = s};
    if (!allocate_search(p))
        return -ENOMEM;
    bool partial = s->start == NULL && width < s->objects / 2;
    return partial ? init_partial(p, width) : init_complete(p);
}

/* ---- lists ---- */

/* By key; equal ones stay in the order in which they came. */
static void sort_list(struct listed *list, cost_t *key, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct listed pair = list[i];
        cost_t its_key = key[i];
        size_t k = i;
        for (; k > 0 && key[k - 1] > its_key; k--) {
            key[k] = key[k - 1];
            list[k] = list[k - 1];
        }
        key[k] = its_key;
        list[k] = pair;
    }
}

/* As many pairs as a list must have are now below this: those of the list that was. */
static cost_t first_bound(struct paths *p, size_t person)
{
    struct listed *list = p->entry + p->start[person];
    size_t count = p->end[person] - p->start[person];
    if (count < p->width)
        return COST_MAX;
    for (size_t k = 0; k < count; k++)
        p->key[k] = reduced(list[k].cost, p->s->price[list[k].object]);
    sort_list(list, p->key, count);
    return next_above(p->key[p->width - 1]);
}

/* A list that grows beyond its room keeps its best `width` pairs. */
FOR_EACH_PROCESSOR
static size_t collect(struct paths *p, const cost_t *cost, struct listed *list, cost_t *bound)
{
    const struct state *s = p->s;
    cost_t here[BLOCK];
    size_t found = 0;
    for (size_t first = 0; first < s->objects; first += BLOCK) {
        size_t count = s->objects - first < BLOCK ? s->objects - first : BLOCK;
        if (reduce_block(cost + first, s->price + first, here, count) >= *bound)
            continue;
        for (size_t k = 0; k < count; k++) {
            if (here[k] >= *bound)
                continue;
            if (found == p->room) {
                sort_list(list, p->key, found);
                found = p->width;
                *bound = p->key[found - 1];
                if (here[k] >= *bound)
                    continue;
            }
            p->key[found] = here[k];
            list[found++] = (struct listed){cost[first + k], first + k};
        }
    }
    return found;
}

void TYPED(refresh)(struct paths *p, size_t person)
{
    const cost_t *cost = p->s->cost + person * p->s->objects;
    cost_t bound = first_bound(p, person);
    size_t found = collect(p, cost, p->entry + p->start[person], &bound);
    p->end[person] = p->start[person] + found;
    p->bound[person] = bound;
}

/* ---- the heap: equal keys in the order of their ids ---- */

static bool precedes(struct node a, struct node b)
{
    return a.key < b.key || (a.key == b.key && a.id < b.id);
}

static void put(struct paths *p, size_t place, struct node node)
{
    p->heap[place] = node;
    p->place[node.id] = place + 1;
}

static void sift_up(struct paths *p, size_t place, struct node node)
{
    while (place > 0 && precedes(node, p->heap[(place - 1) / 2])) {
        put(p, place, p->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(p, place, node);
}

static void sift_down(struct paths *p, size_t place, struct node node)
{
    for (;;) {
        size_t child = 2 * place + 1;
        if (child + 1 < p->heaped && precedes(p->heap[child + 1], p->heap[child]))
            child++;
        if (child >= p->heaped || !precedes(p->heap[child], node))
            break;
        put(p, place, p->heap[child]);
        place = child;
    }
    put(p, place, node);
}

/* Adds a node, or lowers its key. */
static void push(struct paths *p, struct node node)
{
    size_t place = p->place[node.id] > 0 ? p->place[node.id] - 1 : p->heaped++;
    sift_up(p, place, node);
}

static struct node pop(struct paths *p)
{
    struct node top = p->heap[0];
    p->place[top.id] = 0;
    if (--p->heaped > 0)
        sift_down(p, 0, p->heap[p->heaped]);
    return top;
}

/* ---- the search ---- */

/* `person` reaches the object at that length. What is not below the limit is of no use. */
static inline void offer(struct paths *p, size_t object, cost_t length, size_t person)
{
    const struct state *s = p->s;
    if (length >= p->limit || length >= p->dist[object])
        return;
    if (p->dist[object] == COST_MAX)
        p->touched[p->reached++] = object;
    p->dist[object] = length;
    s->from[object] = person;
    if (is_open(s, object)) {
        p->limit = length;
        p->nearest = object;
    } else {
        push(p, (struct node){length, object});
    }
}

static void scan_list(struct paths *p, size_t person, cost_t base)
{
    const cost_t *price = p->s->price;
    for (size_t k = p->start[person]; k < p->end[person]; k++) {
        struct listed pair = p->entry[k];
        offer(p, pair.object, pair.cost - price[pair.object] - base, person);
    }
    if (p->bound != NULL && p->bound[person] < COST_MAX && p->bound[person] - base < p->limit) {
        p->base[person] = base;
        push(p, (struct node){p->bound[person] - base, p->s->objects + person});
    }
}

/* Scans all pairs, and makes the list afresh for later. */
FOR_EACH_PROCESSOR
static void scan_row(struct paths *p, size_t person)
{
    const struct state *s = p->s;
    const cost_t *cost = s->cost + person * s->objects;
    cost_t base = p->base[person];
    p->effort += s->objects / BLOCK;
    for (size_t first = 0; first < s->objects; first += BLOCK) {
        cost_t key[BLOCK];
        size_t count = s->objects - first < BLOCK ? s->objects - first : BLOCK;
        cost_t least = reduce_block(cost + first, s->price + first, key, count);
        if (least == COST_MAX || least - base >= p->limit)
            continue;
        for (size_t k = 0; k < count; k++)
            if (key[k] < COST_MAX)
                offer(p, first + k, key[k] - base, person);
    }
    TYPED(refresh)(p, person);
}

static void offer_members(struct paths *p, size_t object, cost_t at)
{
    const struct state *s = p->s;
    size_t g = s->group[object];
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (!is_free(s, member))
            offer(p, member, at - s->dual[member], NONE);
    }
}

static void reach(struct paths *p, size_t object, cost_t at)
{
    struct state *s = p->s;
    p->dist[object] = COST_MIN;
    if (!is_free(s, object)) {
        p->effort++;
        settle(s, object, at);
        size_t person = s->person_of[object];
        scan_list(p, person, person_dual(s, object) - at);
    } else if (!s->is_entered[s->group[object]]) {
        TYPED(enter_group)(s, object, at);
        offer_members(p, object, at);
    }
}

/* Many problems with few persons need no search, and never get here. */
static void make_ready(struct paths *p)
{
    for (size_t i = 0; i < p->s->objects; i++)
        p->dist[i] = COST_MAX;
    p->ready = true;
}

static void begin_search(struct paths *p)
{
    if (!p->ready)
        make_ready(p);
    TYPED(begin)(p->s);
    for (size_t k = 0; k < p->reached; k++)
        p->dist[p->touched[k]] = COST_MAX;
    for (size_t k = 0; k < p->heaped; k++)
        p->place[p->heap[k].id] = 0;
    p->reached = p->heaped = 0;
    p->limit = COST_MAX;
    p->nearest = NONE;
}

static void find_path(struct paths *p, size_t start)
{
    cost_t radius = COST_MIN;
    begin_search(p);
    scan_list(p, start, 0);
    while (p->heaped > 0 && p->heap[0].key < p->limit) {
        struct node next = pop(p);
        /* Rounding may leave a length a little below the radius. */
        radius = next.key > radius ? next.key : radius;
        if (next.id < p->s->objects)
            reach(p, next.id, radius);
        else
            scan_row(p, next.id - p->s->objects);
    }
    p->limit = p->limit > radius ? p->limit : radius;
}

int TYPED(augment)(struct paths *p, size_t person)
{
    find_path(p, person);
    if (p->nearest == NONE)
        return LAP_INFEASIBLE;
    TYPED(change_duals)(p->s, p->limit);
    TYPED(flip_path)(p->s, p->nearest);
    return 0;
}
