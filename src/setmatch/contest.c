/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of several candidate placements, and a search that starts from them. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/mix.h"

/* Best placements that are kept. The search ends when independent constructions have found the
 * least cut again CERTAIN times. */
enum { FINALISTS = 8, CERTAIN = 5, REGIONS = 8 };

/* A run of annealing takes this part of all work, and at most this memory. */
enum { RUNS = 4, MOST_ANNEALED = 1 << 22 };

/* The best placements so far, the least cut first, the earlier one on a tie. */
struct contest {
    const affinity *ranks;
    const site *site;
    const search_rules *rules;
    struct base_arena arena;
    size_t *node[FINALISTS + 1]; /* the last one is a trial */
    int64_t cut[FINALISTS + 1];  /* INT64_MAX: none */
    size_t work;                 /* so far */
    size_t confirmed;            /* number of times that the least cut was found again */
};

static int contest_init(struct contest *c, const affinity *ranks, const site *s,
                        const search_rules *rules)
{
    *c = (struct contest){.ranks = ranks, .site = s, .rules = rules};
    for (size_t k = 0; k <= FINALISTS; k++) {
        c->node[k] = base_arena_alloc(&c->arena, ranks->vertices, sizeof *c->node[k]);
        c->cut[k] = INT64_MAX;
    }
    return c->arena.failed ? -ENOMEM : 0;
}

static int64_t cut_of_trial(const struct contest *c)
{
    return affinity_cut(c->ranks, c->node[FINALISTS]);
}

/* Enters the trial, which has this cut. One whose cut is known is taken to be the same placement: a
 * contest between different ones finds more. */
static void enter_cut(struct contest *c, int64_t cut)
{
    size_t *node = c->node[FINALISTS], k = FINALISTS;
    for (size_t i = 0; i < FINALISTS; i++)
        if (c->cut[i] == cut)
            return;
    for (; k > 0 && cut < c->cut[k - 1]; k--) {
        c->cut[k] = c->cut[k - 1];
        c->node[k] = c->node[k - 1];
    }
    c->cut[k] = cut;
    c->node[k] = node;
    if (k == 0)
        c->confirmed = 0;
}

static void enter_trial(struct contest *c)
{
    enter_cut(c, cut_of_trial(c));
}

/* Enters a trial that was made without the help of the others. A cut that several such trials have
 * is unlikely to be improved. */
static void enter_independent(struct contest *c)
{
    int64_t cut = cut_of_trial(c);
    if (cut == c->cut[0])
        c->confirmed++;
    enter_cut(c, cut);
}

static void copy_finalist(struct contest *c, size_t k)
{
    memcpy(c->node[FINALISTS], c->node[k], c->ranks->vertices * sizeof *c->node[k]);
}

static size_t count_finalists(const struct contest *c)
{
    size_t count = 0;
    while (count < FINALISTS && c->cut[count] != INT64_MAX)
        count++;
    return count;
}

/* ---- candidates ---- */

static int try_candidates(struct contest *c)
{
    static const place_fn candidates[] = {place_by_sets, place_by_slot, place_levelled};
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < sizeof candidates / sizeof candidates[0]; k++) {
        rc = candidates[k](c->ranks, c->site, c->rules->threshold, c->node[FINALISTS]);
        if (rc == 0)
            enter_independent(c);
    }
    if (rc == 0)
        rc = bisect_ranks(c->ranks, c->site, 0, c->node[FINALISTS], &c->work);
    if (rc == 0)
        enter_independent(c);
    return rc;
}

static int refine_trial(struct contest *c, const size_t *other, size_t variant)
{
    return refine_multilevel(c->ranks, c->site, other, variant, c->node[FINALISTS], &c->work);
}

/* ---- search ---- */

static int try_bisection(struct contest *c, size_t variant)
{
    int rc = bisect_ranks(c->ranks, c->site, variant, c->node[FINALISTS], &c->work);
    if (rc == 0)
        rc = refine_trial(c, NULL, variant);
    if (rc == 0)
        enter_independent(c);
    return rc;
}

/* The best placement with what another one does better. */
static int try_combination(struct contest *c, size_t variant)
{
    size_t count = count_finalists(c), other = 1 + mixed(variant) % FINALISTS;
    copy_finalist(c, 0);
    int rc = refine_trial(c, other < count ? c->node[other] : NULL, variant);
    if (rc == 0)
        enter_trial(c);
    return rc;
}

/* Several regions of the best placement, which may become another one of equal cut. */
static int try_regions(struct contest *c, size_t variant)
{
    int rc = 0;
    copy_finalist(c, 0);
    for (size_t k = 0; rc == 0 && k < REGIONS; k++)
        rc = improve_region(c->ranks, c->site, variant * REGIONS + k, c->node[FINALISTS], &c->work);
    if (rc != 0)
        return rc;
    int64_t cut = cut_of_trial(c);
    if (cut == c->cut[0])
        memcpy(c->node[0], c->node[FINALISTS], c->ranks->vertices * sizeof *c->node[0]);
    else
        enter_cut(c, cut);
    return 0;
}

static int try_annealing(struct contest *c, size_t variant)
{
    size_t visits = c->rules->work / RUNS, count = count_finalists(c);
    if (c->ranks->vertices > MOST_ANNEALED / c->site->nodes)
        return 0;
    copy_finalist(c, variant % 3 == 0 ? mixed(variant) % count : 0);
    const annealing_rules rules = {STEPS_PER_VISIT * visits, variant, NULL, NULL};
    int rc = anneal_placement(c->ranks, c->site, &rules, c->node[FINALISTS]);
    c->work += visits;
    if (rc == 0)
        rc = refine_trial(c, NULL, variant);
    if (rc == 0)
        enter_trial(c);
    return rc;
}

static bool search_has_ended(const struct contest *c)
{
    return c->work >= c->rules->work || c->cut[0] == 0 || c->confirmed >= CERTAIN;
}

static int search_further(struct contest *c)
{
    enum { BISECTION, COMBINATION, ANNEALING, REGIONS_ANEW, KINDS };
    static int (*const step[KINDS])(struct contest *, size_t) = {
        [BISECTION] = try_bisection,
        [COMBINATION] = try_combination,
        [ANNEALING] = try_annealing,
        [REGIONS_ANEW] = try_regions,
    };
    static const unsigned char turn[] = {BISECTION, BISECTION,    COMBINATION, BISECTION,
                                         ANNEALING, REGIONS_ANEW, ANNEALING,   COMBINATION};
    size_t variant[KINDS] = {0};
    int rc = 0;
    for (size_t k = 0; rc == 0 && !search_has_ended(c); k++) {
        unsigned char kind = turn[k % sizeof turn];
        c->work += c->ranks->vertices;
        rc = step[kind](c, ++variant[kind]);
    }
    return rc;
}

int place_best(const affinity *ranks, const site *s, const search_rules *rules, size_t *node)
{
    struct contest c;
    int rc = contest_init(&c, ranks, s, rules);
    if (rc == 0)
        rc = try_candidates(&c);
    if (rc == 0 && rules->refine) {
        copy_finalist(&c, 0);
        rc = refine_trial(&c, NULL, 0);
        if (rc == 0)
            enter_trial(&c);
    }
    if (rc == 0 && rules->refine)
        rc = search_further(&c);
    if (rc == 0)
        memcpy(node, c.node[0], ranks->vertices * sizeof *node);
    base_arena_release(&c.arena);
    return rc;
}
