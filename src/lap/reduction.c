/* SPDX-License-Identifier: BSD-3-Clause */
/* Column reduction, the first phase that Jonker and Volgenant's method and those of Carpaneto,
 * Martello and Toth have in common; and the next phase of the latter. */
#include "lap/reduction.h"

#include "lap/vector.h"

#include <errno.h>

/* ---- column reduction ---- */

FOR_EACH_PROCESSOR
static void find_least_dense(struct state *s, cost_t *least, size_t *of)
{
    size_t whole = s->objects - s->objects % BLOCK;
    for (size_t j = 0; j < s->persons; j++) {
        const cost_t *cost = s->cost + j * s->objects;
        for (size_t i = 0; i < whole; i += BLOCK)
            lower_whole_block(cost + i, least + i, of + i, j);
        for (size_t i = whole; i < s->objects; i++) {
            of[i] = cost[i] < least[i] ? j : of[i];
            least[i] = lesser(cost[i], least[i]);
        }
    }
}

static void find_least_sparse(struct state *s, cost_t *least, size_t *of)
{
    for (size_t j = 0; j < s->persons; j++) {
        for (size_t k = s->start[j]; k < s->start[j + 1]; k++) {
            size_t i = s->entry_object[k];
            of[i] = s->cost[k] < least[i] ? j : of[i];
            least[i] = lesser(s->cost[k], least[i]);
        }
    }
}

/* Sets the dual of each object to its least cost, and person_of_least to the person of that cost.
 */
static void set_least_duals(struct state *s, size_t *person_of_least)
{
    for (size_t i = 0; i < s->objects; i++) {
        s->dual[i] = COST_MAX;
        person_of_least[i] = NONE;
    }
    if (s->start == NULL)
        find_least_dense(s, s->dual, person_of_least);
    else
        find_least_sparse(s, s->dual, person_of_least);
    for (size_t i = 0; i < s->objects; i++)
        set_dual(s, i, person_of_least[i] != NONE ? s->dual[i] : 0);
}

void TYPED(column_reduction)(struct state *s)
{
    size_t *person_of_least = s->from; /* not in use before the first search */
    set_least_duals(s, person_of_least);
    for (size_t i = s->objects; i-- > 0;) {
        size_t person = person_of_least[i];
        if (person != NONE && s->object_of[person] == NONE)
            assign(s, person, i);
    }
}

/* ---- the first phase of APC and APS ---- */

struct exchange {
    struct state *s;
    size_t *next; /* by person: the first pair that may still lead to an open object */
};

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
    struct pairs pairs = pairs_of(s, person);
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

static void assign_cheapest(struct exchange *x, size_t person)
{
    struct state *s = x->s;
    struct pairs pairs = pairs_of(s, person);
    cost_t least = least_reduced(s, pairs);
    for (size_t k = 0; k < pairs.count && least < COST_MAX; k++) {
        size_t object = object_at(pairs, k);
        if (reduced(pairs.cost[k], s->price[object]) > least)
            continue;
        if (is_open(s, object)) {
            assign_open(s, person, object);
            return;
        }
        if (!is_free(s, object) && displace_person(x, object)) {
            assign(s, person, object);
            return;
        }
    }
}

int TYPED(exchange)(struct state *s)
{
    struct exchange x = {s, base_arena_alloc(&s->arena, s->persons, sizeof *x.next)};
    if (x.next == NULL)
        return -ENOMEM;
    for (size_t j = 0; j < s->persons; j++)
        if (s->object_of[j] == NONE)
            assign_cheapest(&x, j);
    return 0;
}

int TYPED(reduce_and_exchange)(struct state *s)
{
    if (all_assigned(s))
        TYPED(column_reduction)(s);
    return TYPED(exchange)(s);
}
