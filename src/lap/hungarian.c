/* SPDX-License-Identifier: BSD-3-Clause */
/* Kuhn's Hungarian method in the O(n^2 m) form that keeps a slack for each object.
 * See doc/lap.md. */
#include "lap/reduction.h"
#include "lap/tree.h"

#include <errno.h>

/* Slacks are at the current duals. */
struct hungarian {
    struct tree tree;
    cost_t *slack; /* cost less the duals of the object and of the best person of the tree */
    bool *in_tree;
};

static void lower_slack(struct hungarian *h, size_t object, cost_t slack, size_t person)
{
    if (!h->in_tree[object] && slack < h->slack[object]) {
        h->slack[object] = slack;
        h->tree.from[object] = person;
    }
}

static void lower_slacks(struct hungarian *h, size_t person, cost_t dual)
{
    const struct state *s = h->tree.s;
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(&pairs, k);
        if (pairs.cost[k] < COST_MAX)
            lower_slack(h, object, pairs.cost[k] - s->dual[object] - dual, person);
    }
}

static size_t find_least_slack(const struct hungarian *h)
{
    size_t found = NONE;
    for (size_t i = 0; i < h->tree.s->objects; i++)
        if (!h->in_tree[i] && h->slack[i] < COST_MAX &&
            (found == NONE || h->slack[i] < h->slack[found]))
            found = i;
    return found;
}

/* The dual of every person of the tree rises by delta, and that of every object falls. */
static void change_duals(struct hungarian *h, cost_t delta)
{
    TYPED(tree_lower_duals)(&h->tree, delta);
    for (size_t i = 0; i < h->tree.s->objects; i++)
        if (!h->in_tree[i] && h->slack[i] < COST_MAX)
            h->slack[i] -= delta;
}

/* An object without slack joins the tree together with its person. */
static void add_object(struct hungarian *h, size_t object)
{
    const struct state *s = h->tree.s;
    h->in_tree[object] = true;
    tree_join(&h->tree, object, 0);
    lower_slacks(h, s->person_of[object], person_dual(s, object));
}

/* Grows the tree of the person until it has a free object. The person's dual is 0 at first, so
 * that the first change may have any sign; rounding must not make a later one negative. */
static int grow_tree(struct hungarian *h, size_t person)
{
    const struct state *s = h->tree.s;
    h->tree.joined = 0;
    for (size_t i = 0; i < s->objects; i++) {
        h->slack[i] = COST_MAX;
        h->in_tree[i] = false;
    }
    lower_slacks(h, person, 0);
    for (;;) {
        size_t object = find_least_slack(h);
        if (object == NONE)
            return LAP_INFEASIBLE;
        if (h->tree.joined == 0 || h->slack[object] > 0)
            change_duals(h, h->slack[object]);
        if (is_free(s, object)) {
            TYPED(tree_flip)(&h->tree, object);
            return 0;
        }
        add_object(h, object);
    }
}

int TYPED(hungarian)(struct state *s)
{
    struct hungarian h = {
        .slack = base_arena_alloc(&s->arena, s->objects, sizeof *h.slack),
        .in_tree = base_arena_alloc(&s->arena, s->objects, sizeof *h.in_tree),
    };
    int rc = TYPED(tree_init)(&h.tree, s);
    if (rc == 0)
        TYPED(column_reduction)(s);
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        if (s->object_of[j] == NONE)
            rc = grow_tree(&h, j);
    return rc;
}
