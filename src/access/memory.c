/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the stream and a user's buffer. */
#include "access/memory.h"

#include <string.h>

/* The cursor at stream byte `stream`, by bisection: runs of memory ascend in stream. */
static void seek_stream(const access_list *memory, int64_t stream, access_cursor *cursor)
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

static void copy_out(memory_walk *walk, int64_t stream, int64_t length, char *packed)
{
    if (walk->base != NULL) {
        memcpy(packed, walk->base + stream, (size_t)length);
        return;
    }
    while (length > 0) {
        int64_t part = length;
        const char *address = take_memory_piece(walk, stream, &part);
        memcpy(packed, address, (size_t)part);
        packed += part;
        stream += part;
        length -= part;
    }
}

static void copy_in(memory_walk *walk, int64_t stream, int64_t length, const char *packed)
{
    if (walk->base != NULL) {
        memcpy(walk->base + stream, packed, (size_t)length);
        return;
    }
    while (length > 0) {
        int64_t part = length;
        char *address = take_memory_piece(walk, stream, &part);
        memcpy(address, packed, (size_t)part);
        packed += part;
        stream += part;
        length -= part;
    }
}

void access_from_memory(const access_list *memory, int64_t stream, int64_t length, char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    copy_out(&walk, stream, length, packed);
}

void access_to_memory(const access_list *memory, int64_t stream, int64_t length, const char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    copy_in(&walk, stream, length, packed);
}

int64_t access_memory_to_window(const access_list *memory, access_cursor *cursor, int64_t hi,
                                char *window, int64_t lo)
{
    memory_walk walk = memory_walk_init(memory);
    access_piece piece;
    int64_t done = 0;
    while (access_take_piece(cursor, hi, &piece)) {
        copy_out(&walk, piece.stream, piece.length, window + (piece.offset - lo));
        done += piece.length;
    }
    return done;
}

int64_t access_window_to_memory(const access_list *memory, access_cursor *cursor, int64_t hi,
                                const char *window, int64_t lo)
{
    memory_walk walk = memory_walk_init(memory);
    access_piece piece;
    int64_t done = 0;
    while (access_take_piece(cursor, hi, &piece)) {
        copy_in(&walk, piece.stream, piece.length, window + (piece.offset - lo));
        done += piece.length;
    }
    return done;
}
