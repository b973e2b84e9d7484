/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The allocation functions of each test program, which is linked with
 *   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
 */
#include "failing_malloc.h"

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);

struct allocations allocations = {.until_failure = -1};

static bool refuse(void)
{
    if (allocations.until_failure < 0 || atomic_fetch_sub(&allocations.until_failure, 1) != 0)
        return false;
    allocations.failed = true;
    return true;
}

static void *counted(void *block)
{
    if (allocations.counting && block != NULL)
        atomic_fetch_add(&allocations.live, 1);
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
    if (allocations.counting && block != NULL)
        atomic_fetch_sub(&allocations.live, 1);
    __real_free(block);
}
