/* SPDX-License-Identifier: BSD-3-Clause */
/* Fillers make a rectangular problem square. See doc/lap.md. */
#include "lap/square.h"

#include "base/heap.h"
#include "lap/node.h"

#include <errno.h>

/* The key is the price, negative; an earlier one, which was higher, until it is looked at. */
BASE_HEAP(unfilled, struct node, struct state *, NODE_PRECEDES, BASE_HEAP_UNPLACED);

int TYPED(add_fillers)(struct state *s)
{
    size_t *object_of = base_arena_alloc(&s->arena, s->objects, sizeof *object_of);
    s->zeros = base_arena_alloc(&s->arena, s->objects, sizeof *s->zeros);
    s->unfilled = base_arena_alloc(&s->arena, s->objects, sizeof *s->unfilled);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t j = 0; j < s->objects; j++)
        object_of[j] = j < s->persons ? s->object_of[j] : NONE;
    s->object_of = object_of;
    s->fillers = s->objects - s->persons;
    s->persons = s->objects;
    return 0;
}

void TYPED(record_filler_price)(struct state *s)
{
    for (size_t f = first_filler(s); f < s->persons; f++)
        set_dual(s, s->object_of[f], s->filler_price);
}

/* Returns the person that had the object, or NONE. */
static size_t give_to_filler(struct state *s, size_t filler, size_t object)
{
    size_t previous = s->person_of[object];
    if (previous != NONE)
        s->object_of[previous] = NONE;
    assign(s, filler, object);
    return previous;
}

void TYPED(place_fillers)(struct state *s)
{
    size_t left = s->objects;
    if (s->fillers == 0)
        return;
    for (size_t i = 0; i < s->objects; i++)
        s->unfilled[i] = (struct node){-s->price[i], i};
    unfilled_build(s, s->unfilled, left);
    for (size_t f = first_filler(s); f < s->persons; f++) {
        s->filler_price = -s->unfilled[0].key;
        give_to_filler(s, f, s->unfilled[0].id);
        left--;
        unfilled_down(s, s->unfilled, left, 0, s->unfilled[left]);
    }
    TYPED(record_filler_price)(s);
}

/* The object of the highest price that no filler has. */
static struct node dearest_unfilled(struct state *s)
{
    struct node first = s->unfilled[0];
    while (first.key < -s->price[first.id]) {
        first.key = -s->price[first.id];
        unfilled_down(s, s->unfilled, first_filler(s), 0, first);
        first = s->unfilled[0];
    }
    return first;
}

size_t TYPED(displaced)(struct state *s, size_t person, size_t lost, cost_t step)
{
    if (person == NONE || !is_filler(s, person))
        return person;
    struct node same = {-s->price[lost], lost}, other = dearest_unfilled(s);
    if (NODE_PRECEDES(s, same, other))
        other = same;
    else
        unfilled_down(s, s->unfilled, first_filler(s), 0, same);
    cost_t price = -other.key - step;
    s->filler_price = price < s->filler_price ? price : s->filler_price;
    set_dual(s, other.id, s->filler_price);
    return give_to_filler(s, person, other.id);
}

/* The objects of fillers have the highest price of all. Rounding must not make a dual positive. */
void TYPED(remove_fillers)(struct state *s)
{
    if (s->fillers == 0)
        return;
    cost_t highest = s->dual[s->object_of[s->persons - 1]];
    s->persons -= s->fillers;
    s->fillers = 0;
    for (size_t i = 0; i < s->objects; i++) {
        bool filled = s->person_of[i] >= s->persons;
        cost_t dual = filled ? 0 : s->dual[i] - highest;
        set_dual(s, i, dual < 0 ? dual : 0);
        if (filled)
            s->person_of[i] = NONE;
    }
}
