/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Problems with many more objects than persons: a reduction of their size. For the solvers only.
 */
#ifndef LAP_CANDIDATES_H
#define LAP_CANDIDATES_H

#include "lap/state.h"

/* Objects per person. */
enum { WIDE = 256 };

static inline bool is_wide(const struct state *s)
{
    return s->persons > 0 && s->persons <= s->objects / WIDE;
}

/* Checks the costs of a wide problem, dense and without groups, and replaces it by a sparse one
 * with few objects, whose solution, with duals of 0 for all other objects, solves the whole. 0,
 * -EDOM, -ERANGE or -ENOMEM. */
int TYPED(reduce_to_candidates)(struct state *s);

/* Drops the objects that no person needs from a dense problem without groups and with more objects
 * than persons, whose assignment is optimal for the persons that are assigned. Arrays by object
 * that others made are not adapted. 0 or -ENOMEM. */
int TYPED(drop_objects)(struct state *s);

#endif
