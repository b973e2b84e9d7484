/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank as a contributor: its data between the user's buffer and the cycles of the domains that it
 * accesses. */
#include "exchange/internal.h"

/* ---- copies ---- */

/* Copies the first `bytes` of a chunk into the user's buffer. */
static void unpack_chunk(const exchange *ex, const exchange_chunk *chunk, int64_t end,
                         int64_t bytes)
{
    access_cursor cursor = chunk->cursor;
    int64_t stream, length, done = 0;
    while (done < bytes && access_take_stream(&cursor, end, &stream, &length)) {
        length = access_least(length, bytes - done);
        access_to_memory(ex->run.memory, stream, length, chunk->packed + done);
        done += length;
    }
}

/* The place in the user's buffer where a chunk is contiguous, or NULL. */
static char *find_in_memory(const exchange *ex, access_cursor cursor, int64_t end)
{
    int64_t stream, length, more, rest;
    if (!access_take_stream(&cursor, end, &stream, &length))
        return NULL;
    bool single = !access_take_stream(&cursor, end, &more, &rest);
    return single ? access_memory_at(ex->run.memory, stream, length) : NULL;
}

/* ---- a chunk ---- */

/* Both copy between the user's buffer and a window, as far as `valid` when reading, and return the
 * bytes: an aggregator's window has a byte for each position, one of a carrier the chunk, packed.
 */
static int64_t copy_by_position(const exchange *ex, const exchange_chunk *chunk,
                                const exchange_cycle *cycle, int64_t valid, char *data)
{
    access_cursor cursor = chunk->cursor;
    return ex->run.write
               ? access_memory_to_window(ex->run.memory, &cursor, cycle->end, data, cycle->begin)
               : access_window_to_memory(ex->run.memory, &cursor, valid, data, cycle->begin);
}

static int64_t copy_packed(const exchange *ex, exchange_chunk *chunk, const exchange_cycle *cycle,
                           int64_t valid, char *data)
{
    access_cursor cursor = chunk->cursor;
    chunk->packed = data;
    if (ex->run.write) {
        access_memory_to_packed(ex->run.memory, chunk->cursor, cycle->end, chunk->packed);
        return chunk->bytes;
    }
    int64_t bytes = access_skip(&cursor, valid);
    unpack_chunk(ex, chunk, cycle->end, bytes);
    return bytes;
}

/* false: the aggregator, or the carrier, has not reached the cycle. */
static bool copy_shared_chunk(exchange *ex, exchange_chunk *chunk, const exchange_cycle *cycle)
{
    const exchange_peer *peer = &ex->peer[chunk->of];
    exchange_flags *flags = exchange_flags_of(peer->windows, cycle);
    char *data = exchange_data_of(peer->windows, cycle);
    _Atomic int64_t *reached = ex->run.write ? &flags->granted : &flags->ready;
    if (atomic_load_explicit(reached, memory_order_acquire) != exchange_cycle_number(ex, cycle))
        return false;
    int64_t valid = access_least(cycle->end, flags->valid);
    ex->result.moved += peer->is_carried ? copy_packed(ex, chunk, cycle, valid, data)
                                         : copy_by_position(ex, chunk, cycle, valid, data);
    atomic_fetch_add_explicit(&flags->done, 1, memory_order_release);
    return true;
}

static bool complete_written_chunk(exchange *ex, exchange_chunk *chunk)
{
    if (!exchange_chunk_sent(ex, chunk))
        return false;
    ex->result.moved += chunk->bytes;
    return true;
}

static bool complete_read_chunk(exchange *ex, exchange_chunk *chunk, const exchange_cycle *cycle)
{
    if (!exchange_chunk_received(ex, chunk))
        return false;
    if (!chunk->direct)
        unpack_chunk(ex, chunk, cycle->end, chunk->received);
    ex->result.moved += chunk->received;
    return true;
}

static void send_chunk(exchange *ex, exchange_chunk *chunk, exchange_cycle *cycle)
{
    exchange_peer *peer = &ex->peer[chunk->of];
    bool synchronous = ++peer->sent % EXCHANGE_DEPTH == 0;
    exchange_send_chunk(ex, cycle, chunk, chunk->bytes, peer->rank, synchronous);
}

static bool complete_bundle(exchange *ex, exchange_chunk *chunk, exchange_cycle *cycle)
{
    if (!ex->run.write)
        return (chunk->is_copied || exchange_bundle_distribute(ex, cycle, chunk)) &&
               exchange_bundle_done(ex, cycle, chunk);
    if (!chunk->is_copied) {
        if (!exchange_bundle_collect(ex, cycle, chunk))
            return false;
        send_chunk(ex, chunk, cycle);
    }
    return exchange_chunk_sent(ex, chunk);
}

static bool complete_chunk(exchange *ex, exchange_chunk *chunk, exchange_cycle *cycle)
{
    const exchange_peer *peer = &ex->peer[chunk->of];
    if (peer->windows != NULL)
        return copy_shared_chunk(ex, chunk, cycle);
    if (peer->bundle != NULL)
        return complete_bundle(ex, chunk, cycle);
    return ex->run.write ? complete_written_chunk(ex, chunk)
                         : complete_read_chunk(ex, chunk, cycle);
}

static void start_messages(exchange *ex, exchange_chunk *chunk, exchange_cycle *cycle)
{
    if (!ex->run.write) {
        exchange_assign_requests(ex, cycle, chunk);
        return;
    }
    if (!chunk->direct)
        access_memory_to_packed(ex->run.memory, chunk->cursor, cycle->end, chunk->packed);
    send_chunk(ex, chunk, cycle);
}

/* ---- a cycle ---- */

/* Takes the cycle's chunk of a peer, and starts its messages. *unused: the rest of the outbox. */
static void start_chunk(exchange *ex, exchange_cycle *cycle, size_t of, char **unused)
{
    exchange_peer *peer = &ex->peer[of];
    exchange_chunk *chunk = &cycle->chunk[cycle->chunks++];
    *chunk = (exchange_chunk){.of = of, .cursor = peer->cursor};
    chunk->bytes = access_skip(&peer->cursor, cycle->end);
    if (peer->windows != NULL)
        return;
    if (peer->bundle == NULL)
        chunk->packed = find_in_memory(ex, chunk->cursor, cycle->end);
    chunk->direct = chunk->packed != NULL;
    if (!chunk->direct) {
        chunk->packed = *unused;
        *unused += chunk->bytes;
    }
    if (peer->bundle != NULL)
        exchange_bundle_begin(ex, cycle, chunk);
    if (peer->bundle == NULL || !ex->run.write)
        start_messages(ex, chunk, cycle);
}

static int64_t next_contributed(const exchange *ex)
{
    int64_t next = ACCESS_END;
    for (size_t i = 0; i < ex->peers; i++)
        next = access_least(next, access_next(&ex->peer[i].cursor));
    return next;
}

/* A carrier's cycle uses the windows of the cycle EXCHANGE_DEPTH before it. */
static bool has_windows(exchange *ex, int64_t next)
{
    return !ex->carries || ex->out.count == 0 ||
           next / ex->task.layout.cycle_size - exchange_cycle_at(&ex->out, 0)->index <
               EXCHANGE_DEPTH;
}

static bool begin_out_cycle(exchange *ex)
{
    exchange_pipeline *out = &ex->out;
    if (out->count == EXCHANGE_DEPTH || out->exhausted)
        return false;
    int64_t next = next_contributed(ex);
    out->exhausted = next == ACCESS_END;
    if (out->exhausted || !has_windows(ex, next))
        return false;
    exchange_cycle *cycle = exchange_cycle_append(out, next, ex->task.layout.cycle_size);
    char *unused = cycle->packed;
    for (size_t i = 0; i < ex->peers; i++)
        if (access_next(&ex->peer[i].cursor) < cycle->end)
            start_chunk(ex, cycle, i, &unused);
    cycle->pending = cycle->chunks;
    exchange_post_receives(ex);
    return true;
}

static bool advance_out_cycle(exchange *ex, exchange_cycle *cycle)
{
    bool moved = false;
    for (size_t i = 0; i < cycle->chunks && cycle->pending > 0; i++) {
        exchange_chunk *chunk = &cycle->chunk[i];
        bool was_copied = chunk->is_copied;
        if (chunk->completed)
            continue;
        chunk->completed = complete_chunk(ex, chunk, cycle);
        cycle->pending -= chunk->completed;
        moved |= chunk->completed || chunk->is_copied != was_copied;
    }
    return moved;
}

bool exchange_contribute(exchange *ex)
{
    exchange_pipeline *out = &ex->out;
    bool moved = false;
    while (begin_out_cycle(ex))
        moved = true;
    for (size_t i = 0; i < out->count; i++)
        moved |= advance_out_cycle(ex, exchange_cycle_at(out, i));
    while (out->count > 0 && exchange_cycle_at(out, 0)->pending == 0)
        exchange_cycle_remove_first(out);
    return moved;
}
