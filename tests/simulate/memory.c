/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <malloc.h>
#include <string.h>

#include "life.h"

enum { TABLE = 1 << 16 };

/* Open addressing. */
static void *table[TABLE];
static int used;
static sim_rank *owner;

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static size_t slot_of(const void *memory)
{
    return (size_t)((uintptr_t)memory * UINT64_C(0x9e3779b97f4a7c15) >> 48) % TABLE;
}

static void *add(void *memory)
{
    size_t at = slot_of(memory);
    if (memory == NULL || owner == NULL || used > TABLE / 2)
        return memory;
    while (table[at] != NULL)
        at = (at + 1) % TABLE;
    table[at] = memory;
    used++;
    return memory;
}

static void drop(const void *memory)
{
    size_t at = slot_of(memory);
    while (table[at] != NULL && table[at] != memory)
        at = (at + 1) % TABLE;
    if (memory == NULL || table[at] == NULL)
        return;
    used--;
    table[at] = NULL;
    for (size_t k = (at + 1) % TABLE; table[k] != NULL; k = (k + 1) % TABLE) {
        void *moved = table[k];
        table[k] = NULL;
        at = slot_of(moved);
        while (table[at] != NULL)
            at = (at + 1) % TABLE;
        table[at] = moved;
    }
}

static bool fails(void)
{
    return owner != NULL && sim_has_fault(owner, FAULT_MEMORY);
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : add(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : add(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    drop(memory);
    return add(__real_realloc(memory, size));
}

/* Who still uses the memory sees other bytes. */
void __wrap_free(void *memory)
{
    drop(memory);
    if (owner != NULL && memory != NULL)
        memset(memory, 0xdd, malloc_usable_size(memory));
    __real_free(memory);
}

void sim_memory_of(sim_rank *r)
{
    owner = r;
}

int sim_memory_left(void)
{
    int left = used;
    for (size_t at = 0; at < TABLE; at++) {
        __real_free(table[at]);
        table[at] = NULL;
    }
    used = 0;
    return left;
}
