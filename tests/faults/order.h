/* SPDX-License-Identifier: BSD-3-Clause */
/* order: groups of ranks for which the component has kept nothing. */
#ifndef TESTS_FAULTS_ORDER_H
#define TESTS_FAULTS_ORDER_H

#define ORDER_MOST_RANKS 16

/* Where the rank is in the nth order of all ranks; the orders repeat after the factorial of
 * `ranks`. */
int order_place(int rank, int ranks, int nth);

#endif
