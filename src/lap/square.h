/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A dense problem with more objects than persons as one in which all objects are assigned, so that
 * their duals may have any sign: fillers, persons whose costs are all 0, take the objects that
 * would stay free. For the solvers only.
 */
#ifndef LAP_SQUARE_H
#define LAP_SQUARE_H

#include "lap/state.h"

/* Adds the fillers, unassigned; arrays by person that others made are too short then. Without
 * groups. 0 or -ENOMEM. */
int TYPED(add_fillers)(struct state *s);

/* Removes the fillers from a complete, optimal assignment; duals of free objects become 0. */
void TYPED(remove_fillers)(struct state *s);

#endif
