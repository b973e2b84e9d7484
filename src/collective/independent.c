/* SPDX-License-Identifier: BSD-3-Clause */
/* File access of a rank that takes part in no exchange. */
#include "collective/independent.h"

/* Bytes of one transfer at most with data contiguous in memory: below what a system call transfers
 * at once. */
#define MOST_DIRECT ((int64_t)1 << 30)

static void advance(access_piece *piece, int64_t bytes)
{
    piece->offset += bytes;
    piece->stream += bytes;
    piece->length -= bytes;
}

typedef struct execution {
    const coll_independent_run *run;
    const exchange_store *store;
    coll_independent_result *result;
} execution;

/* ---- writing ---- */

typedef struct write_batch {
    access_extent extent[ACCESS_BATCH];
    size_t count;
    int64_t bytes, buffered; /* of all extents; of those whose data are in the buffer */
} write_batch;

static int flush_batch(execution *e, write_batch *batch)
{
    int rc = e->store->write(e->store->context, batch->extent, batch->count);
    if (rc == 0)
        e->result->moved += batch->bytes;
    batch->count = 0;
    batch->bytes = batch->buffered = 0;
    return rc;
}

/* Appends the first bytes of *piece, which is advanced past them. */
static void append_part(const coll_independent_run *run, access_piece *piece, write_batch *batch)
{
    int64_t bytes = piece->length < MOST_DIRECT ? piece->length : MOST_DIRECT;
    char *data = access_memory_at(run->memory, piece->stream, bytes);
    if (data == NULL) {
        int64_t room = COLL_INDEPENDENT_BYTES - batch->buffered;
        bytes = bytes < room ? bytes : room;
        data = run->buffer + batch->buffered;
        access_from_memory(run->memory, piece->stream, bytes, data);
        batch->buffered += bytes;
    }
    batch->extent[batch->count++] = (access_extent){piece->offset, data, bytes};
    batch->bytes += bytes;
    advance(piece, bytes);
}

static int write_accesses(execution *e)
{
    access_cursor cursor;
    access_piece piece;
    write_batch batch;
    int rc = 0;
    batch.count = 0;
    batch.bytes = batch.buffered = 0;
    access_cursor_init(&cursor, e->run->accesses);
    while (rc == 0 && access_take_piece(&cursor, ACCESS_END, &piece)) {
        while (rc == 0 && piece.length > 0) {
            append_part(e->run, &piece, &batch);
            if (batch.count == ACCESS_BATCH || COLL_INDEPENDENT_BYTES == batch.buffered)
                rc = flush_batch(e, &batch);
        }
    }
    return rc == 0 ? flush_batch(e, &batch) : rc;
}

/* ---- reading ---- */

/* *done: bytes read, all of them unless there is an error or the file ends. */
static int read_whole(const exchange_store *store, int64_t offset, char *data, int64_t bytes,
                      int64_t *done)
{
    int rc = 0;
    int64_t part = 1;
    *done = 0;
    while (rc == 0 && part > 0 && *done < bytes) {
        rc = store->read(store->context, offset + *done, data + *done, bytes - *done, &part);
        *done += part;
    }
    return rc;
}

/* Reads the first bytes of *piece, which is advanced past them, in one transfer. *ended: the file
 * ended before the last of them. */
static int read_part(execution *e, access_piece *piece, bool *ended, int64_t *done)
{
    const access_memory *memory = e->run->memory;
    int64_t bytes = piece->length < MOST_DIRECT ? piece->length : MOST_DIRECT;
    char *data = access_memory_at(memory, piece->stream, bytes), *at = data;
    if (data == NULL) {
        bytes = bytes < COLL_INDEPENDENT_BYTES ? bytes : COLL_INDEPENDENT_BYTES;
        at = e->run->buffer;
    }
    int rc = read_whole(e->store, piece->offset, at, bytes, done);
    if (data == NULL)
        access_to_memory(memory, piece->stream, *done, at);
    *ended = rc == 0 && *done < bytes;
    advance(piece, bytes);
    return rc;
}

static int read_accesses(execution *e)
{
    access_cursor cursor;
    access_piece piece;
    bool ended = false;
    int rc = 0;
    access_cursor_init(&cursor, e->run->accesses);
    while (rc == 0 && !ended && access_take_piece(&cursor, ACCESS_END, &piece)) {
        while (rc == 0 && !ended && piece.length > 0) {
            int64_t done;
            rc = read_part(e, &piece, &ended, &done);
            e->result->moved += done;
        }
    }
    return rc;
}

/* One lock covers the whole access. */
static int access_locked(execution *e)
{
    const access_list *accesses = e->run->accesses;
    if (accesses->count == 0)
        return 0;
    int64_t first = access_lower(accesses), bytes = access_upper(accesses) - first;
    bool locks = e->store->lock != NULL;
    int rc = locks ? e->store->lock(e->store->context, first, bytes) : 0;
    if (rc != 0)
        return rc;
    rc = e->run->write ? write_accesses(e) : read_accesses(e);
    int unlocked = locks ? e->store->unlock(e->store->context) : 0;
    return rc != 0 ? rc : unlocked;
}

int coll_independent_execute(const coll_group *group, const coll_store *store,
                             const coll_independent_run *run, coll_independent_result *result)
{
    execution e = {.store = &store->access, .run = run, .result = result};
    double start = coll_clock(group);
    *result = (coll_independent_result){0};
    if (store->begin != NULL)
        store->begin(store->access.context);
    int rc = access_locked(&e);
    result->seconds = coll_clock(group) - start;
    return rc;
}
