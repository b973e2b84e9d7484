/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of a user's buffer: a list whose offsets are addresses and whose stream begins at 0.
 * Conventions: access.h.
 */
#ifndef ACCESS_MEMORY_H
#define ACCESS_MEMORY_H

#include "access/cursor.h"

/* The address of byte `stream` of the stream if `length` bytes from there are contiguous, or NULL.
 */
char *access_memory_at(const access_list *memory, int64_t stream, int64_t length);

/* Copy `length` bytes of the stream, from byte `stream` on, out of and into memory. */
void access_from_memory(const access_list *memory, int64_t stream, int64_t length, char *packed);
void access_to_memory(const access_list *memory, int64_t stream, int64_t length,
                      const char *packed);

/* Copy the bytes of an ordered list below hi between memory and a window whose first byte is offset
 * `lo` of the list, without a packed buffer in between. Advance the cursor; return the bytes. */
int64_t access_memory_to_window(const access_list *memory, access_cursor *cursor, int64_t hi,
                                char *window, int64_t lo);
int64_t access_window_to_memory(const access_list *memory, access_cursor *cursor, int64_t hi,
                                const char *window, int64_t lo);

#endif
