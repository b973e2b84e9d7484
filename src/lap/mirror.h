/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sparse problem with more objects than persons, and its mirror image, as one problem in which
 * all objects are assigned, so that their duals may have any sign. For the solvers only.
 */
#ifndef LAP_MIRROR_H
#define LAP_MIRROR_H

#include "lap/state.h"

/* Sets up the problem of both, unassigned, with prices near those of `s`. Without groups. The
 * caller releases its arena, also after an error. 0 or -ENOMEM. */
int TYPED(init_mirrored)(struct state *both, const struct state *s);

/* Takes over the assignment and the duals of a complete, optimal assignment of both. */
void TYPED(take_half)(struct state *s, const struct state *both);

#endif
