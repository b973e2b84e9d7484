/* SPDX-License-Identifier: BSD-3-Clause */
/* Fillers make a rectangular problem square. See doc/lap.md. */
#include "lap/square.h"

#include <errno.h>

int TYPED(add_fillers)(struct state *s)
{
    size_t *object_of = base_arena_alloc(&s->arena, s->objects, sizeof *object_of);
    s->zeros = base_arena_alloc(&s->arena, s->objects, sizeof *s->zeros);
    if (s->arena.failed)
        return -ENOMEM;
    for (size_t j = 0; j < s->objects; j++)
        object_of[j] = j < s->persons ? s->object_of[j] : NONE;
    s->object_of = object_of;
    s->fillers = s->objects - s->persons;
    s->persons = s->objects;
    return 0;
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
