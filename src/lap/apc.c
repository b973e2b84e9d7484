/* SPDX-License-Identifier: BSD-3-Clause */
/* APC of Carpaneto, Martello and Toth, for complete matrices. See doc/apc.md. */
#include "lap/reduction.h"

#include <errno.h>

/* One search. Objects that are labelled for good leave the list, so that later scans are
 * shorter. */
struct search {
    struct state *s;
    size_t *unlabelled;
    size_t count;
    cost_t *dist; /* COST_MAX: not reached; COST_MIN: labelled */
};

static void offer(struct search *q, size_t object, cost_t length, size_t person)
{
    if (length < q->dist[object]) {
        q->dist[object] = length;
        q->s->from[object] = person;
    }
}

/* base: what the person's reduced costs lose on the way. */
static void scan_dense(struct search *q, size_t person, cost_t base)
{
    const struct state *s = q->s;
    const cost_t *cost = s->cost + person * s->objects;
    for (size_t k = 0; k < q->count; k++) {
        size_t object = q->unlabelled[k];
        if (cost[object] < COST_MAX)
            offer(q, object, cost[object] - s->price[object] - base, person);
    }
}

static void scan(struct search *q, size_t person, cost_t base)
{
    const struct state *s = q->s;
    struct pairs pairs = pairs_of(s, person);
    if (pairs.object == NULL) {
        scan_dense(q, person, base);
        return;
    }
    for (size_t k = 0; k < pairs.count; k++) {
        if (pairs.cost[k] < COST_MAX) {
            size_t object = pairs.object[k];
            offer(q, object, pairs.cost[k] - s->price[object] - base, person);
        }
    }
}

/* Takes the nearest object off the list; NONE when no other can be reached. Of equally near
 * ones an open object comes first. */
static size_t take_nearest(struct search *q)
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

/* The holders of a full group's objects can be asked to leave; no other way leads on. */
static void label_group(struct search *q, size_t object, cost_t at)
{
    struct state *s = q->s;
    size_t g = s->group[object];
    if (s->is_entered[g])
        return;
    TYPED(enter_group)(s, object, at);
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (!is_free(s, member))
            offer(q, member, at - s->dual[member], NONE);
    }
}

static void label(struct search *q, size_t object, cost_t at)
{
    struct state *s = q->s;
    q->dist[object] = COST_MIN;
    if (is_free(s, object)) {
        label_group(q, object, at);
        return;
    }
    settle(s, object, at);
    scan(q, s->person_of[object], person_dual(s, object) - at);
}

static void begin_search(struct search *q)
{
    TYPED(begin)(q->s);
    q->count = q->s->objects;
    for (size_t i = 0; i < q->count; i++) {
        q->dist[i] = COST_MAX;
        q->unlabelled[i] = i;
    }
}

static int augment(struct search *q, size_t person)
{
    struct state *s = q->s;
    cost_t at = COST_MIN;
    begin_search(q);
    scan(q, person, 0);
    for (;;) {
        size_t object = take_nearest(q);
        if (object == NONE)
            return LAP_INFEASIBLE;
        /* Rounding may leave a length a little below the last. */
        at = q->dist[object] > at ? q->dist[object] : at;
        if (is_open(s, object)) {
            TYPED(change_duals)(s, at);
            TYPED(flip_path)(s, object);
            return 0;
        }
        label(q, object, at);
    }
}

static int carpaneto_martello_toth(struct state *s)
{
    struct search search = {
        .s = s,
        .unlabelled = TYPED(allocate)(s, s->objects, sizeof *search.unlabelled),
        .dist = TYPED(allocate)(s, s->objects, sizeof *search.dist),
    };
    int rc = search.unlabelled != NULL && search.dist != NULL ? 0 : -ENOMEM;
    if (rc == 0)
        rc = TYPED(reduce_and_exchange)(s);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        if (s->object_of[j] == NONE)
            rc = augment(&search, j);
    return rc;
}

int TYPED(apc)(const lap_problem *problem, lap_solution *solution);
int TYPED(apc)(const lap_problem *problem, lap_solution *solution)
{
    return TYPED(run)(problem, solution, carpaneto_martello_toth);
}

#ifndef LAP_INTEGER
SOLVER_OF_BOTH_KINDS(apc)
#endif
