/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest objects of a person, and auctions. For the solvers only.
 */
#ifndef LAP_AUCTION_H
#define LAP_AUCTION_H

#include "lap/paths.h"
#include "lap/vector.h"

/* A person's two least reduced costs and their objects; COST_MAX and NONE: no such object. */
struct two_least {
    cost_t least, second;
    size_t object, second_object;
};

/* Lists serve where at most one in so many steps of searches reads a row. */
enum { STEPS_PER_ROW = 3 };

/* What auctions cost per object, in rows that are read: where lists serve, or not; and in steps of
 * a sparse search, without fillers and with them, to which each pair adds a step. So many pairs add
 * one where there are no lists, so that steps are long, or more than one of so many persons is left
 * to the searches, as all prefer the same objects; and more pairs beyond so many objects, where
 * searches leave the caches. A step over a list costs as much as so many blocks of a row, and
 * lists, where they serve, as much as so many more in each row. So many dummies, which are in all
 * lists, double the cost. This part of it is spent on searches before these are judged: one of so
 * many. */
enum { AUCTION_LISTS = 9, AUCTION_ROWS = 135, AUCTION_STEPS = 2, FILLED_STEPS = 16 };
enum { PAIRS_PER_STEP = 7, MANY_LEFT = 4, CACHED_OBJECTS = 6000 };
enum { STEP_BLOCKS = 4, BID_BLOCKS = 8, DUMMIES = 8, SAMPLE = 16 };

/* What it costs per person, in rows that are read, to find the objects that no person needs; and
 * from how many objects a person on: with fewer, auctions with fillers take less time. */
enum { DROP_ROWS = 8, DROP_OBJECTS = 4 };

struct two_least TYPED(find_two_least)(struct paths *p, size_t person);

/* Whether lists will serve in an auction: they have in the last searches, or most persons are left
 * to the searches, as all prefer the same objects. */
static inline bool lists_serve_bids(const struct paths *p, size_t all)
{
    return (!p->by_rows && p->recent.scanned <= p->recent.settled / STEPS_PER_ROW) ||
           all > p->s->persons / 2;
}

/* How many pairs of a sparse problem add a step to what auctions are taken to cost. */
static inline double pairs_per_step(const struct paths *p, size_t all)
{
    const struct state *s = p->s;
    if (p->bound == NULL || all > s->persons / MANY_LEFT)
        return PAIRS_PER_STEP;
    return s->objects > CACHED_OBJECTS ? (double)s->objects / CACHED_OBJECTS : 1.0;
}

/* What auctions are taken to cost where `all` persons were left to the searches, in blocks of a
 * row. */
static inline double cost_of_auctions(const struct paths *p, size_t all)
{
    const struct state *s = p->s;
    double blocks = (double)blocks_of(s);
    if (s->start == NULL)
        return (double)s->objects * (1.0 + (double)s->dummies / DUMMIES) *
               (lists_serve_bids(p, all) ? AUCTION_LISTS * (blocks + BID_BLOCKS)
                                         : AUCTION_ROWS * blocks);
    double of_pairs = (double)s->start[s->persons] / pairs_per_step(p, all);
    double of_objects = (double)s->objects * (all_assigned(s) ? AUCTION_STEPS : FILLED_STEPS);
    return STEP_BLOCKS * (of_objects + of_pairs);
}

/* Whether the remaining searches cost more than this, judged by the first `done` of `all`: the
 * length of a search is taken to be inverse to the number of those left, since as many objects are
 * open; in a sparse problem to the number of all open objects. */
static inline bool searches_cost_more(const struct paths *p, size_t done, size_t all, double cost)
{
    const struct state *s = p->s;
    bool sparse = s->start != NULL;
    double work = (double)p->settled * STEP_BLOCKS +
                  (double)p->scanned * (sparse ? 0.0 : (double)blocks_of(s));
    double last = 1.0 + (sparse ? (double)(s->objects - s->persons) : 0.0);
    double left = (double)(all - done) + last, first = (double)all + last;
    double growth = log(left / last) / log(first / left);
    return work > cost / SAMPLE && work * growth > cost;
}

static inline bool auctions_pay(const struct paths *p, size_t done, size_t all)
{
    return !p->auctioned && p->s->group == NULL &&
           searches_cost_more(p, done, all, cost_of_auctions(p, all));
}

/* Whether objects can be dropped (candidates.h), and this costs less than it may save. */
static inline bool dropping_pays(const struct paths *p, size_t done, size_t all)
{
    const struct state *s = p->s;
    if (s->start != NULL || s->group != NULL || s->whole_object != NULL ||
        s->objects / DROP_OBJECTS < s->persons)
        return false;
    return searches_cost_more(p, done, all, DROP_ROWS * (double)blocks_of(s) * (double)s->persons);
}

/* Discards the assignment, except for that of fillers, and moves the prices close to optimal ones.
 * An auction that does not come to an end has no effect. Returns 1; 0 if none does, and the
 * assignment stays where there are no fillers; or -ENOMEM. Requires all_assigned. */
int TYPED(hold_auctions)(struct paths *p);

#endif
