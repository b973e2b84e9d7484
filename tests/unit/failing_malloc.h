/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lets the Nth allocation of the code under test fail, and counts what was not freed.
 * Include in one file of a program that is linked with
 *   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
 * Counts only between fail_allocation and stop_failing: a Check that is linked statically
 * comes through here too. Calls inside shared libraries such as libc do not.
 */
#ifndef TESTS_FAILING_MALLOC_H
#define TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);

static struct {
    long until_failure; /* allocations that still succeed; negative: all do */
    bool failed;
    bool counting;
    long live; /* blocks not freed, of those allocated while counting */
} allocations = {.until_failure = -1};

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

static bool refuse(void)
{
    if (allocations.until_failure < 0 || allocations.until_failure-- > 0)
        return false;
    allocations.failed = true;
    return true;
}

static void *counted(void *block)
{
    allocations.live += allocations.counting && block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (refuse())
        return NULL;
    return old == NULL ? counted(__real_malloc(size)) : __real_realloc(old, size);
}

void __wrap_free(void *block)
{
    allocations.live -= allocations.counting && block != NULL;
    __real_free(block);
}

#endif
