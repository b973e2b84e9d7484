/* SPDX-License-Identifier: BSD-3-Clause */
/* What a carrier sends and receives for other ranks of its node.
 *
 * Members copy their chunks, packed, to and from windows in shared memory; the carrier copies them
 * between these windows and one packed chunk, in the order of the file. To the aggregator the
 * carrier is one contributor. Chunks of a peer are copied in ascending order of cycles, because
 * messages are matched in that order and because cursors only advance. */
#include "exchange/bundle.h"

#include "exchange/internal.h"

/* Bytes of a rank's part in a cycle up to which a message costs more than copying the part once
 * more, and of its part in all cycles up to which connecting two processes does. */
#define SMALL_PART (16 * 1024)
#define SMALL_WHOLE (256 * 1024)
/* Bytes whose copy takes the time in which a carrier puts a piece between those of other ranks:
 * below 0.2 us, measured with E3SM-IO. */
#define PIECE_COST 256

bool exchange_bundle_pays(size_t ranks, int64_t bytes, int64_t piece, int64_t cycles,
                          int64_t message_size)
{
    if (ranks < 2 || cycles < 1)
        return false;
    int64_t part = bytes / (int64_t)ranks;
    part += part / piece * PIECE_COST;
    return part <= access_least(SMALL_PART, message_size / 4) || part <= SMALL_WHOLE / cycles;
}

void exchange_bundle_begin_run(exchange_peer *peer)
{
    for (size_t i = 0; i < peer->bundle->ranks; i++) {
        access_cursor_init(&peer->counted[i], &peer->bundle->part[i]);
        access_cursor_init(&peer->copied[i], &peer->bundle->part[i]);
    }
    peer->carried = 0;
    peer->begun = peer->turn = 0;
}

/* All members' flags. */
static exchange_flags *bundle_flags(const exchange *ex, const exchange_cycle *cycle,
                                    const exchange_chunk *chunk)
{
    return exchange_flags_of(&ex->peer[chunk->of].bundle->windows[0], cycle);
}

void exchange_bundle_begin(exchange *ex, const exchange_cycle *cycle, exchange_chunk *chunk)
{
    exchange_peer *peer = &ex->peer[chunk->of];
    chunk->begin = peer->carried;
    chunk->turn = peer->begun++;
    peer->carried += chunk->bytes;
    for (size_t i = 0; i < peer->bundle->ranks; i++)
        chunk->copies +=
            access_skip(&peer->counted[i], peer->carried) > 0 && i != peer->bundle->own;
    if (ex->run.write)
        exchange_grant(ex, cycle, bundle_flags(ex, cycle, chunk));
}

bool exchange_bundle_done(const exchange *ex, const exchange_cycle *cycle,
                          const exchange_chunk *chunk)
{
    const exchange_flags *flags = bundle_flags(ex, cycle, chunk);
    return atomic_load_explicit(&flags->done, memory_order_acquire) == chunk->copies;
}

bool exchange_bundle_collect(exchange *ex, const exchange_cycle *cycle, exchange_chunk *chunk)
{
    exchange_peer *peer = &ex->peer[chunk->of];
    const exchange_bundle *bundle = peer->bundle;
    int64_t end = chunk->begin + chunk->bytes;
    if (chunk->turn != peer->turn || !exchange_bundle_done(ex, cycle, chunk))
        return false;
    ex->result.moved += access_memory_to_window(ex->run.memory, &peer->copied[bundle->own], end,
                                                chunk->packed, chunk->begin);
    for (size_t i = 0; i < bundle->ranks; i++)
        if (i != bundle->own)
            access_scatter(&peer->copied[i], end, chunk->packed, chunk->begin,
                           exchange_data_of(&bundle->windows[i], cycle), chunk->bytes);
    peer->turn++;
    chunk->is_copied = true;
    return true;
}

/* The first position of the cycle that was not received. */
static int64_t received_end(const exchange_cycle *cycle, const exchange_chunk *chunk)
{
    access_cursor cursor = chunk->cursor;
    access_piece piece;
    int64_t rest = chunk->received;
    while (access_take_piece(&cursor, cycle->end, &piece)) {
        if (rest < piece.length)
            return piece.offset + rest;
        rest -= piece.length;
    }
    return cycle->end;
}

bool exchange_bundle_distribute(exchange *ex, const exchange_cycle *cycle, exchange_chunk *chunk)
{
    exchange_peer *peer = &ex->peer[chunk->of];
    const exchange_bundle *bundle = peer->bundle;
    exchange_flags *flags = bundle_flags(ex, cycle, chunk);
    if (chunk->turn != peer->turn || !exchange_chunk_received(ex, chunk))
        return false;
    int64_t received = chunk->begin + chunk->received, end = chunk->begin + chunk->bytes;
    for (size_t i = 0; i < bundle->ranks; i++)
        if (i != bundle->own)
            access_gather(&peer->copied[i], received, chunk->packed, chunk->begin,
                          exchange_data_of(&bundle->windows[i], cycle));
    flags->valid = received_end(cycle, chunk);
    exchange_grant(ex, cycle, flags);
    ex->result.moved += access_window_to_memory(ex->run.memory, &peer->copied[bundle->own],
                                                received, chunk->packed, chunk->begin);
    for (size_t i = 0; i < bundle->ranks; i++)
        access_skip(&peer->copied[i], end);
    peer->turn++;
    chunk->is_copied = true;
    return true;
}
