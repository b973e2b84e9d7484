/* SPDX-License-Identifier: BSD-3-Clause */
/* Shortest augmenting paths with group capacities. */
#include "lap/search.h"

void TYPED(reset_search)(struct state *s)
{
    for (size_t k = 0; k < s->groups_entered; k++)
        s->is_entered[s->entered[k]] = false;
    s->settled = 0;
    s->groups_entered = 0;
    s->is_filler_scanned = false;
}

void TYPED(enter_group)(struct state *s, size_t object, cost_t at)
{
    size_t g = s->group[object];
    s->is_entered[g] = true;
    s->entered[s->groups_entered++] = g;
    s->entered_at[g] = at;
    s->entrance[g] = object;
}

/* An assigned member keeps its price, unless it was settled itself. Rounding must not make a dual
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

void TYPED(change_duals)(struct state *s, cost_t distance)
{
    for (size_t k = 0; k < s->settled; k++) {
        size_t object = s->order[k];
        set_dual(s, object, s->dual[object] - (distance - s->settled_at[object]));
    }
    for (size_t k = 0; k < s->groups_entered; k++)
        lower_group_dual(s, s->entered[k], distance - s->entered_at[s->entered[k]]);
}

void TYPED(flip_path)(struct state *s, size_t object)
{
    if (s->group != NULL)
        s->load[s->group[object]]++;
    while (object != NONE) {
        if (s->from[object] == NONE) {
            s->person_of[object] = NONE;
            set_dual(s, object, 0);
            object = s->entrance[s->group[object]];
        }
        size_t person = s->from[object];
        size_t left = s->object_of[person];
        assign(s, person, object);
        object = left;
    }
}
