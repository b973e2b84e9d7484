/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All orders of the steps and events of a small exchange, one after the other.
 */
#ifndef EXCHANGE_ORDERS_H
#define EXCHANGE_ORDERS_H

#include "simulation.h"

/* One of 0 ... count - 1: another one in each order that is the same up to here. */
size_t sim_choose(simulation *sim, size_t count);
/* Whether this order has come to where another one was: the rest is the same. */
bool sim_is_known(simulation *sim);

/* What was tried. */
typedef struct sim_tally {
    uint64_t exchanges, faults, orders, states;
} sim_tally;
/* Tries all orders of the exchange of this seed, without a fault and with one in each of its calls;
 * nothing if it is not small. false: a failure, which is explained. */
bool sim_try_orders(uint64_t seed, sim_tally *tally);

#endif
