/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The elements of heaps of objects. For the solvers only.
 */
#ifndef LAP_NODE_H
#define LAP_NODE_H

#include "lap/arithmetic.h"

#include <stddef.h>

struct node {
    cost_t key;
    size_t id; /* of an object; other ids are the heap's own */
};

/* Equal keys in the order of their ids. */
#define NODE_PRECEDES(order, a, b) ((a).key < (b).key || ((a).key == (b).key && (a).id < (b).id))

#endif
