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

/* Searches are over whole rows when others have read one for every so many persons, and one at
 * least every so many steps: a step over a row then costs less than renewing the list. */
enum { PERSONS_PER_ROW = 2, STEPS_PER_ROW = 3 };

/* What auctions cost per object, in rows that are read: where lists serve, or not; and in steps of
 * a sparse search. A step over a list costs as much as so many blocks of a row. SAMPLE: this part
 * of the cost of auctions is spent on searches before these are judged. */
enum { AUCTION_LISTS = 10, AUCTION_ROWS = 150, AUCTION_STEPS = 2, STEP_BLOCKS = 4, SAMPLE = 16 };

struct two_least TYPED(find_two_least)(struct paths *p, size_t person);

/* Whether most steps of searches have read a row: then searches, and bids, are over whole rows. */
static inline bool lists_are_too_short(const struct paths *p)
{
    return p->bound != NULL && p->s->start == NULL &&
           p->scanned > p->s->persons / PERSONS_PER_ROW && p->scanned > p->settled / STEPS_PER_ROW;
}

/* Whether auctions are possible, and cost less than the remaining searches, judged by the first
 * `done` of `all`: the length of a search is taken to be inverse to the number of those left, since
 * as many objects are open. */
static inline bool searches_are_expensive(const struct paths *p, size_t done, size_t all)
{
    const struct state *s = p->s;
    bool sparse = s->start != NULL;
    double blocks = sparse ? 0.0 : (double)blocks_of(s);
    double limit = sparse ? AUCTION_STEPS * STEP_BLOCKS
                          : blocks * (lists_are_too_short(p) ? AUCTION_ROWS : AUCTION_LISTS);
    double work = (double)p->settled * STEP_BLOCKS + (double)p->scanned * blocks;
    double least = limit * (double)s->objects;
    double left = (double)(all - done) + 1.0, growth = log(left) / log(((double)all + 1.0) / left);
    return !p->auctioned && s->group == NULL && (!sparse || all_assigned(s)) &&
           work > least / SAMPLE && work * growth > least;
}

/* Discards the assignment and moves the prices close to optimal ones. An auction that does not come
 * to an end leaves those that it began with. Requires all_assigned. Lists all persons in `waiting`
 * and returns their number. */
size_t TYPED(hold_auctions)(struct paths *p, size_t *waiting);

#endif
