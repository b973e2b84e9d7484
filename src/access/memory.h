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

/* How to copy from and to device memory. */
typedef struct access_device {
    void *context;
    /* Starts a copy in any direction, also within host memory. Copies are done in order. */
    void (*copy)(void *context, void *to, const void *from, size_t bytes);
    /* Completes all copies. Returns 0, or the first error of any copy of the call. */
    int (*wait)(void *context);
    /* The end of the device's allocation that has the address, or NULL, as for host memory. */
    const char *(*end_of)(void *context, const char *address);
} access_device;

#define ACCESS_STAGE_BYTES ((int64_t)1 << 20)
enum { ACCESS_STAGES = 15 };
#define ACCESS_STAGING_BYTES ((ACCESS_STAGES + 1) * ACCESS_STAGE_BYTES)

/* Bytes [from, to) of the stream, of which those up to `next` were taken. */
typedef struct access_stage {
    int64_t from, next, to;
    char *data;
} access_stage;

/* The state of the copies of one call. */
typedef struct access_staging {
    access_device device;
    access_stage stage[ACCESS_STAGES];
    char *gathered; /* where blocks arrive together with the bytes between them */
    size_t turn;    /* of the stages to be used for something else */
    int64_t ahead;  /* bytes that one copy fetches at most before they are taken */
} access_staging;

/* buffers: ACCESS_STAGING_BYTES of host memory, which stay the caller's. */
void access_staging_init(access_staging *staging, const access_device *device, char *buffers);

/* ---- a user's buffer ---- */

typedef struct access_memory {
    access_list list;
    access_staging *staging; /* NULL if the processor accesses all of it */
} access_memory;

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
