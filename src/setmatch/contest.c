/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of several candidate placements, and a search that starts from them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/thread.h"
#include "setmatch/candidates.h"

/* The search ends when independent constructions have found the least cut again CERTAIN times. It
 * makes BISECTIONS in TURNS, and annealing in the others. A run takes one of PARTS parts of the
 * work of normal effort, and beyond that of the work so far: high effort continues with longer
 * runs. */
enum { CERTAIN = 5, BISECTIONS = 3, TURNS = 5, PARTS = 8 };
/* Of fewer ranks all bisections are much the same, so that they confirm nothing. */
enum { FEW_RANKS = 16 };

/* The best placement so far, the earlier one on a tie. */
struct contest {
    const affinity *ranks;
    const site *site;
    const search_rules *rules;
    struct base_arena arena;
    size_t *best, *trial, *other; /* `other` is made beside the trial */
    int64_t cut;                  /* of the best one; INT64_MAX: none */
    size_t work;                  /* so far */
    size_t most_work;             /* ends the search */
    size_t confirmed;             /* number of times that the least cut was found again */
    bool anneals;                 /* unless that takes too much memory */
    bool strict;                  /* the next annealing of ranks */
};

static int contest_init(struct contest *c, const affinity *ranks, const site *s,
                        const search_rules *rules)
{
    *c = (struct contest){
        .ranks = ranks, .site = s, .rules = rules, .cut = INT64_MAX, .anneals = true};
    c->best = base_arena_alloc(&c->arena, ranks->vertices, sizeof *c->best);
    c->trial = base_arena_alloc(&c->arena, ranks->vertices, sizeof *c->trial);
    c->other = base_arena_alloc(&c->arena, ranks->vertices, sizeof *c->other);
    return c->arena.failed ? -ENOMEM : 0;
}

static void swap(size_t **a, size_t **b)
{
    size_t *kept = *a;
    *a = *b;
    *b = kept;
}

static void copy_best(struct contest *c)
{
    memcpy(c->trial, c->best, c->ranks->vertices * sizeof *c->best);
}

/* independent: the trial was made without the help of the best one. A cut that several such trials
 * have is unlikely to be improved. */
static void enter_trial(struct contest *c, bool independent)
{
    int64_t cut = affinity_cut(c->ranks, c->trial);
    if (cut < c->cut) {
        swap(&c->best, &c->trial);
        c->cut = cut;
        c->confirmed = 0;
    } else if (cut == c->cut && independent) {
        c->confirmed++;
    }
}

/* ---- candidates ---- */

struct by_sets {
    const struct contest *c;
    size_t *node;
    int rc;
};

static void *place_sets(void *context)
{
    struct by_sets *sets = context;
    const struct contest *c = sets->c;
    sets->rc = place_by_sets(c->ranks, c->site, c->rules->threshold, sets->node);
    return NULL;
}

/* SetMatch, and bisection; beside each other if there are many ranks. */
static int make_candidates(struct contest *c)
{
    struct by_sets sets = {.c = c, .node = c->trial};
    struct base_task task = {.run = place_sets, .context = &sets};
    if (c->ranks->vertices > MANY_RANKS)
        task = base_begin_task(place_sets, &sets);
    int rc = bisect_ranks(c->ranks, c->site, 0, c->other, &c->work);
    base_end_task(&task);
    return rc != 0 ? rc : sets.rc;
}

static int try_candidates(struct contest *c)
{
    int rc = make_candidates(c);
    if (rc != 0)
        return rc;
    enter_trial(c, true);
    rc = place_by_slot(c->ranks, c->site, c->rules->threshold, c->trial);
    if (rc != 0)
        return rc;
    enter_trial(c, true);
    swap(&c->trial, &c->other);
    enter_trial(c, true);
    return 0;
}

static int refine_trial(struct contest *c, size_t variant)
{
    return refine_multilevel(c->ranks, c->site, variant, c->trial, &c->work);
}

/* ---- search ---- */

static int try_bisection(struct contest *c, size_t variant)
{
    int rc = bisect_ranks(c->ranks, c->site, variant, c->trial, &c->work);
    if (rc == 0)
        rc = refine_trial(c, variant);
    if (rc == 0)
        enter_trial(c, true);
    return rc;
}

static size_t work_of_run(const struct contest *c)
{
    const search_rules *r = c->rules;
    size_t left = c->most_work - c->work;
    size_t run = (c->work > r->normal_work ? c->work : r->normal_work) / PARTS;
    return run < left ? run : left;
}

/* Of ranks and of groups in turn. Ranks beyond the slots for a while are of use where they can move
 * on, so that this changes after runs in vain. */
static int try_annealing(struct contest *c, size_t variant)
{
    const annealing_run run = {variant / 2 + 1, work_of_run(c), c->strict};
    int64_t cut = c->cut;
    bool grouped = variant % 2 != 0;
    copy_best(c);
    int rc =
        (grouped ? anneal_groups : anneal_placement)(c->ranks, c->site, &run, c->trial, &c->work);
    c->anneals = rc == 0;
    if (rc == 1)
        return 0;
    if (rc == 0)
        rc = refine_trial(c, variant);
    if (rc == 0)
        enter_trial(c, false);
    if (!grouped && c->cut == cut)
        c->strict = !c->strict;
    return rc;
}

static bool search_has_ended(const struct contest *c)
{
    bool is_certain = c->confirmed >= CERTAIN && c->ranks->vertices > FEW_RANKS;
    return c->work >= c->most_work || c->cut == 0 || is_certain;
}

/* Whether to make another bisection: annealing gains more from the same work, if there is little.
 * cost: of the last one. */
static bool bisection_pays(const struct contest *c, size_t cost, size_t turn)
{
    size_t left = c->most_work - c->work;
    return c->anneals ? turn % TURNS < BISECTIONS && cost <= left / PARTS : cost <= left;
}

/* Some bisections, some annealing, and so on. Annealing takes what is left. */
static int search_further(struct contest *c)
{
    size_t bisections = 0, anneals = 0, cost = c->work, all = c->rules->work;
    int rc = 0;
    c->most_work = all > cost ? cost + (size_t)(c->rules->part * (double)(all - cost)) : cost;
    for (size_t turn = 0; rc == 0 && !search_has_ended(c); turn++) {
        size_t before = c->work;
        if (bisection_pays(c, cost, turn)) {
            rc = try_bisection(c, ++bisections);
            cost = c->work - before;
        } else if (c->anneals) {
            rc = try_annealing(c, anneals++);
        } else {
            break;
        }
        c->work += c->ranks->vertices;
    }
    return rc;
}

/* Sets order[] to the ranks node by node, so that those that are refined together are near each
 * other in memory. */
static int order_by_node(const affinity *ranks, const site *s, const size_t *node, vertex *order)
{
    size_t *next = calloc(s->listed + 1, sizeof *next);
    if (next == NULL)
        return -ENOMEM;
    for (size_t v = 0; v < ranks->vertices; v++)
        next[node[v] + 1]++;
    for (size_t n = 0; n < s->listed; n++)
        next[n + 1] += next[n];
    for (size_t v = 0; v < ranks->vertices; v++)
        order[next[node[v]]++] = (vertex)v;
    free(next);
    return 0;
}

/* Continues with the ranks in this order. */
static void renumber_contest(struct contest *c, const affinity *ordered, const vertex *order)
{
    c->ranks = ordered;
    for (size_t v = 0; v < ordered->vertices; v++)
        c->trial[v] = c->best[order[v]];
    swap(&c->best, &c->trial);
}

static int refine_and_search(struct contest *c)
{
    copy_best(c);
    int rc = refine_trial(c, 0);
    if (rc == 0)
        enter_trial(c, false);
    return rc == 0 ? search_further(c) : rc;
}

static int improve_best(struct contest *c)
{
    const affinity *ranks = c->ranks;
    affinity ordered = {0};
    vertex *order = base_arena_alloc(&c->arena, ranks->vertices, sizeof *order);
    vertex *to = base_arena_alloc(&c->arena, ranks->vertices, sizeof *to);
    int rc = c->arena.failed ? -ENOMEM : order_by_node(ranks, c->site, c->best, order);
    if (rc == 0) {
        memset(to, 0xff, ranks->vertices * sizeof *to);
        rc = affinity_extract(&ordered, ranks, order, ranks->vertices, to);
    }
    if (rc == 0) {
        renumber_contest(c, &ordered, order);
        rc = refine_and_search(c);
        for (size_t v = 0; v < ranks->vertices; v++)
            c->trial[order[v]] = c->best[v];
        swap(&c->best, &c->trial);
    }
    affinity_release(&ordered);
    return rc;
}

int place_best(const affinity *ranks, const site *s, const search_rules *rules, size_t *node)
{
    struct contest c;
    int rc = contest_init(&c, ranks, s, rules);
    if (rc == 0)
        rc = try_candidates(&c);
    if (rc == 0 && rules->refine)
        rc = improve_best(&c);
    if (rc == 0)
        memcpy(node, c.best, ranks->vertices * sizeof *node);
    base_arena_release(&c.arena);
    return rc;
}
