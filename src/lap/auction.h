/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest objects of a person, and auctions. For the solvers only.
 */
#ifndef LAP_AUCTION_H
#define LAP_AUCTION_H

#include "lap/paths.h"

/* A person's two least reduced costs and their objects; COST_MAX and NONE: no such object. */
struct two_least {
    cost_t least, second;
    size_t object, second_object;
};

struct two_least TYPED(find_two_least)(struct paths *p, size_t person);

/* Search effort per person beyond which a restart from auction prices pays. Dense searches are long
 * for some costs only (distances, products); sparse ones with few pairs per person always are. */
enum { EFFORT_DENSE = 32, EFFORT_SPARSE = 2 };

static inline bool searches_are_expensive(const struct paths *p)
{
    size_t limit = p->s->start != NULL ? EFFORT_SPARSE : EFFORT_DENSE;
    return all_assigned(p->s) && !p->auctioned && p->effort / limit > p->s->persons;
}

/* Discards the assignment and moves the prices close to optimal ones. Requires all_assigned. Lists
 * all persons in `waiting` and returns their number. */
size_t TYPED(hold_auctions)(struct paths *p, size_t *waiting);

#endif
