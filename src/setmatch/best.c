/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of several candidate placements, and searches that start from it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "setmatch/contest.h"

/* ---- candidates ---- */

struct by_sets {
    const contest *c;
    const search_rules *rules;
    size_t *node;
    int rc;
};

static void *place_sets(void *context)
{
    struct by_sets *sets = context;
    const contest *c = sets->c;
    sets->rc = place_by_sets(c->ranks, c->site, sets->rules->threshold, sets->node);
    return NULL;
}

/* SetMatch, and bisection; beside each other if there are many ranks. */
static int make_candidates(contest *c, const search_rules *rules, size_t *bisected)
{
    struct by_sets sets = {.c = c, .rules = rules, .node = c->trial};
    struct base_task task = {.run = place_sets, .context = &sets};
    if (c->ranks->vertices > MANY_RANKS)
        task = base_begin_task(place_sets, &sets);
    int rc = bisect_ranks(c->ranks, c->site, 0, bisected, &c->work);
    base_end_task(&task);
    return rc != 0 ? rc : sets.rc;
}

static int try_candidates(contest *c, const search_rules *rules)
{
    size_t *bisected = base_arena_alloc(&c->arena, c->ranks->vertices, sizeof *bisected);
    int rc = bisected == NULL ? -ENOMEM : make_candidates(c, rules, bisected);
    if (rc != 0)
        return rc;
    contest_enter(c, true);
    rc = place_by_slot(c->ranks, c->site, rules->threshold, c->trial);
    if (rc != 0)
        return rc;
    contest_enter(c, true);
    memcpy(c->trial, bisected, c->ranks->vertices * sizeof *bisected);
    contest_enter(c, true);
    return 0;
}

/* ---- searches ---- */

/* Short runs of annealing stay near good bisections, and are of use for trees and for nodes of
 * different sizes. One long run takes regular graphs, tori and meshes further. */
enum { SHORT_RUNS = 32, LONG_RUN = 1 };

static bool has_equal_nodes(const site *s)
{
    return s->slots[s->by_size[0]] == s->slots[s->by_size[s->nodes - 1]];
}

/* A search in another thread, from the best placement of the contest. */
struct other_search {
    contest c;
    const search_rules *rules;
    int rc;
};

/* Begins again with the placement of a forest. 1: there are cycles, or too many ranks. */
static int try_forest(contest *c)
{
    int rc = place_forest(c->ranks, c->site, 0, SIZE_MAX, c->trial, &c->work);
    if (rc == 0)
        rc = contest_refine(c, 0);
    if (rc != 0)
        return rc;
    c->cut = INT64_MAX;
    contest_enter(c, true);
    return 0;
}

static void *search_elsewhere(void *context)
{
    struct other_search *other = context;
    other->rc = try_forest(&other->c);
    bool is_long = other->rc == 1 && has_equal_nodes(other->c.site);
    if (other->rc >= 0)
        other->rc = search_further(&other->c, other->rules, 1, is_long ? LONG_RUN : SHORT_RUNS);
    return NULL;
}

/* Two searches, and the better result, that of the first one on a tie. */
static int search_twice(contest *c, const search_rules *rules)
{
    struct other_search other = {.rules = rules};
    int rc = contest_copy(&other.c, c);
    if (rc == 0) {
        const struct base_task task = base_begin_task(search_elsewhere, &other);
        rc = search_further(c, rules, 0, SHORT_RUNS);
        base_end_task(&task);
        rc = rc != 0 ? rc : other.rc;
    }
    if (rc == 0 && other.c.cut < c->cut) {
        memcpy(c->best, other.c.best, c->ranks->vertices * sizeof *c->best);
        c->cut = other.c.cut;
    }
    contest_release(&other.c);
    return rc;
}

static int refine_and_search(contest *c, const search_rules *rules)
{
    contest_try_best(c);
    int rc = contest_refine(c, 0);
    if (rc != 0)
        return rc;
    contest_enter(c, false);
    return c->cut > 0 && rules->work > c->work ? search_twice(c, rules) : 0;
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
static void renumber_contest(contest *c, const affinity *ordered, const vertex *order)
{
    c->ranks = ordered;
    for (size_t v = 0; v < ordered->vertices; v++)
        c->trial[v] = c->best[order[v]];
    contest_swap(c);
}

static int improve_best(contest *c, const search_rules *rules)
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
        rc = refine_and_search(c, rules);
        for (size_t v = 0; v < ranks->vertices; v++)
            c->trial[order[v]] = c->best[v];
        contest_swap(c);
    }
    affinity_release(&ordered);
    return rc;
}

int place_best(const affinity *ranks, const site *s, const search_rules *rules, size_t *node)
{
    contest c;
    int rc = contest_init(&c, ranks, s);
    if (rc == 0)
        rc = try_candidates(&c, rules);
    if (rc == 0 && rules->refine)
        rc = improve_best(&c, rules);
    if (rc == 0)
        memcpy(node, c.best, ranks->vertices * sizeof *node);
    contest_release(&c);
    return rc;
}
