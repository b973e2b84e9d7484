/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checked allocation and growing arrays. calloc checks the product of its arguments as well.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Memory for `count` elements of `size` bytes, uninitialised; never NULL for a count of 0.
 * The caller frees it. NULL if memory is exhausted or the product does not fit into size_t. */
static inline void *base_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return malloc(bytes > 0 ? bytes : 1);
}

/* The same with zeroed memory; on failure NULL and *rc = -ENOMEM, otherwise *rc is unchanged. For
 * several allocations with one check. */
static inline void *base_zeroed(size_t count, size_t size, int *rc)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        *rc = -ENOMEM;
    return memory;
}

/* Makes room for `count` elements of `size` bytes in the array *array (a pointer to the array's
 * pointer, which may be NULL) of *capacity elements. Grows at least by doubling, so that appending
 * costs O(1) on average, from 64 bytes, as many small arrays stay small. 0, or -ENOMEM: array and
 * capacity are unchanged. */
static inline int base_reserve(void *array, size_t *capacity, size_t count, size_t size)
{
    size_t wanted = count, least = size < 64 ? 64 / size : 1, bytes;
    void *old;
    if (count <= *capacity)
        return 0;
    if (wanted < 2 * *capacity)
        wanted = 2 * *capacity;
    if (wanted < least)
        wanted = least;
    if (__builtin_mul_overflow(wanted, size, &bytes))
        return -ENOMEM;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, bytes);
    if (grown == NULL)
        return -ENOMEM;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return 0;
}

#endif
