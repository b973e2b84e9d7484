/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transportation problem: assigns items to nodes, so that the sum of the benefits is greatest and
 * no node exceeds its capacity. Private to this folder.
 *
 * Source: Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals of
 * Operations Research 20 (1989); one phase from zero prices, so that nodes below capacity keep the
 * price 0.
 */
#ifndef SETMATCH_TRANSPORT_H
#define SETMATCH_TRANSPORT_H

#include "matrix/matrix.h"

/* benefit: a row per item, a column per node, values >= 0; an absent entry is 0 and allowed. Node n
 * gets at most capacity[n] items. The sum is at most `increment` (> 0) per item below the optimum.
 * Equal input gives equal output. -ENOSPC: more items than capacity; -ENOMEM. */
int transport(const matrix *benefit, const size_t *capacity, int64_t increment,
              size_t *node_of_item);

/* One hundredth of the sum of benefits per item, at least 1. */
int64_t transport_increment(const matrix *benefit);

#endif
