/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Initial phases: duals, and a partial assignment in which each assigned person has one of its
 * cheapest objects at the current duals. For the solvers only.
 */
#ifndef LAP_REDUCTION_H
#define LAP_REDUCTION_H

#include "lap/state.h"

/* Each object's dual becomes its least cost, and from the last object to the first it is assigned
 * to the person of that cost, unless that person has one. Does nothing where objects stay free. */
void TYPED(column_reduction)(struct state *s);

/* Jonker and Volgenant's second phase, after column reduction: the dual of an assigned object falls
 * until its person's second cheapest object costs as little. */
void TYPED(reduction_transfer)(struct state *s);

/* Jonker and Volgenant's third phase: unassigned persons take their cheapest objects, whose duals
 * fall until the second cheapest ones cost as little; who had such an object takes another one. */
void TYPED(augmenting_row_reduction)(struct state *s);

/* The first phase of Carpaneto, Martello and Toth, after column reduction: unassigned persons get
 * one of their cheapest objects, a free one, or one whose person has another free one that costs
 * it as little. 0 or -ENOMEM. */
int TYPED(exchange)(struct state *s);

#endif
