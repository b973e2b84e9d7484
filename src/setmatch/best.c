/* SPDX-License-Identifier: BSD-3-Clause */
/* The least cut of several placements: SetMatch, by slot, and bisections, refined. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"

/* The search ends when so many bisections have found the least cut again. Of fewer ranks than
 * FEW_RANKS all bisections are much the same, so that they confirm nothing. */
enum { CERTAIN = 5, FEW_RANKS = 16 };

/* The best placement so far, the earlier one on a tie, and one that is being made. */
struct contest {
    const affinity *ranks;
    const allocation *allocation;
    bool refine;
    size_t most_work;
    struct base_arena arena;
    size_t *best, *trial;
    int64_t cut;      /* of the best one; INT64_MAX: none */
    size_t confirmed; /* number of times that the least cut was found again */
    size_t work;      /* so far: visits of vertices */
};

/* The trial becomes the best placement if its cut is less. */
static void contest_enter(struct contest *c)
{
    int64_t cut = affinity_cut(c->ranks, c->trial);
    c->confirmed = cut < c->cut ? 0 : c->confirmed + (cut == c->cut);
    if (cut >= c->cut)
        return;
    size_t *kept = c->best;
    c->best = c->trial;
    c->trial = kept;
    c->cut = cut;
}

static int refine_trial(struct contest *c, size_t seed, bool refine)
{
    int rc = refine ? refine_multilevel(c->ranks, c->allocation, seed, c->trial, &c->work) : 0;
    if (rc == 0)
        contest_enter(c);
    return rc;
}

static int try_bisection(struct contest *c, size_t k)
{
    int rc = bisect_ranks(c->ranks, c->allocation, variant_of(k), c->trial, &c->work);
    return rc == 0 ? refine_trial(c, k, true) : rc;
}

static int try_copy(struct contest *c, const size_t *node, size_t seed, bool refine)
{
    memcpy(c->trial, node, c->ranks->vertices * sizeof *node);
    return refine_trial(c, seed, refine);
}

/* With other groups, which gains more than as many bisections more. The same cut confirms nothing.
 */
static int refine_best(struct contest *c, size_t seed)
{
    int64_t before = c->cut;
    int rc = try_copy(c, c->best, seed, true);
    c->confirmed -= rc == 0 && c->cut == before;
    return rc;
}

static int try_simple(struct contest *c, bool refine)
{
    int rc = place_by_sets(c->ranks, c->allocation, c->trial);
    if (rc == 0)
        rc = refine_trial(c, 0, refine);
    if (rc == 0)
        rc = place_by_slot(c->ranks, c->allocation, c->trial);
    return rc == 0 ? refine_trial(c, 0, refine) : rc;
}

/* If a bisection takes more than half of the work, only the best placement is refined: refinement
 * of bad ones takes even longer. */
static int try_first(struct contest *c)
{
    size_t *bisected = base_arena_alloc(&c->arena, c->ranks->vertices, sizeof *bisected);
    int rc = bisected == NULL
                 ? -ENOMEM
                 : bisect_ranks(c->ranks, c->allocation, variant_of(0), bisected, &c->work);
    bool few = c->ranks->vertices <= MANY_RANKS || 2 * c->work <= c->most_work;
    if (rc == 0)
        rc = try_simple(c, few && c->refine);
    if (rc == 0)
        rc = try_copy(c, bisected, 0, few && c->refine);
    return rc == 0 && !few ? try_copy(c, c->best, 0, c->refine) : rc;
}

static bool search_has_ended(const struct contest *c)
{
    bool is_certain = c->confirmed >= CERTAIN && c->ranks->vertices > FEW_RANKS;
    return c->work >= c->most_work || c->cut == 0 || is_certain;
}

int place_best(const affinity *ranks, const allocation *s, bool refine, size_t work, size_t *node)
{
    struct contest c = {
        .ranks = ranks, .allocation = s, .refine = refine, .most_work = work, .cut = INT64_MAX};
    c.best = base_arena_alloc(&c.arena, ranks->vertices, sizeof *c.best);
    c.trial = base_arena_alloc(&c.arena, ranks->vertices, sizeof *c.trial);
    int rc = c.arena.failed ? -ENOMEM : try_first(&c);
    c.confirmed = 0;
    for (size_t k = 1; rc == 0 && refine && !search_has_ended(&c); k++) {
        rc = try_bisection(&c, k);
        if (rc == 0)
            rc = refine_best(&c, k);
    }
    if (rc == 0)
        memcpy(node, c.best, ranks->vertices * sizeof *node);
    base_arena_release(&c.arena);
    return rc;
}
