/* SPDX-License-Identifier: BSD-3-Clause */
/* Kuhn's Hungarian method in the O(n^2 m) form that keeps a slack for each object.
 * See doc/hungarian.md. */
#include "lap/state.h"

#include <errno.h>

/* The alternating tree of one person. Slacks are of today's duals: a tree object is left
 * out of them. */
struct tree {
    struct state *s;
    cost_t *slack; /* cost less the duals of the object and of the tree's best person for it */
    bool *in_tree;
};

static void offer(struct tree *t, size_t object, cost_t slack, size_t person)
{
    if (!t->in_tree[object] && slack < t->slack[object]) {
        t->slack[object] = slack;
        t->s->from[object] = person;
    }
}

static void scan(struct tree *t, size_t person, cost_t dual)
{
    const struct state *s = t->s;
    struct pairs pairs = pairs_of(s, person);
    for (size_t k = 0; k < pairs.count; k++) {
        size_t object = object_at(pairs, k);
        if (pairs.cost[k] < COST_MAX)
            offer(t, object, pairs.cost[k] - s->price[object] - dual, person);
    }
}

static size_t least_slack(const struct tree *t)
{
    size_t found = NONE;
    for (size_t i = 0; i < t->s->objects; i++)
        if (!t->in_tree[i] && t->slack[i] < COST_MAX &&
            (found == NONE || t->slack[i] < t->slack[found]))
            found = i;
    return found;
}

/* The dual of every person of the tree rises, and that of every object falls. */
static void change_duals(struct tree *t, cost_t delta)
{
    TYPED(change_duals)(t->s, delta);
    for (size_t i = 0; i < t->s->objects; i++) {
        bool reached = !t->in_tree[i] && t->slack[i] < COST_MAX;
        t->slack[i] -= reached ? delta : 0;
    }
}

/* A full group joins the tree with the free object that was reached. */
static void add_group(struct tree *t, size_t object)
{
    struct state *s = t->s;
    size_t g = s->group[object];
    TYPED(enter_group)(s, object, 0);
    for (size_t k = s->first_member[g]; k < s->first_member[g + 1]; k++) {
        size_t member = s->members[k];
        if (is_free(s, member))
            t->in_tree[member] = true;
        else
            offer(t, member, -s->dual[member], NONE);
    }
}

/* An object with no slack joins the tree, and with it the person that holds it. */
static void add_object(struct tree *t, size_t object)
{
    struct state *s = t->s;
    t->in_tree[object] = true;
    if (is_free(s, object)) {
        add_group(t, object);
        return;
    }
    settle(s, object, 0);
    scan(t, s->person_of[object], person_dual(s, object));
}

static int grow(struct tree *t, size_t person)
{
    struct state *s = t->s;
    TYPED(begin)(s);
    for (size_t i = 0; i < s->objects; i++) {
        t->slack[i] = COST_MAX;
        t->in_tree[i] = false;
    }
    scan(t, person, 0);
    for (;;) {
        size_t object = least_slack(t);
        if (object == NONE)
            return LAP_INFEASIBLE;
        change_duals(t, t->slack[object]);
        if (is_open(s, object)) {
            TYPED(flip_path)(s, object);
            return 0;
        }
        add_object(t, object);
    }
}

static int kuhn_munkres(struct state *s)
{
    struct tree tree = {
        .s = s,
        .slack = TYPED(allocate)(s, s->objects, sizeof *tree.slack),
        .in_tree = TYPED(allocate)(s, s->objects, sizeof *tree.in_tree),
    };
    int rc = tree.slack != NULL && tree.in_tree != NULL ? 0 : -ENOMEM;
    for (size_t j = 0; j < s->persons && rc == 0; j++)
        rc = grow(&tree, j);
    return rc;
}

int TYPED(hungarian)(const lap_problem *problem, lap_solution *solution);
int TYPED(hungarian)(const lap_problem *problem, lap_solution *solution)
{
    return TYPED(run)(problem, solution, kuhn_munkres);
}

#ifndef LAP_INTEGER
SOLVER_OF_BOTH_KINDS(hungarian)
#endif
