/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A problem with more objects than persons as one in which all objects are assigned, so that their
 * duals may have any sign: fillers, persons whose costs are all 0, take the objects that would stay
 * free. For the solvers only.
 *
 * Fillers act as one: they have the objects of the highest prices, all at the same price, and where
 * one loses its object it takes the next. Only the functions below assign objects to fillers until
 * the searches begin.
 */
#ifndef LAP_SQUARE_H
#define LAP_SQUARE_H

#include "lap/pairs.h"

/* Adds the fillers, unassigned; arrays by person that others made are too short then. Without
 * groups. 0 or -ENOMEM. */
int TYPED(add_fillers)(struct state *s);

/* Where no object is assigned: gives fillers those of the highest prices, at the least of these. */
void TYPED(place_fillers)(struct state *s);

/* The person, or NONE, has lost the object, whose price fell. A filler takes another at once, and
 * the price of all objects of fillers falls to that object's less `step`. Returns the person that
 * is without an object now, or NONE. */
size_t TYPED(displaced)(struct state *s, size_t person, size_t lost, cost_t step);

/* Records the price of the objects of fillers, for searches. */
void TYPED(record_filler_price)(struct state *s);

/* Whether a filler has the object, and a price is recorded that has fallen. */
static inline bool is_price_outdated(const struct state *s, size_t object)
{
    return s->fillers > 0 && s->price[object] > s->filler_price && !is_free(s, object) &&
           is_filler(s, s->person_of[object]);
}

/* Removes the fillers from a complete, optimal assignment; duals of free objects become 0. */
void TYPED(remove_fillers)(struct state *s);

#endif
