/* SPDX-License-Identifier: BSD-3-Clause */
/* Column reduction, the first phase that Jonker and Volgenant's method and those of Carpaneto,
 * Martello and Toth have in common; and the next phase of the latter. */
#include "lap/reduction.h"

#include "lap/least.h"
#include "lap/vector.h"

#include <errno.h>

/* ---- column reduction ---- */

void TYPED(column_reduction)(struct state *s)
{
    if (!all_assigned(s))
        return;
    for (size_t i = s->objects; i-- > 0;) {
        size_t person = s->person_of_least[i];
        if (person != NONE && s->object_of[person] == NONE)
            assign(s, person, i);
    }
}

/* ---- whether column reduction will do ---- */

/* Persons that are looked at. */
enum { LOOKED_AT = 8 };

/* The first one. */
static size_t cheapest_object(const struct state *s, size_t person)
{
    const cost_t *cost = row_of(s, person);
    size_t cheapest = 0;
    for (size_t i = 1; i < s->objects; i++)
        cheapest = cost[i] < cost[cheapest] ? i : cheapest;
    return cheapest;
}

/* Whether all others cost more. */
static bool is_cheapest_person(const struct state *s, size_t object, size_t person)
{
    cost_t least = row_of(s, person)[object];
    for (size_t j = 0; j < s->persons; j++)
        if (row_of(s, j)[object] <= least && j != person)
            return false;
    return true;
}

bool TYPED(reduction_may_do)(const struct state *s)
{
    if (!all_assigned(s) || s->start != NULL || s->persons < LOOKED_AT)
        return false;
    for (size_t k = 0; k < LOOKED_AT; k++) {
        size_t person = s->persons * k / LOOKED_AT;
        if (!is_cheapest_person(s, cheapest_object(s, person), person))
            return false;
    }
    return true;
}

/* ---- the first phase of APC and APS ---- */

struct exchange {
    struct state *s;
    const struct paths *lists; /* NULL: all pairs */
    size_t *next;              /* by person: the first pair that may still lead to an open object */
};

static struct pairs pairs_in(const struct exchange *x, size_t person)
{
    return x->lists != NULL ? list_of(x->lists, person) : pairs_of(x->s, person);
}

static cost_t bound_in(const struct exchange *x, size_t person)
{
    return x->lists != NULL && x->lists->bound != NULL ? x->lists->bound[person] : COST_MAX;
}

static cost_t least_reduced(const struct state *s, struct pairs pairs)
{
    cost_t least = COST_MAX;
    for (size_t k = 0; k < pairs.count; k++) {
        cost_t key = reduced(pairs.cost[k], s->price[object_at(pairs, k)]);
        least = lesser(key, least);
    }
    return least;
}

/* Moves the object's person to an open object of the same reduced cost, if there is one. Prices do
 * not change here and open objects only become fewer, so no pair is tried twice. */
static bool displace_person(struct exchange *x, size_t object)
{
    struct state *s = x->s;
    size_t person = s->person_of[object];
    struct pairs pairs = pairs_in(x, person);
    cost_t least = person_dual(s, object);
    for (size_t *k = &x->next[person]; *k < pairs.count; ++*k) {
        size_t other = object_at(pairs, *k);
        if (reduced(pairs.cost[*k], s->price[other]) <= least && is_open(s, other)) {
            assign_open(s, person, other);
            return true;
        }
    }
    return false;
}

/* Whether the person gets an object. */
static bool assign_cheapest(struct exchange *x, size_t person)
{
    struct state *s = x->s;
    struct pairs pairs = pairs_in(x, person);
    cost_t least = least_reduced(s, pairs);
    if (least > bound_in(x, person))
        return false;
    for (size_t k = 0; k < pairs.count && least < COST_MAX; k++) {
        size_t object = object_at(pairs, k);
        if (reduced(pairs.cost[k], s->price[object]) > least)
            continue;
        if (is_open(s, object)) {
            assign_open(s, person, object);
            return true;
        }
        if (!is_free(s, object) && displace_person(x, object)) {
            assign(s, person, object);
            return true;
        }
    }
    return false;
}

int TYPED(exchange)(struct state *s, const struct paths *lists, size_t most_left)
{
    struct exchange x = {s, lists, base_arena_alloc(&s->arena, s->persons, sizeof *x.next)};
    if (x.next == NULL)
        return -ENOMEM;
    size_t left = 0;
    for (size_t j = 0; j < s->persons && left <= most_left; j++)
        if (s->object_of[j] == NONE)
            left += !assign_cheapest(&x, j);
    return 0;
}

int TYPED(reduce_and_exchange)(struct state *s)
{
    int rc = TYPED(read_costs)(s, NULL);
    if (rc != 0)
        return rc;
    TYPED(column_reduction)(s);
    return TYPED(exchange)(s, NULL, NONE);
}
