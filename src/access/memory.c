/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the stream and the pieces of a user's buffer. */
#include "access/access.h"

#include <string.h>

/* The cursor at stream byte `stream`, by bisection: runs of memory ascend in stream. */
static void seek(const access_list *memory, int64_t stream, access_cursor *cursor)
{
    size_t low = 0, high = memory->count;
    access_cursor_init(cursor, memory);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (memory->run[middle].stream <= stream)
            low = middle;
        else
            high = middle;
    }
    cursor->run += low;
    if (cursor->run == cursor->end)
        return;
    int64_t within = stream - cursor->run->stream;
    cursor->block = within / cursor->run->length;
    cursor->byte = within % cursor->run->length;
}

char *access_memory_at(const access_list *memory, int64_t stream, int64_t length)
{
    access_cursor cursor;
    seek(memory, stream, &cursor);
    if (cursor.run == cursor.end || cursor.run->length - cursor.byte < length)
        return NULL;
    return (char *)(intptr_t)access_next(&cursor);
}

/* Addresses have no order, so ACCESS_END as a bound lets every block pass. */
void access_from_memory(const access_list *memory, int64_t stream, int64_t length, char *packed)
{
    access_cursor cursor;
    access_piece piece;
    seek(memory, stream, &cursor);
    while (length > 0 && access_take_piece(&cursor, ACCESS_END, &piece)) {
        int64_t part = piece.length < length ? piece.length : length;
        memcpy(packed, (const char *)(intptr_t)piece.offset, (size_t)part);
        packed += part;
        length -= part;
    }
}

void access_to_memory(const access_list *memory, int64_t stream, int64_t length,
                      const char *packed)
{
    access_cursor cursor;
    access_piece piece;
    seek(memory, stream, &cursor);
    while (length > 0 && access_take_piece(&cursor, ACCESS_END, &piece)) {
        int64_t part = piece.length < length ? piece.length : length;
        memcpy((char *)(intptr_t)piece.offset, packed, (size_t)part);
        packed += part;
        length -= part;
    }
}
