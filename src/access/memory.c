/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the stream and a user's buffer. */
#include "access/memory.h"

#include <stdbool.h>
#include <string.h>

/* The cursor at stream byte `stream`: runs of memory ascend in stream. */
static void seek_stream(const access_list *memory, int64_t stream, access_cursor *cursor)
{
    access_cursor_init(cursor, memory);
    cursor->run += access_find_run(memory, stream);
    if (cursor->run == cursor->end)
        return;
    int64_t within = stream - cursor->run->stream;
    cursor->block = within / cursor->run->length;
    cursor->byte = within % cursor->run->length;
}

char *access_memory_at(const access_list *memory, int64_t stream, int64_t length)
{
    access_cursor cursor;
    seek_stream(memory, stream, &cursor);
    if (cursor.run == cursor.end || cursor.run->length - cursor.byte < length)
        return NULL;
    return (char *)(intptr_t)access_next(&cursor);
}

/* A position in memory; usually the next copy continues the last one. */
typedef struct memory_walk {
    const access_list *memory;
    access_cursor at;
    int64_t stream; /* the position of `at`; -1: none */
    char *base;     /* of the stream if all of it is contiguous, else NULL */
} memory_walk;

static memory_walk memory_walk_init(const access_list *memory)
{
    return (memory_walk){
        .memory = memory, .stream = -1, .base = access_memory_at(memory, 0, memory->bytes)};
}

/* The address and length of the next piece of at most `length` bytes from `stream` on. Addresses
 * are not ordered: ACCESS_END is no bound. */
static char *take_memory_piece(memory_walk *walk, int64_t stream, int64_t *length)
{
    if (walk->stream != stream)
        seek_stream(walk->memory, stream, &walk->at);
    char *address = (char *)(intptr_t)access_next(&walk->at);
    int64_t rest = walk->at.run->length - walk->at.byte;
    if (rest > *length) {
        walk->at.byte += *length;
    } else {
        access_piece whole;
        access_take_piece(&walk->at, ACCESS_END, &whole);
        *length = rest;
    }
    walk->stream = stream + *length;
    return address;
}

/* out: from memory to `packed`, else the other way. */
static void copy_stream(memory_walk *walk, int64_t stream, int64_t length, char *packed, bool out)
{
    while (length > 0) {
        int64_t part = length;
        char *address =
            walk->base != NULL ? walk->base + stream : take_memory_piece(walk, stream, &part);
        memcpy(out ? packed : address, out ? address : packed, (size_t)part);
        packed += part;
        stream += part;
        length -= part;
    }
}

static int64_t copy_window(const access_list *memory, access_cursor *cursor, int64_t hi,
                           char *window, int64_t lo, bool out)
{
    memory_walk walk = memory_walk_init(memory);
    access_piece piece;
    int64_t done = 0;
    while (access_take_piece(cursor, hi, &piece)) {
        copy_stream(&walk, piece.stream, piece.length, window + (piece.offset - lo), out);
        done += piece.length;
    }
    return done;
}

void access_from_memory(const access_list *memory, int64_t stream, int64_t length, char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    copy_stream(&walk, stream, length, packed, true);
}

void access_to_memory(const access_list *memory, int64_t stream, int64_t length, const char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    copy_stream(&walk, stream, length, (char *)packed, false);
}

int64_t access_memory_to_window(const access_list *memory, access_cursor *cursor, int64_t hi,
                                char *window, int64_t lo)
{
    return copy_window(memory, cursor, hi, window, lo, true);
}

int64_t access_window_to_memory(const access_list *memory, access_cursor *cursor, int64_t hi,
                                const char *window, int64_t lo)
{
    return copy_window(memory, cursor, hi, (char *)window, lo, false);
}
