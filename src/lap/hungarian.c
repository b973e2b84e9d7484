/* SPDX-License-Identifier: BSD-3-Clause */
/* Kuhn's Hungarian method in the O(n^2 m) form that keeps a slack for each object.
 * See doc/hungarian.md. */
#include "lap/least.h"

#include <errno.h>

/* The alternating tree of one person. Slacks are at the current duals, of objects outside. */
struct tree {
    struct state *s;
    cost_t *slack; /* cost less the duals of the object and of the best person of the tree */
    bool *in_tree;
};

static void hungarian_offer(struct tree *t, size_t object, cost_t slack, size_t person)
{
    if (!t->in_tree[object] && slack < t->slack[object]) {
        t->slack[object] = slack;
        t->s->from[object] = person;
    }
}

static void hungarian_scan(struct tree *t, size_t person, cost_t dual)
{
    const struct state *s = t->s;
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(pairs, k);
        if (pairs.cost[k] < COST_MAX)
            hungarian_offer(t, object, pairs.cost[k] - s->price[object] - dual, person);
    }
}

static size_t find_least_slack(const struct tree *t)
{
    size_t found = NONE;
    for (size_t i = 0; i < t->s->objects; i++)
        if (!t->in_tree[i] && t->slack[i] < COST_MAX &&
            (found == NONE || t->slack[i] < t->slack[found]))
            found = i;
    return found;
}

/* The dual of every person of the tree rises, and that of every object falls. */
static void hungarian_change_duals(struct tree *t, cost_t delta)
{
    TYPED(change_duals)(t->s, delta);
    for (size_t i = 0; i < t->s->objects; i++) {
        bool reached = !t->in_tree[i] && t->slack[i] < COST_MAX;
        t->slack[i] -= reached ? delta : 0;
    }
}

/* A full group joins the tree with the free object through which it was reached. */
static void add_group_to_tree(struct tree *t, size_t object)
{
    struct state *s = t->s;
    size_t g = s->group[object];
    TYPED(enter_group)(s, object, 0);
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (is_free(s, member))
            t->in_tree[member] = true;
        else
            hungarian_offer(t, member, -s->dual[member], NONE);
    }
}

/* An object without slack joins the tree together with its person. */
static void add_object_to_tree(struct tree *t, size_t object)
{
    struct state *s = t->s;
    t->in_tree[object] = true;
    if (is_free(s, object)) {
        add_group_to_tree(t, object);
        return;
    }
    settle(s, object, 0);
    hungarian_scan(t, s->person_of[object], person_dual(s, object));
}

static int hungarian_augment(struct tree *t, size_t person)
{
    struct state *s = t->s;
    TYPED(reset_search)(s);
    for (size_t i = 0; i < s->objects; i++) {
        t->slack[i] = COST_MAX;
        t->in_tree[i] = false;
    }
    hungarian_scan(t, person, 0);
    for (;;) {
        size_t object = find_least_slack(t);
        if (object == NONE)
            return LAP_INFEASIBLE;
        hungarian_change_duals(t, t->slack[object]);
        if (is_open(s, object)) {
            TYPED(flip_path)(s, object);
            return 0;
        }
        add_object_to_tree(t, object);
    }
}

int TYPED(hungarian)(struct state *s)
{
    struct tree tree = {
        .s = s,
        .slack = base_arena_alloc(&s->arena, s->objects, sizeof *tree.slack),
        .in_tree = base_arena_alloc(&s->arena, s->objects, sizeof *tree.in_tree),
    };
    int rc = s->arena.failed ? -ENOMEM : TYPED(read_costs)(s, NULL);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        rc = hungarian_augment(&tree, j);
    return rc;
}
