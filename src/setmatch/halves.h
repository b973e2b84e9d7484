/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halves of nodes, for bisection: half the number, or half the slots. Private to this folder.
 */
#ifndef SETMATCH_HALVES_H
#define SETMATCH_HALVES_H

#include <stdbool.h>

#include "base/arena.h"
#include "setmatch/candidates.h"

/* Parts of the nodes are ranges of order[], the largest node of each first. */
typedef struct halves {
    const size_t *slots; /* by node; borrowed */
    size_t *order;       /* nodes */
    size_t *moved;       /* by place: a second half, or places at random; scratch */
    bool *is_first;      /* by place: a node of the first half of a part */
} halves;

/* All nodes of the allocation. The arena owns the memory. -ENOMEM. */
int halves_init(halves *h, struct base_arena *arena, const allocation *s);

/* The slots of a part, UINT64_MAX if there are more. */
uint64_t halves_slots(const halves *h, size_t first, size_t end);

/* Divides a part of at least two nodes in two, as the variant says. Returns where the second half
 * begins. Both halves keep their order. */
size_t halves_divide(halves *h, size_t first, size_t end, variant v);

#endif
