/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays that are allocated one by one and freed together.
 *
 * A failed allocation is remembered: allocate everything, then check `failed` once.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

union base_block {
    union base_block *next;
    max_align_t alignment;
};

/* A zeroed arena is empty. */
struct base_arena {
    union base_block *blocks;
    bool failed;
};

/* `count` elements of `size` bytes, zeroed; valid until the arena is released. NULL and `failed`
 * set: no memory, or the product does not fit into size_t. */
static inline void *base_arena_alloc(struct base_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    union base_block *block = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes) &&
        !__builtin_add_overflow(bytes, sizeof *block, &bytes))
        block = calloc(1, bytes);
    if (block == NULL) {
        arena->failed = true;
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block + 1;
}

static inline void base_arena_release(struct base_arena *arena)
{
    while (arena->blocks != NULL) {
        union base_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->failed = false;
}

#endif
