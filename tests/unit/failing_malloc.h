/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lets the Nth allocation of the code under test fail, and counts what was not freed.
 * Counts only between fail_allocation and stop_failing: a Check that is linked statically
 * comes through here too. Calls inside shared libraries such as libc do not. Threads may allocate
 * at the same time.
 */
#ifndef TESTS_FAILING_MALLOC_H
#define TESTS_FAILING_MALLOC_H

#include <check.h>
#include <errno.h>
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

/* After a call: its result must be -ENOMEM where an allocation has failed, otherwise 0, and nothing
 * may be left. */
static inline void check_failing(int rc)
{
    stop_failing();
    ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
    ck_assert_int_eq(allocations.live, 0);
}

/* Calls with the first allocation failing, then with the second, until none does. No assertions in
 * `call`, because they allocate. */
#define fail_each_allocation(call)                                                                 \
    for (long nth = 0, failed = 1; failed; nth++) {                                                \
        fail_allocation(nth);                                                                      \
        check_failing(call);                                                                       \
        failed = allocations.failed;                                                               \
        ck_assert_msg(failed ? nth < 1000 : nth > 0, "%ld allocations", nth);                      \
    }

#endif
