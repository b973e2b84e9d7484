/* SPDX-License-Identifier: BSD-3-Clause */
/* Persons n, objects m > n. The mirrored problem has n + m of both: a copy of each object is a
 * person, whose number follows those of persons, and may have the copies of the persons whom that
 * object suits, at the same costs, or the object itself, at 0, which then stays free. So both
 * halves assign the same objects, at the same least cost. See doc/lap.md. */
#include "lap/mirror.h"

#include <errno.h>
#include <string.h>

static void copy_pairs(const struct state *s, size_t *start, size_t *object, cost_t *cost)
{
    size_t listed = s->start[s->persons], *next = start + s->persons + 1;
    memcpy(start, s->start, (s->persons + 1) * sizeof *start);
    memcpy(object, s->entry_object, listed * sizeof *object);
    memcpy(cost, s->cost, listed * sizeof *cost);
    /* next[i]: where the next pair of the copy of object i goes; finally the end of its pairs. */
    next[0] = listed;
    for (size_t k = 0; k < listed; k++)
        next[object[k] + 1]++;
    for (size_t i = 0; i < s->objects; i++) {
        next[i + 1] += next[i] + 1;
        object[next[i]++] = i;
    }
    for (size_t j = 0; j < s->persons; j++) {
        for (size_t k = start[j]; k < start[j + 1]; k++) {
            size_t place = next[object[k]]++;
            object[place] = s->objects + j;
            cost[place] = cost[k];
        }
    }
}

static int list_pairs(struct state *both, const struct state *s)
{
    size_t pairs;
    if (__builtin_mul_overflow(s->start[s->persons], (size_t)2, &pairs) ||
        __builtin_add_overflow(pairs, s->objects, &pairs))
        return -ENOMEM;
    size_t *start = base_arena_alloc(&both->arena, both->persons + 2, sizeof *start);
    size_t *object = base_arena_alloc(&both->arena, pairs, sizeof *object);
    cost_t *cost = base_arena_alloc(&both->arena, pairs, sizeof *cost);
    if (both->arena.failed)
        return -ENOMEM;
    copy_pairs(s, start, object, cost);
    both->start = start;
    both->entry_object = object;
    both->cost = cost;
    return 0;
}

/* A copy of a person has its dual as the price. */
static void set_prices(struct state *both, const struct state *s)
{
    for (size_t i = 0; i < s->objects; i++)
        set_dual(both, i, s->price[i]);
    for (size_t j = 0; j < s->persons; j++) {
        cost_t least = COST_MAX;
        for (size_t k = s->start[j]; k < s->start[j + 1]; k++) {
            cost_t key = reduced(s->cost[k], s->price[s->entry_object[k]]);
            least = key < least ? key : least;
        }
        set_dual(both, s->objects + j, least < COST_MAX ? least : 0);
    }
}

int TYPED(init_mirrored)(struct state *both, const struct state *s)
{
    *both = (struct state){.mirrored = true, .persons = s->persons + s->objects};
    both->objects = both->persons;
    int rc = list_pairs(both, s);
    if (rc == 0)
        rc = TYPED(init_assignment)(both);
    if (rc == 0)
        set_prices(both, s);
    return rc;
}

/* The mean of both halves' duals. A free object's are opposite. Of integers the halves of objects
 * are rounded up, so that those of persons, which follow, are rounded down: both are at least 0
 * below the cost, and 0 for the chosen pairs, where both sums are equal. */
void TYPED(take_half)(struct state *s, const struct state *both)
{
    for (size_t i = 0; i < s->objects; i++) {
        cost_t sum = both->price[i] + person_dual(both, both->object_of[s->persons + i]);
        set_dual(s, i, sum < 0 ? sum / 2 : 0);
        s->person_of[i] = NONE;
    }
    for (size_t j = 0; j < s->persons; j++)
        assign(s, j, both->object_of[j]);
}
