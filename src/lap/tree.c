/* SPDX-License-Identifier: BSD-3-Clause */
/* Augmenting paths. See doc/lap.md. */
#include "lap/tree.h"

#include <errno.h>

int TYPED(tree_init)(struct tree *t, struct state *s)
{
    struct base_arena *arena = &s->arena;
    *t = (struct tree){
        .s = s,
        .from = base_arena_alloc(arena, s->objects, sizeof *t->from),
        .order = base_arena_alloc(arena, s->objects, sizeof *t->order),
        .joined_at = base_arena_alloc(arena, s->objects, sizeof *t->joined_at),
    };
    return arena->failed ? -ENOMEM : 0;
}

void TYPED(tree_lower_duals)(struct tree *t, cost_t distance)
{
    for (size_t k = 0; k < t->joined; k++) {
        size_t object = t->order[k];
        t->s->dual[object] -= distance - t->joined_at[object];
    }
}

void TYPED(tree_flip)(struct tree *t, size_t object)
{
    while (object != NONE) {
        size_t person = t->from[object];
        size_t left = t->s->object_of[person];
        TYPED(assign)(t->s, person, object);
        object = left;
    }
}
