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

struct two_least TYPED(find_two_least)(struct paths *p, size_t person);

/* Searches per person, in rows of costs or in steps of a sparse search, beyond which a restart from
 * auction prices pays. An auction reads 10 to 30 rows per person; sparse searches are always long.
 */
enum { SEARCHED_ROWS = 4, SEARCHED_STEPS = 2 };

static inline bool searches_are_expensive(const struct paths *p)
{
    size_t blocks = p->s->objects / BLOCK;
    size_t limit = p->s->start != NULL ? SEARCHED_STEPS : SEARCHED_ROWS * blocks + 1;
    return all_assigned(p->s) && !p->auctioned &&
           (p->settled + p->scanned * blocks) / limit > p->s->persons;
}

/* Discards the assignment and moves the prices close to optimal ones. Requires all_assigned. Lists
 * all persons in `waiting` and returns their number. */
size_t TYPED(hold_auctions)(struct paths *p, size_t *waiting);

#endif
