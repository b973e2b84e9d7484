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
        .has_open = base_arena_alloc(&s->arena, s->objects / BLOCK + 1, sizeof *r->has_open),
        .queue = base_arena_alloc(&s->arena, s->objects, sizeof *r->queue),
    };
    return s->arena.failed ? -ENOMEM : 0;
}

static size_t end_of_block(const struct rows *r, size_t block)
{
    size_t end = (block + 1) * BLOCK;
    return end < r->s->objects ? end : r->s->objects;
}

static inline cost_t unless_settled(cost_t dist)
{
    return dist > COST_MIN ? dist : COST_MAX;
}

/* The least of `count` distances that are not settled. */
INLINED cost_t least_unsettled(const cost_t *restrict dist, size_t count)
{
    cost_t waiting[BLOCK];
    for (size_t k = 0; k < count; k++)
        waiting[k] = unless_settled(dist[k]);
    for (size_t k = count; k < BLOCK; k++)
        waiting[k] = COST_MAX;
    return least_of(waiting, BLOCK);
}

/* Lowers the distances of a block and returns the least that is not settled; COST_MIN: none was
 * lower, and below the limit. */
INLINED cost_t lower_distances(const cost_t *restrict cost, const cost_t *restrict price,
                               cost_t base, cost_t limit, cost_t *restrict dist,
                               size_t *restrict from, size_t person, size_t count)
{
    int64_t lower = 0;
    fetch_ahead(cost);
    for (size_t k = 0; k < count; k++)
        lower |= reduced(cost[k], price[k] + base) < lesser(dist[k], limit) ? INT64_C(-1) : 0;
    if (lower == 0)
        return COST_MIN;
    cost_t length[BLOCK];
    for (size_t k = 0; k < count; k++)
        length[k] = reduced(cost[k], price[k] + base);
    lower_least(length, dist, from, person, count);
    return least_unsettled(dist, count);
}

FOR_EACH_PROCESSOR
static cost_t least_distance(const struct rows *r, size_t block)
{
    const cost_t *dist = r->dist + block * BLOCK;
    size_t count = end_of_block(r, block) - block * BLOCK;
    return count == BLOCK ? least_unsettled(dist, BLOCK) : least_unsettled(dist, count);
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

/* least: of the distances of the block that are not settled. */
static void update_block(struct rows *r, size_t block, cost_t least)
{
    r->least[block] = least;
    if (least < r->limit && r->has_open[block])
        for (size_t i = block * BLOCK; i < end_of_block(r, block); i++)
            if (is_open(r->s, i))
                r->limit = lesser(r->dist[i], r->limit);
    if (least <= r->radius)
        queue_nearest(r, block);
}

INLINED void scan_block(struct rows *r, size_t block, size_t count, size_t person, cost_t base)
{
    const struct state *s = r->s;
    size_t first = block * BLOCK;
    cost_t least = lower_distances(row_of(s, person) + first, s->price + first, base, r->limit,
                                   r->dist + first, s->from + first, person, count);
    if (least > COST_MIN)
        update_block(r, block, least);
}

/* base: subtracted from the person's reduced costs. */
FOR_EACH_PROCESSOR
static void scan_person(struct rows *r, size_t person, cost_t base)
{
    size_t whole = r->s->objects / BLOCK, rest = r->s->objects % BLOCK;
    r->scanned++;
    for (size_t b = 0; b < whole && r->nearest == NONE; b++)
        scan_block(r, b, BLOCK, person, base);
    if (rest > 0 && r->nearest == NONE)
        scan_block(r, whole, rest, person, base);
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
        update_block(r, member / BLOCK, least_distance(r, member / BLOCK));
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
    for (size_t b = 0; b < blocks_of(r->s); b++) {
        r->least[b] = COST_MAX;
        r->has_open[b] = false;
    }
    for (size_t i = 0; i < r->s->objects; i++)
        r->has_open[i / BLOCK] |= is_open(r->s, i);
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
