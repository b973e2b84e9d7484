/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walking an ordered list, window by window. Conventions: access.h.
 */
#ifndef ACCESS_CURSOR_H
#define ACCESS_CURSOR_H

#include "access/list.h"

/* The next byte is byte `byte` of block `block` of *run; run == end after the last. */
typedef struct access_cursor {
    const access_run *run, *end;
    int64_t block, byte;
} access_cursor;

void access_cursor_init(access_cursor *cursor, const access_list *list);

/* Offset of the next byte, or ACCESS_END. */
int64_t access_next(const access_cursor *cursor);

/* The number of blocks of the run, from the current one (at its begin) on, that end at or below hi.
 */
int64_t access_whole_blocks(const access_cursor *cursor, int64_t hi);

typedef struct access_piece {
    int64_t offset, length, stream;
} access_piece;

/* The rest of the current block, cut at `hi`. 1, or 0 when the next byte is not below hi. Advances
 * the cursor. */
int access_take_piece(access_cursor *cursor, int64_t hi, access_piece *piece);

/* The longest contiguous part of the stream that is next and stays below hi: *stream and *length.
 * 1, or 0 when the next byte is not below hi. Advances. O(runs passed). */
int access_take_stream(access_cursor *cursor, int64_t hi, int64_t *stream, int64_t *length);

/* Passes the bytes below hi and returns their number. O(runs passed). */
int64_t access_skip(access_cursor *cursor, int64_t hi);

/* Copies between a packed buffer, which holds the bytes below hi in list order, and a window whose
 * first byte is offset `lo` of the list. Both advance, and return the bytes copied. `limit` bounds
 * them: a short buffer ends the copy within a block, and the cursor must not be used again. */
int64_t access_scatter(access_cursor *cursor, int64_t hi, char *window, int64_t lo,
                       const char *packed, int64_t limit);
int64_t access_gather(access_cursor *cursor, int64_t hi, const char *window, int64_t lo,
                      char *packed);

#endif
