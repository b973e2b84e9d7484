/* SPDX-License-Identifier: BSD-3-Clause */
/* The least cut of several placements. */
#include "setmatch/contest.h"

#include <errno.h>
#include <string.h>

int contest_init(contest *c, const affinity *ranks, const site *s)
{
    *c = (contest){.ranks = ranks, .site = s, .cut = INT64_MAX};
    c->best = base_arena_alloc(&c->arena, ranks->vertices, sizeof *c->best);
    c->trial = base_arena_alloc(&c->arena, ranks->vertices, sizeof *c->trial);
    return c->arena.failed ? -ENOMEM : 0;
}

int contest_copy(contest *c, const contest *other)
{
    int rc = contest_init(c, other->ranks, other->site);
    if (rc != 0)
        return rc;
    memcpy(c->best, other->best, c->ranks->vertices * sizeof *c->best);
    c->cut = other->cut;
    c->confirmed = other->confirmed;
    c->work = other->work;
    return 0;
}

void contest_release(contest *c)
{
    base_arena_release(&c->arena);
}

void contest_try_best(contest *c)
{
    memcpy(c->trial, c->best, c->ranks->vertices * sizeof *c->best);
}

int contest_refine(contest *c, size_t variant)
{
    return refine_multilevel(c->ranks, c->site, variant, c->trial, &c->work);
}

void contest_swap(contest *c)
{
    size_t *kept = c->best;
    c->best = c->trial;
    c->trial = kept;
}

void contest_enter(contest *c, bool independent)
{
    int64_t cut = affinity_cut(c->ranks, c->trial);
    if (cut < c->cut) {
        contest_swap(c);
        c->cut = cut;
        c->confirmed = 0;
    } else if (cut == c->cut && independent) {
        c->confirmed++;
    }
}
