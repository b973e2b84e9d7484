/* SPDX-License-Identifier: BSD-3-Clause */
/* A search for a smaller cut: other constructions, and annealing of the best placement. */
#include "setmatch/contest.h"

/* The search ends when independent constructions have found the least cut again CERTAIN times. It
 * makes CONSTRUCTIONS in TURNS, unless one takes more than a part of the work that is left, and
 * annealing in the others. */
enum { CERTAIN = 5, CONSTRUCTIONS = 3, TURNS = 5, PARTS = 8 };
/* Of fewer ranks all bisections are much the same, so that they confirm nothing. */
enum { FEW_RANKS = 16 };

/* The first variant of a search is its number times this: searches begin with different ones. */
enum { VARIANTS = 120 };

struct search {
    contest *c;
    const search_rules *rules;
    size_t parts;     /* see search_further */
    size_t most_work; /* ends it */
    bool in_forests;  /* has a method of its own for forests */
    bool anneals;     /* unless that takes too much memory */
    bool strict;      /* the next annealing of ranks */
};

/* Forests are often placed alike, which confirms nothing. */
static int try_construction(struct search *s, size_t variant)
{
    contest *c = s->c;
    int rc = 1;
    if (s->in_forests)
        rc = place_forest(c->ranks, c->site, variant, SIZE_MAX, c->trial, &c->work);
    bool is_independent = rc == 1;
    if (rc == 1)
        rc = bisect_ranks(c->ranks, c->site, variant, c->trial, &c->work);
    if (rc == 0)
        rc = contest_refine(c, variant);
    if (rc == 0)
        contest_enter(c, is_independent);
    return rc;
}

static size_t work_of_run(const struct search *s)
{
    size_t work = s->c->work, normal = s->rules->normal_work, left = s->most_work - work;
    size_t run = (work > normal ? work : normal) / s->parts;
    return run < left ? run : left;
}

/* Of ranks and of groups in turn. Ranks beyond the slots for a while are of use where they can move
 * on, so that this changes after runs without gain. */
static int try_annealing(struct search *s, size_t variant)
{
    contest *c = s->c;
    const annealing_run run = {variant / 2 + 1, work_of_run(s), s->strict};
    int64_t cut = c->cut;
    bool grouped = variant % 2 != 0;
    contest_try_best(c);
    int rc =
        (grouped ? anneal_groups : anneal_placement)(c->ranks, c->site, &run, c->trial, &c->work);
    s->anneals = rc == 0;
    if (rc == 1)
        return 0;
    if (rc == 0)
        rc = contest_refine(c, variant);
    if (rc == 0)
        contest_enter(c, false);
    if (!grouped && c->cut == cut)
        s->strict = !s->strict;
    return rc;
}

static bool search_has_ended(const struct search *s)
{
    const contest *c = s->c;
    bool is_certain = c->confirmed >= CERTAIN && c->ranks->vertices > FEW_RANKS;
    return c->work >= s->most_work || c->cut == 0 || is_certain;
}

/* Whether to make another construction: annealing gains more from the same work, if there is
 * little. cost: of the last one. */
static bool construction_pays(const struct search *s, size_t cost, size_t turn)
{
    size_t left = s->most_work - s->c->work;
    return s->anneals ? turn % TURNS < CONSTRUCTIONS && cost <= left / PARTS : cost <= left;
}

/* Some constructions, some annealing, and so on. Annealing takes what is left. */
int search_further(contest *c, const search_rules *rules, size_t number, size_t parts)
{
    struct search s = {.c = c,
                       .rules = rules,
                       .parts = parts,
                       .most_work = c->work,
                       .in_forests = number == 0,
                       .anneals = true};
    size_t constructions = number * VARIANTS, anneals = number * VARIANTS, cost = c->work;
    int rc = 0;
    if (rules->work > cost)
        s.most_work += (size_t)(rules->part * (double)(rules->work - cost));
    for (size_t turn = 0; rc == 0 && !search_has_ended(&s); turn++) {
        size_t before = c->work;
        if (construction_pays(&s, cost, turn)) {
            rc = try_construction(&s, ++constructions);
            cost = c->work - before;
        } else if (s.anneals) {
            rc = try_annealing(&s, anneals++);
        } else {
            break;
        }
        c->work += c->ranks->vertices;
    }
    return rc;
}
