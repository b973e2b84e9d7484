/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lets the Nth allocation of the code under test fail, and counts what was not freed.
 * Counts only between fail_allocation and stop_failing: a Check that is linked statically
 * comes through here too. Calls inside shared libraries such as libc do not. Threads may allocate
 * at the same time.
 */
#ifndef TESTS_FAILING_MALLOC_H
#define TESTS_FAILING_MALLOC_H

#include <stdatomic.h>
#include <stdbool.h>

extern struct allocations {
    atomic_long until_failure; /* allocations that still succeed; negative: all do */
    atomic_bool failed;
    atomic_bool counting;
    atomic_long live; /* blocks not freed, of those allocated while counting */
} allocations;

/* From now on allocation number `nth` (from 0) fails, once. */
static inline void fail_allocation(long nth)
{
    allocations.until_failure = nth;
    allocations.failed = false;
    allocations.live = 0;
    allocations.counting = true;
}

static inline void stop_failing(void)
{
    allocations.until_failure = -1;
    allocations.counting = false;
}

#endif
