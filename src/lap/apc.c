/* SPDX-License-Identifier: BSD-3-Clause */
/* APC of Carpaneto, Martello and Toth, for complete matrices. See doc/apc.md. */
#include "lap/reduction.h"
#include "lap/search.h"

#include <errno.h>

/* One search. Permanently labelled objects leave the list, which shortens later scans. */
struct apc_search {
    struct state *s;
    size_t *unlabelled;
    size_t count;
    cost_t *dist; /* COST_MAX: not reached; COST_MIN: labelled */
};

static void apc_offer(struct apc_search *q, size_t object, cost_t length, size_t person)
{
    if (length < q->dist[object]) {
        q->dist[object] = length;
        q->s->from[object] = person;
    }
}

/* base: subtracted from the person's reduced costs. */
static void apc_scan_dense(struct apc_search *q, size_t person, cost_t base)
{
    const struct state *s = q->s;
    const cost_t *cost = s->cost + person * s->objects;
    for (size_t k = 0; k < q->count; k++) {
        size_t object = q->unlabelled[k];
        if (cost[object] < COST_MAX)
            apc_offer(q, object, cost[object] - s->price[object] - base, person);
    }
}

static void apc_scan(struct apc_search *q, size_t person, cost_t base)
{
    const struct state *s = q->s;
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL) {
        apc_scan_dense(q, person, base);
        return;
    }
    for (size_t k = 0; k < pairs.count; k++) {
        if (pairs.cost[k] < COST_MAX) {
            size_t object = pairs.object[k];
            apc_offer(q, object, pairs.cost[k] - s->price[object] - base, person);
        }
    }
}

/* Removes the nearest object from the list; NONE when none can be reached. Of equally near ones,
 * open objects come first. */
static size_t apc_remove_nearest(struct apc_search *q)
{
    const struct state *s = q->s;
    size_t best = NONE;
    for (size_t k = 0; k < q->count; k++) {
        size_t object = q->unlabelled[k];
        cost_t dist = q->dist[object];
        if (dist == COST_MAX)
            continue;
        cost_t least = best != NONE ? q->dist[q->unlabelled[best]] : COST_MAX;
        if (dist < least || (dist == least && is_open(s, object)))
            best = k;
    }
    if (best == NONE)
        return NONE;
    size_t object = q->unlabelled[best];
    q->unlabelled[best] = q->unlabelled[--q->count];
    return object;
}

/* Unassigning an assigned object of the full group makes `object` available. */
static void apc_label_group(struct apc_search *q, size_t object, cost_t at)
{
    struct state *s = q->s;
    size_t g = s->group[object];
    if (s->is_entered[g])
        return;
    TYPED(enter_group)(s, object, at);
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (!is_free(s, member))
            apc_offer(q, member, at - s->dual[member], NONE);
    }
}

static void apc_label(struct apc_search *q, size_t object, cost_t at)
{
    struct state *s = q->s;
    q->dist[object] = COST_MIN;
    if (is_free(s, object)) {
        apc_label_group(q, object, at);
        return;
    }
    settle(s, object, at);
    apc_scan(q, s->person_of[object], person_dual(s, object) - at);
}

static void apc_begin_search(struct apc_search *q)
{
    TYPED(reset_search)(q->s);
    q->count = q->s->objects;
    for (size_t i = 0; i < q->count; i++) {
        q->dist[i] = COST_MAX;
        q->unlabelled[i] = i;
    }
}

static int apc_augment(struct apc_search *q, size_t person)
{
    struct state *s = q->s;
    cost_t at = COST_MIN;
    apc_begin_search(q);
    apc_scan(q, person, 0);
    for (;;) {
        size_t object = apc_remove_nearest(q);
        if (object == NONE)
            return LAP_INFEASIBLE;
        /* Rounding may make a length slightly less than the previous one. */
        at = q->dist[object] > at ? q->dist[object] : at;
        if (is_open(s, object)) {
            TYPED(change_duals)(s, at);
            TYPED(flip_path)(s, object);
            return 0;
        }
        apc_label(q, object, at);
    }
}

int TYPED(apc)(struct state *s)
{
    struct apc_search q = {
        .s = s,
        .unlabelled = base_arena_alloc(&s->arena, s->objects, sizeof *q.unlabelled),
        .dist = base_arena_alloc(&s->arena, s->objects, sizeof *q.dist),
    };
    int rc = s->arena.failed ? -ENOMEM : TYPED(reduce_and_exchange)(s);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        if (s->object_of[j] == NONE)
            rc = apc_augment(&q, j);
    return rc;
}
