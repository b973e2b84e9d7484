/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the stream and a user's buffer. */
#include "access/memory.h"

#include <string.h>
#include <time.h>

#include "base/memory.h"

/* ---- pieces of memory ---- */

/* The cursor at stream byte `stream`: runs of memory ascend in stream. */
static void seek_stream(const access_list *list, int64_t stream, access_cursor *cursor)
{
    access_cursor_init(cursor, list);
    cursor->run += access_find_run(list, stream);
    if (cursor->run == cursor->end)
        return;
    int64_t within = stream - cursor->run->stream;
    cursor->block = within / cursor->run->length;
    cursor->byte = within % cursor->run->length;
}

static char *contiguous_at(const access_list *list, int64_t stream, int64_t length)
{
    access_cursor cursor;
    seek_stream(list, stream, &cursor);
    if (cursor.run == cursor.end || cursor.run->length - cursor.byte < length)
        return NULL;
    return (char *)(intptr_t)access_next(&cursor);
}

char *access_memory_at(const access_memory *memory, int64_t stream, int64_t length)
{
    return memory->staging != NULL ? NULL : contiguous_at(&memory->list, stream, length);
}

/* A position in memory; usually the next copy continues the last one. */
typedef struct memory_walk {
    const access_list *list;
    access_staging *staging; /* or NULL */
    access_cursor at;
    int64_t stream; /* the position of `at`; -1: none */
    int64_t wanted; /* the end of what will be taken next of the stream */
    char *base;     /* of the stream if all of it is contiguous, else NULL */
} memory_walk;

static memory_walk memory_walk_init(const access_memory *memory)
{
    return (memory_walk){
        .list = &memory->list,
        .staging = memory->staging,
        .stream = -1,
        .wanted = memory->list.bytes,
        .base = contiguous_at(&memory->list, 0, memory->list.bytes),
    };
}

/* The address and length of the next piece of at most `length` bytes from `stream` on. Addresses
 * are not ordered: ACCESS_END is no bound. */
static char *take_memory_piece(memory_walk *walk, int64_t stream, int64_t *length)
{
    if (walk->base != NULL)
        return walk->base + stream;
    if (walk->stream != stream)
        seek_stream(walk->list, stream, &walk->at);
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
static void copy_pieces(memory_walk *walk, int64_t stream, int64_t length, char *packed, bool out)
{
    while (length > 0) {
        int64_t part = length;
        char *address = take_memory_piece(walk, stream, &part);
        memcpy(out ? packed : address, out ? address : packed, (size_t)part);
        packed += part;
        stream += part;
        length -= part;
    }
}

/* ---- staging ---- */

/* Bytes between two blocks that take less time than another copy. */
#define MOST_GAP (64 * 1024)
#define STAGE_BYTES ((int64_t)1 << 20)
enum { STAGES = 15 };
/* Processor and devices do not share a page. */
enum { PAGE_BITS = 12 };

/* Bytes [from, to) of the stream, of which those up to `next` were taken. */
typedef struct access_stage {
    int64_t from, next, to;
    char *data;
} access_stage;

struct access_staging {
    const access_device *device;
    void *copier;
    access_device_use use;
    int error;       /* of the call, the first one */
    bool is_copying; /* since the last wait */
    size_t turn;     /* of the stages to be used for something else */
    int64_t ahead;   /* bytes that one copy fetches at most before they are taken */
    access_stage stage[STAGES];
    /* The last one receives blocks together with the bytes between them. */
    char buffers[STAGES + 1][STAGE_BYTES];
};

/* The address of a device in the memory, or NULL. To ask takes longer than to look at a run. */
static const void *find_address(const access_device *device, const access_list *memory)
{
    int64_t asked = -1;
    if (!device->is_any())
        return NULL;
    for (size_t i = 0; i < 2 * memory->count; i++) {
        const access_run *run = &memory->run[i / 2];
        int64_t at = run->offset + (i % 2 == 0 ? 0 : (run->count - 1) * run->stride);
        if (at >> PAGE_BITS != asked && device->has((const void *)(intptr_t)at))
            return (const void *)(intptr_t)at;
        asked = at >> PAGE_BITS;
    }
    return NULL;
}

bool access_device_has(const access_device *device, const access_list *memory)
{
    return find_address(device, memory) != NULL;
}

/* NULL as of new_copier. */
static access_staging *new_staging(const access_device *device, const void *address)
{
    access_staging *staging = base_alloc(1, sizeof *staging);
    if (staging == NULL)
        return NULL;
    staging->device = device;
    staging->use = (access_device_use){0};
    staging->is_copying = false;
    staging->copier = device->new_copier(address, staging->buffers, sizeof staging->buffers);
    if (staging->copier != NULL)
        return staging;
    free(staging);
    return NULL;
}

int access_memory_stage(access_memory *memory, const access_device *device,
                        access_staging **staging)
{
    const void *address = find_address(device, &memory->list);
    if (address == NULL)
        return 0;
    if (*staging == NULL)
        *staging = new_staging(device, address);
    if (*staging == NULL)
        return -ENOMEM;
    memory->staging = *staging;
    memory->staging->error = 0;
    memory->staging->turn = 0;
    memory->staging->ahead = STAGE_BYTES;
    for (size_t i = 0; i < STAGES; i++)
        memory->staging->stage[i] = (access_stage){.data = memory->staging->buffers[i]};
    return 0;
}

void access_staging_free(access_staging *staging)
{
    if (staging != NULL)
        staging->device->free_copier(staging->copier, staging->buffers);
    free(staging);
}

access_device_use access_staging_take_use(access_staging *staging)
{
    access_device_use use = {0};
    if (staging != NULL) {
        use = staging->use;
        staging->use = (access_device_use){0};
    }
    return use;
}

static double staging_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void staging_time(access_staging *staging, double begin, int rc)
{
    staging->use.seconds += staging_clock() - begin;
    if (rc != 0)
        staging->error = staging->device->error;
}

static void staging_copy(access_staging *staging, void *to, const void *from, int64_t bytes)
{
    double begin = staging_clock();
    if (staging->error != 0)
        return;
    staging->use.copies++;
    staging->use.bytes += bytes;
    staging->is_copying = true;
    staging_time(staging, begin, staging->device->start(staging->copier, to, from, (size_t)bytes));
}

static int staging_wait(access_staging *staging)
{
    double begin = staging_clock();
    if (staging->is_copying)
        staging_time(staging, begin, staging->device->wait(staging->copier));
    staging->is_copying = false;
    return staging->error;
}

static const char *staging_find_end(const access_staging *staging, const char *address)
{
    const access_device *device = staging->device;
    return device->has(address) ? device->end_of(staging->copier, address) : NULL;
}

/* Blocks that ascend in one allocation with small gaps, and `bytes` bytes of them. */
typedef struct memory_span {
    const char *begin, *end;
    int64_t bytes;
} memory_span;

/* What one copy can fetch of the next `length` bytes: one piece, or as many as `gathered` holds. */
static memory_span find_span(memory_walk walk, int64_t stream, int64_t length)
{
    const char *limit = NULL;
    memory_span span = {NULL, NULL, 0};
    while (span.bytes < length) {
        int64_t part = length - span.bytes;
        const char *piece = take_memory_piece(&walk, stream + span.bytes, &part);
        if (span.bytes == 0)
            span.begin = piece;
        else if (piece < span.end || piece - span.end > MOST_GAP ||
                 piece + part - span.begin > STAGE_BYTES)
            break;
        else if (limit == NULL)
            limit = staging_find_end(walk.staging, span.begin);
        if (span.bytes > 0 && (limit == NULL || piece + part > limit))
            break;
        span.end = piece + part;
        span.bytes += part;
    }
    return span;
}

/* Copies from the device, with the bytes between the blocks. */
static void staging_fetch(memory_walk *walk, int64_t stream, int64_t length, char *packed)
{
    access_staging *staging = walk->staging;
    while (length > 0) {
        memory_span span = find_span(*walk, stream, length);
        int64_t bytes = span.end - span.begin;
        char *to = span.bytes == bytes ? packed : staging->buffers[STAGES];
        staging_copy(staging, to, span.begin, bytes);
        if (to != packed)
            (void)staging_wait(staging);
        for (int64_t done = 0, part; to != packed && done < span.bytes; done += part) {
            part = span.bytes - done;
            const char *piece = take_memory_piece(walk, stream + done, &part);
            memcpy(packed + done, to + (piece - span.begin), (size_t)part);
        }
        packed += span.bytes;
        stream += span.bytes;
        length -= span.bytes;
    }
    (void)staging_wait(staging);
}

/* Copies to the device, block by block: what lies between them may change meanwhile. */
static void staging_store(memory_walk *walk, int64_t stream, int64_t length, const char *packed)
{
    for (int64_t done = 0, part; done < length; done += part) {
        part = length - done;
        char *address = take_memory_piece(walk, stream + done, &part);
        staging_copy(walk->staging, address, packed + done, part);
    }
    (void)staging_wait(walk->staging);
}

static void store_stage(memory_walk *walk, access_stage *s)
{
    staging_store(walk, s->from, s->to - s->from, s->data);
    s->from = s->next = s->to;
}

/* out: a stage with byte `stream`, and more of what will be taken; else one that ends there. Where
 * more parts of the stream are taken in turn than there are stages, less is fetched. */
static access_stage *find_stage(memory_walk *walk, int64_t stream, int64_t length, bool out)
{
    access_staging *staging = walk->staging;
    access_stage *found = NULL;
    int64_t most = STAGE_BYTES; /* up to what another stage has */
    for (access_stage *s = staging->stage; s < staging->stage + STAGES; s++) {
        if (out ? s->from <= stream && stream < s->to : s->from < s->to && s->to == stream)
            return s;
        if (s->from > stream)
            most = access_least(most, s->from - stream);
        found = s->next == s->to ? s : found;
    }
    if (found == NULL) {
        found = &staging->stage[staging->turn++ % STAGES];
        staging->ahead /= 2;
    }
    if (out) {
        int64_t ahead = access_least(walk->wanted - stream, staging->ahead);
        length = access_least(length > ahead ? length : ahead, most);
        staging_fetch(walk, stream, length, found->data);
    } else {
        store_stage(walk, found);
        length = 0;
    }
    found->from = found->next = stream;
    found->to = stream + length;
    return found;
}

/* length: less than a stage's. */
static void copy_staged(memory_walk *walk, int64_t stream, int64_t length, char *packed, bool out)
{
    for (int64_t part; length > 0; packed += part, stream += part, length -= part) {
        access_stage *s = find_stage(walk, stream, length, out);
        char *data = s->data + (stream - s->from);
        part = access_least(length, out ? s->to - stream : s->from + STAGE_BYTES - stream);
        memcpy(out ? packed : data, out ? data : packed, (size_t)part);
        *(out ? &s->next : &s->to) = stream + part;
        if (!out && s->to - s->from == STAGE_BYTES)
            store_stage(walk, s);
    }
}

int access_memory_complete(const access_memory *memory, bool out)
{
    access_staging *staging = memory->staging;
    if (staging == NULL)
        return 0;
    memory_walk walk = memory_walk_init(memory);
    for (access_stage *s = staging->stage; s < staging->stage + STAGES; s++) {
        if (!out)
            store_stage(&walk, s);
        s->from = s->next = s->to = 0;
    }
    return staging_wait(staging);
}

/* ---- copies ---- */

/* A large part needs no stage. */
static void copy_stream(memory_walk *walk, int64_t stream, int64_t length, char *packed, bool out)
{
    if (walk->staging == NULL)
        copy_pieces(walk, stream, length, packed, out);
    else if (length < STAGE_BYTES)
        copy_staged(walk, stream, length, packed, out);
    else if (out)
        staging_fetch(walk, stream, length, packed);
    else
        staging_store(walk, stream, length, packed);
}

/* What will be taken ends at byte `end` of the stream, or where `rest` goes on from there. */
static void walk_look_ahead(memory_walk *walk, int64_t end, access_cursor rest)
{
    int64_t stream, length;
    walk->wanted = end;
    if (access_take_stream(&rest, ACCESS_END, &stream, &length) && stream == end)
        walk->wanted += length;
}

static int64_t copy_window(const access_memory *memory, access_cursor *cursor, int64_t hi,
                           char *window, int64_t lo, bool out)
{
    memory_walk walk = memory_walk_init(memory);
    access_piece piece;
    int64_t done = 0;
    while (access_take_piece(cursor, hi, &piece)) {
        if (out && walk.staging != NULL && (done == 0 || piece.stream >= walk.wanted))
            walk_look_ahead(&walk, piece.stream + piece.length, *cursor);
        copy_stream(&walk, piece.stream, piece.length, window + (piece.offset - lo), out);
        done += piece.length;
    }
    return done;
}

void access_memory_to_packed(const access_memory *memory, access_cursor cursor, int64_t hi,
                             char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    int64_t stream, length;
    while (access_take_stream(&cursor, hi, &stream, &length)) {
        if (walk.staging != NULL)
            walk_look_ahead(&walk, stream + length, cursor);
        copy_stream(&walk, stream, length, packed, true);
        packed += length;
    }
}

void access_from_memory(const access_memory *memory, int64_t stream, int64_t length, char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    copy_stream(&walk, stream, length, packed, true);
}

void access_to_memory(const access_memory *memory, int64_t stream, int64_t length,
                      const char *packed)
{
    memory_walk walk = memory_walk_init(memory);
    copy_stream(&walk, stream, length, (char *)packed, false);
}

int64_t access_memory_to_window(const access_memory *memory, access_cursor *cursor, int64_t hi,
                                char *window, int64_t lo)
{
    return copy_window(memory, cursor, hi, window, lo, true);
}

int64_t access_window_to_memory(const access_memory *memory, access_cursor *cursor, int64_t hi,
                                const char *window, int64_t lo)
{
    return copy_window(memory, cursor, hi, (char *)window, lo, false);
}
