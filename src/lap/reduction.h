/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Initial phases of several solvers: duals, and a partial assignment that is optimal for its
 * persons. For the solvers only.
 */
#ifndef LAP_REDUCTION_H
#define LAP_REDUCTION_H

#include "lap/paths.h"

/* Column reduction, after read_costs: each object is assigned to the person of its least cost,
 * unless that person has one; objects in descending order. Does nothing where objects stay free. */
void TYPED(column_reduction)(struct state *s);

/* Whether column reduction may leave few persons of a dense problem unassigned: each of some
 * persons is the only cheapest one of its cheapest object. Costs may not have been checked. */
bool TYPED(reduction_may_do)(const struct state *s);

/* The first phase of Carpaneto, Martello and Toth: column reduction, then `exchange`. 0 or -ENOMEM.
 */
int TYPED(reduce_and_exchange)(struct state *s);

/* Assigns unassigned persons one of their cheapest objects at the current prices: an open one, or
 * one whose person moves to an open object of the same reduced cost. Reads the partial lists of
 * `lists`, and passes over a person whose cheapest object is not in its list; without lists (NULL),
 * all pairs. Ends early when it has passed over more than `most_left` persons; NONE: does not. 0 or
 * -ENOMEM. */
int TYPED(exchange)(struct state *s, const struct paths *lists, size_t most_left);

#endif
