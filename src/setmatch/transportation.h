/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transportation problem: assigns items to nodes, so that the sum of the benefits is great and no
 * node exceeds its capacity. Private to this folder.
 */
#ifndef SETMATCH_TRANSPORTATION_H
#define SETMATCH_TRANSPORTATION_H

#include "matrix/matrix.h"

/* benefit: a row per item, a column per node, values >= 0; an absent entry is 0 and allowed. Node n
 * gets at most capacity[n] items. The sum is at most one hundredth of all benefits below the
 * optimum, unless a price war raised that (plan/auction.h). Equal input gives equal output.
 * -ENOSPC: more items than capacity; -ENOMEM. */
int solve_transportation(const matrix *benefit, const size_t *capacity, size_t *node_of_item);

#endif
