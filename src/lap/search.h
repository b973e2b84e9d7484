/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One search for a shortest augmenting path, from an unassigned person to an open object, in the
 * presence of full groups. For the solvers only.
 */
#ifndef LAP_SEARCH_H
#define LAP_SEARCH_H

#include "lap/pairs.h"

/* Begins a search: nothing is settled. */
void TYPED(reset_search)(struct state *s);

/* Records the distance of an assigned object, which is final. */
static inline void settle(struct state *s, size_t object, cost_t at)
{
    s->order[s->settled++] = object;
    s->settled_at[object] = at;
}

/* Whether the person's pairs lead to nothing nearer than those scanned before in this search: all
 * fillers have equal costs and, where they are assigned, equal duals. */
static inline bool is_scanned(struct state *s, size_t person)
{
    if (!is_filler(s, person))
        return false;
    bool scanned = s->is_filler_scanned;
    s->is_filler_scanned = true;
    return scanned;
}

/* Enters a full group through a free object at distance `at`. Every assigned member of the group is
 * then within `at - dual[member]`, which the caller takes into account: unassigning it makes the
 * free object available. Other free objects of the group lead nowhere new. */
void TYPED(enter_group)(struct state *s, size_t object, cost_t at);

/* An open object was found at `distance`: lowers the prices of everything nearer by the difference.
 */
void TYPED(change_duals)(struct state *s, cost_t distance);

/* Assigns every person on the path to `object` the object that it reached. */
void TYPED(flip_path)(struct state *s, size_t object);

#endif
