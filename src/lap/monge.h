/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Dense problems that sorting solves: with persons and objects in some order, exchanging the
 * objects of two persons that have them in that order gains nothing. For the solvers only.
 *
 * Source: Burkard, Klinz and Rudolf, "Perspectives of Monge properties in optimization", Discrete
 * Applied Mathematics 70 (1996).
 */
#ifndef LAP_MONGE_H
#define LAP_MONGE_H

#include "lap/state.h"

/* Both are for dense problems without groups, and return 0 or -ENOMEM.
 *
 * Looks for such an order. *solved: there is one, and assignment and duals are complete and
 * optimal, of real costs within rounding; otherwise they are as before. *nearly: the problem is
 * square, and exchanges gain little. Reads 256 costs where these show that there is no order,
 * otherwise all of them three times, and again all that a person may have in order. */
int TYPED(solve_in_order)(struct state *s, bool *solved, bool *nearly);

/* Where there nearly is an order: sets duals close to optimal ones, and assigns the persons that
 * pay the least they can. `solve` solves a sparse problem. */
int TYPED(start_in_order)(struct state *s, int (*solve)(struct state *));

#endif
