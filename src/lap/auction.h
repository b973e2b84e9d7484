/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a person wants most, and auctions. For the solvers only.
 */
#ifndef LAP_AUCTION_H
#define LAP_AUCTION_H

#include "lap/paths.h"

/* A person's least costs less price. */
struct two_least {
    cost_t least, second;
    size_t object, second_object;
};

struct two_least TYPED(find_two_least)(struct paths *p, size_t person);

/* Effort of the searches for each person, after which prices from auctions are the better start:
 * dense searches are long with some costs only (distances, products), those of a few pairs a person
 * always. */
enum { EFFORT_DENSE = 32, EFFORT_SPARSE = 2 };

static inline bool is_laborious(const struct paths *p)
{
    size_t patience = p->s->start != NULL ? EFFORT_SPARSE : EFFORT_DENSE;
    return all_assigned(p->s) && !p->auctioned && p->effort / patience > p->s->persons;
}

/* Drops the assignment and brings the prices nearer to the best. Only where all_assigned. `waiting`
 * becomes all persons, whose number is returned. */
size_t TYPED(hold_auctions)(struct paths *p, size_t *waiting);

#endif
