/* SPDX-License-Identifier: BSD-3-Clause */
/* An aggregator's access to the file.
 *
 * Writes covered extents only: holes may belong to other processes (no read-modify-write). Short
 * reads are resumed. */
#include "exchange/internal.h"

typedef struct extent_batch {
    access_extent extent[ACCESS_BATCH];
    size_t count;
} extent_batch;

/* The file offset of a position of this rank's domain. *length: bytes below position `end` that lie
 * in one range of the file. */
static int64_t file_offset(const exchange *ex, int64_t position, int64_t end, int64_t *length)
{
    int64_t contiguous, offset = domains_position_to_file(
                            ex->task.layout.domains, ex->task.layout.domain, position, &contiguous);
    *length = access_least(contiguous, end - position);
    return offset + ex->run.shift;
}

/* After an error nothing more is written. */
static void write_batch(exchange *ex, extent_batch *batch)
{
    const exchange_store *store = ex->run.store;
    if (batch->count > 0 && ex->error == 0)
        exchange_keep_error(ex, store->write(store->context, batch->extent, batch->count));
    batch->count = 0;
}

/* Positions [at, end), which may be in several ranges of the file. */
static void extents_append(exchange *ex, extent_batch *batch, int64_t at, int64_t end,
                           const char *data)
{
    while (at < end) {
        int64_t length, offset = file_offset(ex, at, end, &length);
        if (batch->count == ACCESS_BATCH)
            write_batch(ex, batch);
        batch->extent[batch->count++] = (access_extent){offset, data, length};
        at += length;
        data += length;
    }
}

/* Reads positions [*valid, end) up to the end of file; *valid becomes the first that was not read.
 */
static int read_extent(const exchange *ex, int64_t *valid, int64_t end, char *data)
{
    const exchange_store *store = ex->run.store;
    while (*valid < end) {
        int64_t length, done = 0, offset = file_offset(ex, *valid, end, &length);
        int rc = store->read(store->context, offset, data, length, &done);
        if (rc != 0 || done == 0)
            return rc;
        *valid += done;
        data += done;
    }
    return 0;
}

/* The next stretch of the cycle that one write or read accesses. A write never includes a hole. */
static bool take_extent(exchange *ex, int64_t end, access_piece *extent)
{
    int64_t most_hole = ex->run.write ? 0 : ex->run.store->most_hole;
    access_piece more;
    if (!access_take_piece(&ex->cover, end, extent))
        return false;
    while (access_next(&ex->cover) < end &&
           access_next(&ex->cover) - (extent->offset + extent->length) <= most_hole) {
        access_take_piece(&ex->cover, end, &more);
        extent->length = more.offset + more.length - extent->offset;
    }
    return true;
}

/* ---- locks ---- */

/* Locks the first byte of the cycle that is accessed to its last one, or the last one that is.
 * false: there is nothing to unlock. */
static bool lock_cycle(exchange *ex, const exchange_cycle *cycle)
{
    const exchange_store *store = ex->run.store;
    int64_t length, begin = access_next(&ex->cover);
    int64_t end = access_least(cycle->end, access_upper(&ex->covered));
    if (ex->error != 0 || store->lock == NULL)
        return false;
    int64_t first = file_offset(ex, begin, end, &length);
    int64_t last = file_offset(ex, end - 1, end, &length);
    exchange_keep_error(ex, store->lock(store->context, first, last + 1 - first));
    return ex->error == 0;
}

/* ---- cycles ---- */

static void cycle_write_extents(exchange *ex, exchange_cycle *cycle, char *data)
{
    access_piece extent;
    extent_batch batch;
    batch.count = 0;
    while (take_extent(ex, cycle->end, &extent))
        extents_append(ex, &batch, extent.offset, extent.offset + extent.length,
                       data + (extent.offset - cycle->begin));
    write_batch(ex, &batch);
}

static void cycle_read_extents(exchange *ex, exchange_cycle *cycle, char *data)
{
    access_piece extent;
    while (take_extent(ex, cycle->end, &extent)) {
        int64_t end = extent.offset + extent.length, valid = extent.offset;
        if (cycle->valid < cycle->end)
            continue;
        if (ex->error == 0)
            exchange_keep_error(
                ex, read_extent(ex, &valid, end, data + (extent.offset - cycle->begin)));
        if (valid < end)
            cycle->valid = valid;
    }
}

void exchange_access_cycle(exchange *ex, exchange_cycle *cycle, char *data)
{
    const exchange_store *store = ex->run.store;
    bool is_locked = lock_cycle(ex, cycle);
    (ex->run.write ? cycle_write_extents : cycle_read_extents)(ex, cycle, data);
    if (is_locked)
        exchange_keep_error(ex, store->unlock(store->context));
}
