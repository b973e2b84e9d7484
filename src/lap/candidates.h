/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Problems with many more objects than persons. For the solvers only.
 */
#ifndef LAP_CANDIDATES_H
#define LAP_CANDIDATES_H

#include "lap/state.h"

/* Objects a person. */
enum { WIDE = 256 };

static inline bool is_wide(const struct state *s)
{
    return s->persons > 0 && s->persons <= s->objects / WIDE;
}

/* Checks the costs of a wide problem, dense and without groups, and makes it a sparse one with few
 * objects: its solution, with duals of 0 for all other objects, is one of the whole. 0, -EDOM,
 * -ERANGE or -ENOMEM. */
int TYPED(keep_candidates)(struct state *s);

#endif
