/* SPDX-License-Identifier: BSD-3-Clause */
/* Augmenting paths with group capacities. See doc/lap.md. */
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
        .entered = base_arena_alloc(arena, s->groups, sizeof *t->entered),
        .entrance = base_arena_alloc(arena, s->groups, sizeof *t->entrance),
        .entered_at = base_arena_alloc(arena, s->groups, sizeof *t->entered_at),
    };
    return arena->failed ? -ENOMEM : 0;
}

void TYPED(tree_reset)(struct tree *t)
{
    t->joined = t->groups_entered = 0;
}

void TYPED(tree_enter)(struct tree *t, size_t object, cost_t at)
{
    size_t g = t->s->group[object];
    t->entered[t->groups_entered++] = g;
    t->entered_at[g] = at;
    t->entrance[g] = object;
}

/* An assigned member keeps its price, unless it joined itself. Rounding must not make a dual
 * positive. */
static void lower_group_dual(struct state *s, size_t g, cost_t drop)
{
    s->group_dual[g] -= drop;
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        cost_t dual = s->dual[member] + (is_free(s, member) ? 0 : drop);
        set_dual(s, member, dual < 0 ? dual : 0);
    }
}

void TYPED(tree_lower_prices)(struct tree *t, cost_t distance)
{
    for (size_t k = 0; k < t->joined; k++) {
        size_t object = t->order[k];
        set_dual(t->s, object, t->s->dual[object] - (distance - t->joined_at[object]));
    }
    for (size_t k = 0; k < t->groups_entered; k++)
        lower_group_dual(t->s, t->entered[k], distance - t->entered_at[t->entered[k]]);
}

void TYPED(tree_flip)(struct tree *t, size_t object)
{
    struct state *s = t->s;
    if (s->group != NULL)
        s->load[s->group[object]]++;
    while (object != NONE) {
        if (t->from[object] == NONE) {
            s->person_of[object] = NONE;
            set_dual(s, object, 0);
            object = t->entrance[s->group[object]];
        }
        size_t person = t->from[object];
        size_t left = s->object_of[person];
        TYPED(assign)(s, person, object);
        object = left;
    }
}
