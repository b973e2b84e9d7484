/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that behaves as a device's does: its addresses are valid, but a load or store of the CPU
 * faults, and a system call returns EFAULT. The same bytes are at the address plus DEVICE_ALIAS,
 * where only accelerator/fake and the test programs look. What an address is follows from itself:
 *
 *   [DEVICE_MEMORY, +DEVICE_BYTES)   device memory
 *   [DEVICE_UNIFIED, +DEVICE_BYTES)  unified memory: a device's, but the CPU may access it, too
 *
 * Each allocation begins in a slot of its own, so that its base follows from any address in it. The
 * page before the base holds the size; it is not mapped on the device's side. */
#ifndef TESTS_MPI_DEVICE_H
#define TESTS_MPI_DEVICE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define DEVICE_STATE UINT64_C(0x2ff000000000)
#define DEVICE_MEMORY UINT64_C(0x300000000000)
#define DEVICE_UNIFIED UINT64_C(0x340000000000)
#define DEVICE_ALIAS UINT64_C(0x080000000000)
#define DEVICE_BYTES (UINT64_C(1) << 41)
#define DEVICE_SLOT (UINT64_C(1) << 32)
#define DEVICE_PAGE UINT64_C(4096)

/* What accelerator/fake and the program of a process tell each other. */
struct device_state {
    /* By the component, of its calls so far: */
    uint64_t selected;      /* it is in use */
    uint64_t copies, bytes; /* of all copies */
    uint64_t host_ranges;   /* allocations of host addresses that were asked for */
    uint64_t registered;    /* bytes of host memory, at most at a time */
    /* For the component: copy number `fail` fails (0: none), and in every second mode all later
     * ones, too. Copies on a stream fail when they are started in modes 0 and 1, else afterwards.
     */
    uint64_t fail, mode;
};

/* The page is the first caller's; the others find it there. */
static inline struct device_state *device_state(void)
{
    void *at = (void *)DEVICE_STATE;
    (void)mmap(at, DEVICE_PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return at;
}

static inline bool is_device(const void *address)
{
    return (uint64_t)(uintptr_t)address - DEVICE_MEMORY < DEVICE_BYTES;
}

static inline bool is_unified(const void *address)
{
    return (uint64_t)(uintptr_t)address - DEVICE_UNIFIED < DEVICE_BYTES;
}

/* Where the CPU finds the bytes of any address. */
static inline void *device_alias(const void *address)
{
    return (void *)((uintptr_t)address + (is_device(address) ? DEVICE_ALIAS : 0));
}

static inline char *device_base(const void *address)
{
    return (char *)(((uintptr_t)address & ~(DEVICE_SLOT - 1)) + DEVICE_PAGE);
}

/* 0: no allocation begins there. */
static inline size_t device_size(const void *base)
{
    char *head = (char *)device_alias(base) - DEVICE_PAGE;
    return msync(head, DEVICE_PAGE, MS_ASYNC) == 0 ? *(size_t *)head : 0;
}

/* A new file at [slot + DEVICE_ALIAS) for the CPU and, its first page left out, at `slot` without
 * access. */
static inline char *device_map(uint64_t slot, size_t bytes, bool unified)
{
    const int flags = MAP_SHARED | MAP_FIXED_NOREPLACE;
    int fd = memfd_create("device", MFD_CLOEXEC);
    char *head = MAP_FAILED, *device = MAP_FAILED;
    if (fd < 0)
        return NULL;
    if (ftruncate(fd, (off_t)(bytes + DEVICE_PAGE)) == 0)
        head = mmap((void *)(unified ? slot : slot + DEVICE_ALIAS), bytes + DEVICE_PAGE,
                    PROT_READ | PROT_WRITE, flags, fd, 0);
    if (head != MAP_FAILED) {
        *(size_t *)head = bytes;
        device = unified ? head + DEVICE_PAGE
                         : mmap((void *)(slot + DEVICE_PAGE), bytes, PROT_NONE, flags, fd,
                                (off_t)DEVICE_PAGE);
    }
    close(fd);
    return device != MAP_FAILED ? device : NULL;
}

/* Bytes of device memory, or of unified memory; NULL: none. */
static inline void *device_alloc(size_t bytes, bool unified)
{
    uint64_t begin = unified ? DEVICE_UNIFIED : DEVICE_MEMORY;
    char *device = NULL;
    bytes = bytes == 0 ? DEVICE_PAGE : (bytes + DEVICE_PAGE - 1) & ~(DEVICE_PAGE - 1);
    if (bytes > DEVICE_SLOT - DEVICE_PAGE)
        return NULL;
    for (uint64_t at = begin; at < begin + DEVICE_BYTES && device == NULL; at += DEVICE_SLOT)
        device = device_map(at, bytes, unified);
    return device;
}

static inline void device_free(void *base)
{
    size_t bytes = base == NULL ? 0 : device_size(base);
    if (bytes == 0)
        return;
    if (is_device(base))
        munmap(base, bytes);
    munmap((char *)device_alias(base) - DEVICE_PAGE, bytes + DEVICE_PAGE);
}

/* ---- copies ---- */

static inline uint64_t device_count(uint64_t *counter, uint64_t number)
{
    return __atomic_add_fetch(counter, number, __ATOMIC_RELAXED);
}

/* Whether copy `number` fails. */
static inline bool device_fails(uint64_t number)
{
    const struct device_state *state = device_state();
    return state->fail > 0 && (state->mode % 2 ? number >= state->fail : number == state->fail);
}

/* Memory of a device must be allocated, all of it. */
static inline bool device_has(const void *address, size_t bytes)
{
    const char *at = address, *base = device_base(at);
    if (!is_device(at) && !is_unified(at))
        return true;
    size_t size = device_size(base);
    return at >= base && (size_t)(at - base) <= size && bytes <= size - (size_t)(at - base);
}

static inline bool device_move(void *to, const void *from, size_t bytes)
{
    if (!device_has(to, bytes) || !device_has(from, bytes))
        return false;
    memmove(device_alias(to), device_alias(from), bytes);
    return true;
}

/* The allocation that has the address; false: it is none of a device. */
static inline bool device_range(const void *address, void **base, size_t *bytes)
{
    if (!is_device(address) && !is_unified(address)) {
        device_count(&device_state()->host_ranges, 1);
        return false;
    }
    *base = device_base(address);
    *bytes = device_size(*base);
    return *bytes > 0;
}

/* A copy that was started, of those of a stream. */
typedef struct device_copy {
    struct device_copy *next;
    void *to;
    const void *from;
    size_t bytes;
    bool fails;
} device_copy;

/* Counts it. NULL if it fails at once, or memory is exhausted. */
static inline device_copy *device_start(void *to, const void *from, size_t bytes)
{
    struct device_state *state = device_state();
    const bool fails = device_fails(device_count(&state->copies, 1));
    device_copy *copy = fails && state->mode < 2 ? NULL : malloc(sizeof *copy);
    device_count(&state->bytes, bytes);
    if (copy != NULL)
        *copy = (device_copy){NULL, to, from, bytes, fails};
    return copy;
}

#endif
