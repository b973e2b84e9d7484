/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which item goes to which node, so that the sum of the benefits is largest and no node has more
 * items than it takes: a transportation problem. Private to this folder.
 *
 * Source: Bertsekas and Castanon, "The auction algorithm for the transportation problem", Annals of
 * Operations Research 20 (1989); one phase from zero prices, so that a node that is not full in the
 * end has kept the price 0.
 */
#ifndef SETMATCH_TRANSPORT_H
#define SETMATCH_TRANSPORT_H

#include "matrix/matrix.h"

/* benefit: a row for each item, a column for each node, values >= 0; an absent entry is 0, and any
 * item may go to any node. Node n takes at most capacity[n] items. At most `increment` (> 0) an
 * item below the optimum. Equal input gives equal output. -ENOSPC: more items than the nodes take;
 * -ENOMEM. */
int transport(const matrix *benefit, const size_t *capacity, int64_t increment,
              size_t *node_of_item);

/* One hundredth of what an item has on average. */
int64_t transport_increment(const matrix *benefit);

#endif
