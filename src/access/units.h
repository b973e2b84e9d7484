/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes of an access in each unit of the file. Unit u is the bytes [base + u * unit,
 * base + (u + 1) * unit). Adjacent units with equally many bytes are one step, so that regular
 * accesses to millions of units stay short.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_UNITS_H
#define ACCESS_UNITS_H

#include "access/list.h"

/* Units first, ..., first + count - 1 have `bytes` bytes each; count >= 1, bytes >= 1. */
typedef struct unit_step {
    int64_t first, count, bytes;
} unit_step;

/* int64 elements of a step: lists of steps are sent unchanged. */
#define UNIT_STEP_ELEMENTS 3
_Static_assert(sizeof(unit_step) == UNIT_STEP_ELEMENTS * sizeof(int64_t), "a step is three int64");

/* A zeroed one is empty; steps ascend and do not overlap. Release by free(step). */
typedef struct unit_counts {
    unit_step *step;
    size_t count, capacity;
} unit_counts;

/* The number of units that cover [base, hi), base <= hi, unit >= 1. */
int64_t units_to(int64_t base, int64_t hi, int64_t unit);

/* Counts an ordered list whose bytes are at `base` or above. O(runs + units touched).
 * -EINVAL: unit < 1 or a byte below base; -ENOMEM. */
int units_count(const access_list *list, int64_t base, int64_t unit, unit_counts *counts);

/* Whether they are steps, as above, of units below `units`. */
bool units_lie_within(const unit_step *step, size_t steps, size_t units);

/* bytes[u] += those of each step, in an array of `units` elements, whose sums the caller keeps
 * below 2^63. -EINVAL, and nothing is added: the steps do not lie within it. */
int units_add(const unit_step *step, size_t steps, int64_t *bytes, size_t units);

/* The steps of an array. -ENOMEM. */
int units_from_array(const int64_t *bytes, size_t units, unit_counts *counts);

#endif
