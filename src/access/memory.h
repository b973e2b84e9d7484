/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of a user's buffer: a list whose offsets are addresses and whose stream begins at 0.
 * Conventions: access.h.
 *
 * The processor cannot access the memory of a device. Its bytes are copied to and from staging
 * buffers in host memory, in few large copies, because each copy takes long whatever its size.
 * Messages, shared windows and files see host memory only.
 */
#ifndef ACCESS_MEMORY_H
#define ACCESS_MEMORY_H

#include <stdbool.h>

#include "access/cursor.h"

/* ---- memory of a device ---- */

/* Devices, as GPUs, and how to copy from and to their memory. Functions that return int return 0
 * unless they fail. */
typedef struct access_device {
    int error; /* of a call in which a copy fails */
    /* Whether there are any now. */
    bool (*is_any)(void);
    /* Whether the processor cannot access the address. Where there are any, as in what follows. */
    bool (*has)(const void *address);
    /* Copies between the device that has the address and, mostly, the buffers: host memory that
     * stays until the copier is freed. Returns NULL if memory is exhausted, or the device's. */
    void *(*new_copier)(const void *address, void *buffers, size_t bytes);
    void (*free_copier)(void *copier, void *buffers);
    /* Starts a copy in any direction, also within host memory. Copies are done in order. */
    int (*start)(void *copier, void *to, const void *from, size_t bytes);
    /* Completes all copies. Returns an error of any of them. */
    int (*wait)(void *copier);
    /* The end of the allocation that has the address of a device, or NULL. */
    const char *(*end_of)(void *copier, const char *address);
} access_device;

/* What was copied. */
typedef struct access_device_use {
    int64_t copies, bytes;
    double seconds;
} access_device_use;

/* Whether any of the memory is a device's: the first or the last block of any run. */
bool access_device_has(const access_device *device, const access_list *memory);

/* Host memory, and the state of the copies, of calls that follow one another. */
typedef struct access_staging access_staging;

void access_staging_free(access_staging *staging); /* NULL is allowed, as in the next */
/* Counts copies since the last time. */
access_device_use access_staging_take_use(access_staging *staging);

/* ---- a user's buffer ---- */

typedef struct access_memory {
    access_list list;
    access_staging *staging; /* NULL if the processor accesses all of it */
} access_memory;

/* A call begins: sets memory->staging where any of memory->list is a device's, as above. *staging,
 * NULL at first, is made when it is needed; the caller frees it. 0, or -ENOMEM. */
int access_memory_stage(access_memory *memory, const access_device *device,
                        access_staging **staging);

/* The address of byte `stream` of the stream if `length` bytes from there are contiguous and the
 * processor can access them, or NULL. */
char *access_memory_at(const access_memory *memory, int64_t stream, int64_t length);

/* Copy `length` bytes of the stream, from byte `stream` on, out of and into memory.
 * access_memory_complete tells of errors. */
void access_from_memory(const access_memory *memory, int64_t stream, int64_t length, char *packed);
void access_to_memory(const access_memory *memory, int64_t stream, int64_t length,
                      const char *packed);

/* Packs the bytes of an ordered list below hi out of memory. */
void access_memory_to_packed(const access_memory *memory, access_cursor cursor, int64_t hi,
                             char *packed);

/* Copy the bytes of an ordered list below hi between memory and a window whose first byte is offset
 * `lo` of the list, without a packed buffer in between. Advance the cursor; return the bytes. */
int64_t access_memory_to_window(const access_memory *memory, access_cursor *cursor, int64_t hi,
                                char *window, int64_t lo);
int64_t access_window_to_memory(const access_memory *memory, access_cursor *cursor, int64_t hi,
                                const char *window, int64_t lo);

/* Completes the copies of a call, all out of memory or all into it. Returns the device's error. */
int access_memory_complete(const access_memory *memory, bool out);

#endif
