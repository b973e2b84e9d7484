/* SPDX-License-Identifier: BSD-3-Clause */
/* Dijkstra's method where most pairs matter: a row of costs is read once, in vectors, and objects
 * of equal distance are settled together. */
#include "lap/rows.h"

#include "lap/vector.h"

#include <errno.h>

int TYPED(rows_init)(struct rows *r, struct state *s)
{
    *r = (struct rows){
        .s = s,
        .dist = base_arena_alloc(&s->arena, s->objects, sizeof *r->dist),
        .least = base_arena_alloc(&s->arena, s->objects / BLOCK + 1, sizeof *r->least),
        .queue = base_arena_alloc(&s->arena, s->objects, sizeof *r->queue),
    };
    return s->arena.failed ? -ENOMEM : 0;
}

static size_t end_of_block(const struct rows *r, size_t block)
{
    size_t end = (block + 1) * BLOCK;
    return end < r->s->objects ? end : r->s->objects;
}

/* Lowers the distances of a block; false: none was lower, and below the limit. */
INLINED bool lower_distances(const cost_t *restrict cost, const cost_t *restrict price, cost_t base,
                             cost_t limit, cost_t *restrict dist, size_t *restrict from,
                             size_t person, size_t count)
{
    int64_t lower = 0;
    fetch_ahead(cost);
    for (size_t k = 0; k < count; k++)
        lower |= reduced(cost[k], price[k] + base) < lesser(dist[k], limit) ? -1 : 0;
    if (lower == 0)
        return false;
    for (size_t k = 0; k < count; k++) {
        cost_t length = reduced(cost[k], price[k] + base);
        from[k] = length < dist[k] ? person : from[k];
        dist[k] = lesser(length, dist[k]);
    }
    return true;
}

static inline cost_t unless_settled(cost_t dist)
{
    return dist > COST_MIN ? dist : COST_MAX;
}

FOR_EACH_PROCESSOR
static cost_t least_distance(const struct rows *r, size_t block)
{
    const cost_t *dist = r->dist + block * BLOCK;
    size_t count = end_of_block(r, block) - block * BLOCK;
    cost_t waiting[BLOCK], least = COST_MAX;
    if (count == BLOCK) {
        for (size_t k = 0; k < BLOCK; k++)
            waiting[k] = unless_settled(dist[k]);
        return least_of(waiting, BLOCK);
    }
    for (size_t k = 0; k < count; k++)
        least = lesser(unless_settled(dist[k]), least);
    return least;
}

/* Moves the objects of a block that are at the radius to the queue. Rounding may make a distance
 * slightly less. */
static void queue_nearest(struct rows *r, size_t block)
{
    for (size_t i = block * BLOCK; i < end_of_block(r, block); i++) {
        if (r->dist[i] > r->radius || r->dist[i] == COST_MIN)
            continue;
        if (is_open(r->s, i)) {
            r->nearest = i;
            return;
        }
        r->dist[i] = COST_MIN;
        r->queue[r->end++] = i;
    }
    r->least[block] = least_distance(r, block);
}

static void update_block(struct rows *r, size_t block)
{
    r->least[block] = least_distance(r, block);
    if (r->least[block] < r->limit)
        for (size_t i = block * BLOCK; i < end_of_block(r, block); i++)
            if (is_open(r->s, i))
                r->limit = lesser(r->dist[i], r->limit);
    if (r->least[block] <= r->radius)
        queue_nearest(r, block);
}

/* base: subtracted from the person's reduced costs. */
FOR_EACH_PROCESSOR
static void scan_person(struct rows *r, size_t person, cost_t base)
{
    struct state *s = r->s;
    const cost_t *cost = row_of(s, person);
    size_t whole = s->objects / BLOCK, first = 0;
    r->scanned++;
    for (size_t b = 0; b < whole && r->nearest == NONE; b++, first += BLOCK)
        if (lower_distances(cost + first, s->price + first, base, r->limit, r->dist + first,
                            s->from + first, person, BLOCK))
            update_block(r, b);
    if (first < s->objects && r->nearest == NONE &&
        lower_distances(cost + first, s->price + first, base, r->limit, r->dist + first,
                        s->from + first, person, s->objects - first))
        update_block(r, whole);
}

static void reach_group(struct rows *r, size_t object)
{
    struct state *s = r->s;
    size_t g = s->group[object];
    if (s->is_entered[g])
        return;
    TYPED(enter_group)(s, object, r->radius);
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        cost_t length = r->radius - s->dual[member];
        if (is_free(s, member) || length >= r->dist[member])
            continue;
        r->dist[member] = length;
        s->from[member] = NONE;
        update_block(r, member / BLOCK);
    }
}

static void settle_queued(struct rows *r, size_t object)
{
    struct state *s = r->s;
    if (is_free(s, object)) {
        reach_group(r, object);
        return;
    }
    settle(s, object, r->radius);
    if (!is_scanned(s, s->person_of[object]))
        scan_person(r, s->person_of[object], person_dual(s, object) - r->radius);
}

static void begin_rows_search(struct rows *r)
{
    TYPED(reset_search)(r->s);
    for (size_t i = 0; i < r->s->objects; i++)
        r->dist[i] = COST_MAX;
    for (size_t b = 0; b < blocks_of(r->s); b++)
        r->least[b] = COST_MAX;
    r->first = r->end = 0;
    r->radius = COST_MIN;
    r->limit = COST_MAX;
    r->nearest = NONE;
}

/* False: nothing else can be reached. */
static bool widen_radius(struct rows *r)
{
    cost_t radius = COST_MAX;
    for (size_t b = 0; b < blocks_of(r->s); b++)
        radius = lesser(r->least[b], radius);
    r->radius = radius;
    for (size_t b = 0; b < blocks_of(r->s) && radius < COST_MAX && r->nearest == NONE; b++)
        if (r->least[b] <= radius)
            queue_nearest(r, b);
    return radius < COST_MAX;
}

int TYPED(augment_by_rows)(struct rows *r, size_t person)
{
    begin_rows_search(r);
    scan_person(r, person, 0);
    while (r->nearest == NONE)
        if (r->first < r->end)
            settle_queued(r, r->queue[r->first++]);
        else if (!widen_radius(r))
            return LAP_INFEASIBLE;
    TYPED(change_duals)(r->s, r->radius);
    TYPED(flip_path)(r->s, r->nearest);
    return 0;
}
