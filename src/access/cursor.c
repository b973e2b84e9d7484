/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking an ordered list window by window, and copying by block. */
#include "access/cursor.h"

#include <string.h>

void access_cursor_init(access_cursor *cursor, const access_list *list)
{
    cursor->run = list->run;
    cursor->end = list->run + list->count;
    cursor->block = 0;
    cursor->byte = 0;
}

int64_t access_next(const access_cursor *cursor)
{
    const access_run *run = cursor->run;
    if (run == cursor->end)
        return ACCESS_END;
    return run->offset + cursor->block * run->stride + cursor->byte;
}

static void advance_blocks(access_cursor *cursor, int64_t blocks)
{
    cursor->block += blocks;
    if (cursor->block == cursor->run->count) {
        cursor->block = 0;
        cursor->run++;
    }
}

static void advance_in_block(access_cursor *cursor, int64_t bytes)
{
    cursor->byte += bytes;
    if (cursor->byte < cursor->run->length)
        return;
    cursor->byte = 0;
    advance_blocks(cursor, 1);
}

int64_t access_whole_blocks(const access_cursor *cursor, int64_t hi)
{
    const access_run *run = cursor->run;
    int64_t space = hi - access_next(cursor) - run->length;
    if (space < 0)
        return 0;
    if (run->count == 1)
        return 1;
    return access_least(space / run->stride + 1, run->count - cursor->block);
}

int access_take_piece(access_cursor *cursor, int64_t hi, access_piece *piece)
{
    int64_t offset = access_next(cursor);
    if (offset >= hi)
        return 0;
    piece->offset = offset;
    piece->length = access_least(cursor->run->length - cursor->byte, hi - offset);
    piece->stream = cursor->run->stream + cursor->block * cursor->run->length + cursor->byte;
    advance_in_block(cursor, piece->length);
    return 1;
}

/* Passes bytes of the current run below hi: all whole blocks at once from the begin of a block,
 * otherwise (part of) one block. Returns their number, 0 when the next byte is not below hi. */
static int64_t step_in_run(access_cursor *cursor, int64_t hi, int64_t *stream)
{
    access_piece piece;
    if (cursor->run != cursor->end && cursor->byte == 0) {
        int64_t blocks = access_whole_blocks(cursor, hi);
        if (blocks > 0) {
            int64_t length = blocks * cursor->run->length;
            *stream = cursor->run->stream + cursor->block * cursor->run->length;
            advance_blocks(cursor, blocks);
            return length;
        }
    }
    if (!access_take_piece(cursor, hi, &piece))
        return 0;
    *stream = piece.stream;
    return piece.length;
}

int access_take_stream(access_cursor *cursor, int64_t hi, int64_t *stream, int64_t *length)
{
    int64_t begin, more, next;
    int64_t total = step_in_run(cursor, hi, &begin);
    if (total == 0)
        return 0;
    for (;;) {
        access_cursor before = *cursor;
        more = step_in_run(cursor, hi, &next);
        if (more == 0)
            break;
        if (next != begin + total) {
            *cursor = before;
            break;
        }
        total += more;
    }
    *stream = begin;
    *length = total;
    return 1;
}

int64_t access_skip(access_cursor *cursor, int64_t hi)
{
    int64_t total = 0, more, stream;
    while ((more = step_in_run(cursor, hi, &stream)) > 0)
        total += more;
    return total;
}

int64_t access_scatter(access_cursor *cursor, int64_t hi, char *window, int64_t lo,
                       const char *packed, int64_t limit)
{
    access_piece piece;
    int64_t done = 0;
    while (done < limit && access_take_piece(cursor, hi, &piece)) {
        int64_t length = access_least(piece.length, limit - done);
        memcpy(window + (piece.offset - lo), packed + done, (size_t)length);
        done += length;
    }
    return done;
}

int64_t access_gather(access_cursor *cursor, int64_t hi, const char *window, int64_t lo,
                      char *packed)
{
    access_piece piece;
    int64_t done = 0;
    while (access_take_piece(cursor, hi, &piece)) {
        memcpy(packed + done, window + (piece.offset - lo), (size_t)piece.length);
        done += piece.length;
    }
    return done;
}
