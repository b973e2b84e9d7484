/* SPDX-License-Identifier: BSD-3-Clause */
/* Dijkstra's method where most pairs matter: a row of costs is read once, in vectors, and objects
 * of equal distance are settled together. */
#include "lap/rows.h"

#include "lap/vector.h"

#include <errno.h>

/* Whole blocks: what is beyond the objects is never reached, nor open. */
int TYPED(rows_init)(struct rows *r, struct state *s)
{
    size_t blocks = blocks_of(s);
    *r = (struct rows){
        .s = s,
        .dist = base_arena_alloc(&s->arena, blocks * BLOCK, sizeof *r->dist),
        .closed = base_arena_alloc(&s->arena, blocks * BLOCK, sizeof *r->closed),
        .least = base_arena_alloc(&s->arena, blocks + CHAINS, sizeof *r->least),
        .has_open = base_arena_alloc(&s->arena, blocks, sizeof *r->has_open),
        .queue = base_arena_alloc(&s->arena, s->objects, sizeof *r->queue),
    };
    return s->arena.failed ? -ENOMEM : 0;
}

static inline cost_t unless_settled(cost_t dist)
{
    return dist > COST_MIN ? dist : COST_MAX;
}

/* The least distance of a block that is not settled. */
INLINED cost_t least_unsettled(const cost_t *restrict dist)
{
    cost_t waiting[BLOCK];
    for (size_t k = 0; k < BLOCK; k++)
        waiting[k] = unless_settled(dist[k]);
    return least_of(waiting, BLOCK);
}

/* The least distance of a block's open objects. */
INLINED cost_t least_open(const cost_t *restrict dist, const cost_t *restrict closed)
{
    cost_t open[BLOCK];
    for (size_t k = 0; k < BLOCK; k++)
        open[k] = greater(dist[k], closed[k]);
    return least_of(open, BLOCK);
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
    return least_unsettled(dist);
}

/* Moves the objects of a block that are at the radius to the queue, unless an open one is. Rounding
 * may make a distance slightly less. */
INLINED void queue_nearest(struct rows *r, size_t block)
{
    cost_t *dist = r->dist + block * BLOCK;
    uint32_t mask = mask_below(dist, next_above(r->radius));
    for (; mask != 0; mask &= mask - 1) {
        size_t k = (size_t)__builtin_ctz(mask);
        if (r->closed[block * BLOCK + k] < COST_MAX) {
            r->nearest = block * BLOCK + k;
            return;
        }
        dist[k] = COST_MIN;
        r->queue[r->end++] = block * BLOCK + k;
    }
    r->least[block] = least_unsettled(dist);
}

/* least: of the distances of the block that are not settled. */
INLINED void update_block(struct rows *r, size_t block, cost_t least)
{
    size_t first = block * BLOCK;
    r->least[block] = least;
    if (least < r->limit && r->has_open[block])
        r->limit = lesser(least_open(r->dist + first, r->closed + first), r->limit);
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

FOR_EACH_PROCESSOR
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
        update_block(r, member / BLOCK, lesser(length, r->least[member / BLOCK]));
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

/* Without branches, so that it becomes vectors where there are no groups. */
static void note_open_objects(struct rows *r)
{
    const struct state *s = r->s;
    for (size_t i = 0; i < s->objects; i++)
        r->closed[i] = s->person_of[i] == NONE ? COST_MIN : COST_MAX;
    for (size_t i = 0; i < s->objects && s->group != NULL; i++)
        r->closed[i] = is_open(s, i) ? COST_MIN : COST_MAX;
    for (size_t i = s->objects; i < blocks_of(s) * BLOCK; i++)
        r->closed[i] = COST_MAX;
}

FOR_EACH_PROCESSOR
static void begin_rows_search(struct rows *r)
{
    size_t blocks = blocks_of(r->s);
    TYPED(reset_search)(r->s);
    note_open_objects(r);
    for (size_t i = 0; i < blocks * BLOCK; i++)
        r->dist[i] = COST_MAX;
    for (size_t b = 0; b < blocks + CHAINS; b++)
        r->least[b] = COST_MAX;
    for (size_t b = 0; b < blocks; b++)
        r->has_open[b] = least_of(r->closed + b * BLOCK, BLOCK) < COST_MAX;
    r->first = r->end = 0;
    r->radius = COST_MIN;
    r->limit = COST_MAX;
    r->nearest = NONE;
}

/* False: nothing else can be reached. */
FOR_EACH_PROCESSOR
static bool widen_radius(struct rows *r)
{
    size_t blocks = blocks_of(r->s);
    cost_t radius = least_of(r->least, (blocks + CHAINS - 1) / CHAINS * CHAINS);
    r->radius = radius;
    for (size_t b = 0; b < blocks && radius < COST_MAX && r->nearest == NONE; b++)
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
