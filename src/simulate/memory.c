/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

/* Open addressing: the blocks that are counted. */
typedef struct block {
    void *memory; /* NULL: an empty place */
    sim_account *of;
} block;
static block *table;
static size_t used, room; /* the latter a power of two */
static sim_account *owner;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static void *require_block(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

void *sim_zeroed(size_t count, size_t size)
{
    return require_block(__real_calloc(count > 0 ? count : 1, size));
}

void *sim_resized(void *memory, size_t size)
{
    return require_block(__real_realloc(memory, size));
}

/* Finds this block, or an empty one. */
static block *find_place(const void *memory)
{
    size_t at = (size_t)base_mix((uintptr_t)memory) & (room - 1);
    while (table[at].memory != NULL && table[at].memory != memory)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static void grow_table(void)
{
    block *old = table;
    size_t before = room;
    room = before > 0 ? 2 * before : 1 << 12;
    table = sim_zeroed(room, sizeof *table);
    for (size_t i = 0; i < before; i++)
        if (old[i].memory != NULL)
            *find_place(old[i].memory) = old[i];
    __real_free(old);
}

static void count_bytes(sim_account *of, int64_t bytes)
{
    of->bytes += bytes;
    if (of->bytes > of->most)
        of->most = of->bytes;
}

void sim_memory_add(int64_t bytes)
{
    count_bytes(owner, bytes);
}

static int64_t block_bytes(void *memory)
{
    return (int64_t)malloc_usable_size(memory);
}

static void *account_add(void *memory, sim_account *of)
{
    if (memory == NULL || of == NULL)
        return memory;
    if (2 * used >= room)
        grow_table();
    block *b = find_place(memory);
    *b = (block){memory, of};
    used++;
    count_bytes(of, block_bytes(memory));
    return memory;
}

/* Returns its account; NULL if it was not counted. */
static sim_account *account_drop(const void *memory)
{
    block *b = memory != NULL && room > 0 ? find_place(memory) : NULL;
    if (b == NULL || b->memory == NULL)
        return NULL;
    sim_account *of = b->of;
    count_bytes(of, -block_bytes(b->memory));
    b->memory = NULL;
    used--;
    for (size_t at = (size_t)(b - table + 1) & (room - 1); table[at].memory != NULL;
         at = (at + 1) & (room - 1)) {
        block moved = table[at];
        table[at].memory = NULL;
        *find_place(moved.memory) = moved;
    }
    return of;
}

static bool fails(void)
{
    return owner != NULL && owner->fails != NULL && owner->fails(owner);
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : account_add(__real_malloc(size), owner);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : account_add(__real_calloc(count, size), owner);
}

/* Other ranks may move what a rank has allocated. */
void *__wrap_realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    sim_account *of = account_drop(memory);
    return account_add(__real_realloc(memory, size), of != NULL ? of : owner);
}

/* Who still uses the memory sees other bytes. */
void __wrap_free(void *memory)
{
    (void)account_drop(memory);
    if (owner != NULL && owner->fails != NULL && memory != NULL)
        memset(memory, 0xdd, malloc_usable_size(memory));
    __real_free(memory);
}

void sim_memory_of(sim_account *account)
{
    owner = account;
}

size_t sim_memory_left(void)
{
    size_t left = used;
    for (size_t at = 0; at < room; at++)
        __real_free(table[at].memory);
    if (room > 0)
        memset(table, 0, room * sizeof *table);
    used = 0;
    return left;
}
