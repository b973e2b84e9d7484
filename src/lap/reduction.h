/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts of several solvers: duals, and an assignment that is optimal as far as it goes.
 * For the solvers only.
 */
#ifndef LAP_REDUCTION_H
#define LAP_REDUCTION_H

#include "lap/state.h"

/* Column reduction, for a problem whose objects will all be assigned: each object's dual
 * is its least cost, and the object goes to the person of that cost, unless another has it
 * by then; objects in descending order. */
void TYPED(column_reduction)(struct state *s);

/* The start of Carpaneto, Martello and Toth: column reduction where it may be done, then each
 * person left takes one of its cheapest objects, for which another may make room by moving to
 * an open object that costs it the same. 0 or -ENOMEM. */
int TYPED(reduce_and_exchange)(struct state *s);

/* Its second half: at the prices that are, gives persons that have none one of their cheapest
 * objects, if one is open or can be had by one exchange. -ENOMEM. */
int TYPED(exchange)(struct state *s);

#endif
