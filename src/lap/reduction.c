/* SPDX-License-Identifier: BSD-3-Clause */
/* The initial phases of Jonker and Volgenant's method and of those of Carpaneto, Martello and Toth.
 */
#include "lap/reduction.h"

#include <errno.h>

/* ---- column reduction ---- */

/* The person of the least cost is kept in person_of. */
static void find_least_costs(struct state *s)
{
    for (size_t i = 0; i < s->objects; i++)
        s->dual[i] = COST_MAX;
    for (size_t j = 0; j < s->persons; j++) {
        struct pairs pairs = pairs_of(s, j);
        for (size_t k = 0; k < pairs.count; k++) {
            size_t object = object_at(&pairs, k);
            if (pairs.cost[k] < s->dual[object]) {
                s->dual[object] = pairs.cost[k];
                s->person_of[object] = j;
            }
        }
    }
}

void TYPED(column_reduction)(struct state *s)
{
    if (s->persons < s->objects)
        return;
    find_least_costs(s);
    for (size_t i = s->objects; i-- > 0;) {
        size_t person = s->person_of[i];
        s->person_of[i] = NONE;
        if (person == NONE)
            s->dual[i] = 0;
        else if (s->object_of[person] == NONE)
            TYPED(assign)(s, person, i);
    }
}

/* ---- reduction transfer and augmenting row reduction ---- */

/* A person's two least reduced costs and their objects; COST_MAX and NONE: no such object. */
struct two_least {
    cost_t least, second;
    size_t object, second_object;
};

static struct two_least find_two_least(const struct state *s, size_t person)
{
    struct two_least found = {COST_MAX, COST_MAX, NONE, NONE};
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] == COST_MAX)
            continue;
        cost_t value = pairs.cost[k] - s->dual[object];
        if (value < found.least) {
            found = (struct two_least){value, found.least, object, found.object};
        } else if (value < found.second) {
            found.second = value;
            found.second_object = object;
        }
    }
    return found;
}

void TYPED(reduction_transfer)(struct state *s)
{
    for (size_t j = 0; j < s->persons; j++) {
        size_t object = s->object_of[j];
        if (object == NONE)
            continue;
        struct two_least found = find_two_least(s, j);
        cost_t other = found.object == object ? found.second : found.least;
        if (other < COST_MAX)
            s->dual[object] -= other;
    }
}

/* Assigns the person its cheapest object, whose dual falls. Returns the person that had the object,
 * NONE, or the person itself when it stays unassigned: another one is displaced only where the dual
 * falls, otherwise two could alternate without end. */
static size_t reduce_row(struct state *s, size_t person)
{
    struct two_least found = find_two_least(s, person);
    size_t object = found.object;
    if (object == NONE)
        return person;
    cost_t dual = s->dual[object] - (found.second < COST_MAX ? found.second - found.least : 0);
    bool falls = dual < s->dual[object];
    if (!falls && !is_free(s, object) && found.second == found.least)
        object = found.second_object;
    size_t previous = s->person_of[object];
    if (previous != NONE && !falls)
        return person;
    if (previous != NONE)
        s->object_of[previous] = NONE;
    TYPED(assign)(s, person, object);
    if (falls)
        s->dual[object] = dual;
    return previous;
}

/* The paper's number of passes; a bound on the steps, since persons may compete by tiny amounts. */
enum { PASSES = 2, STEPS_PER_PERSON = 4 };

void TYPED(augmenting_row_reduction)(struct state *s)
{
    size_t steps = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t j = 0; j < s->persons; j++) {
            size_t person = s->object_of[j] == NONE ? j : NONE, previous = NONE;
            while (person != NONE && person != previous && steps / STEPS_PER_PERSON < s->persons) {
                previous = person;
                person = reduce_row(s, person);
                steps++;
            }
        }
    }
}

/* ---- exchange ---- */

static cost_t least_reduced(const struct state *s, const struct pairs *pairs)
{
    cost_t least = COST_MAX;
    for (size_t k = 0; k < pairs->count; k++) {
        cost_t dual = s->dual[object_at(pairs, k)];
        if (pairs->cost[k] < COST_MAX && pairs->cost[k] - dual < least)
            least = pairs->cost[k] - dual;
    }
    return least;
}

/* Moves the object's person to a free object that costs it as little, if there is one. Duals do not
 * change here and free objects only become fewer, so no pair is tried twice: next[person] is the
 * first that may still do. */
static bool displace_person(struct state *s, size_t *next, size_t object)
{
    size_t person = s->person_of[object];
    struct pairs pairs = pairs_of(s, person);
    cost_t least = person_dual(s, object);
    for (size_t *k = &next[person]; *k < pairs.count; ++*k) {
        size_t other = object_at(&pairs, *k);
        if (pairs.cost[*k] < COST_MAX && pairs.cost[*k] - s->dual[other] <= least &&
            is_free(s, other)) {
            TYPED(assign)(s, person, other);
            return true;
        }
    }
    return false;
}

static void assign_cheapest(struct state *s, size_t *next, size_t person)
{
    struct pairs pairs = pairs_of(s, person);
    cost_t least = least_reduced(s, &pairs);
    for (size_t k = 0; k < pairs.count && s->object_of[person] == NONE; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] == COST_MAX || pairs.cost[k] - s->dual[object] > least)
            continue;
        if (is_free(s, object) || displace_person(s, next, object))
            TYPED(assign)(s, person, object);
    }
}

int TYPED(exchange)(struct state *s)
{
    size_t *next = base_arena_alloc(&s->arena, s->persons, sizeof *next);
    for (size_t j = 0; j < s->persons && next != NULL; j++)
        if (s->object_of[j] == NONE)
            assign_cheapest(s, next, j);
    return next == NULL ? -ENOMEM : 0;
}
