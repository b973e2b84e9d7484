/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank as an aggregator: its domain between its windows and the file.
 *
 * Chunks of other contributors come and go as messages, in batches that fit into the inbox; those
 * of shared-memory contributors, and this rank's own, are copied by their owners. Cycles are
 * written in ascending order. */
#include "exchange/internal.h"

static exchange_flags *flags_of(const exchange *ex, const exchange_cycle *cycle)
{
    return exchange_flags_of(&ex->windows, cycle);
}

static char *data_of(const exchange *ex, const exchange_cycle *cycle)
{
    return exchange_data_of(&ex->windows, cycle);
}

static bool is_own(const exchange *ex, size_t of)
{
    return ex->task.contributor[of].rank == ex->task.rank;
}

/* Whether a contributor copies its data itself. In atomic mode this rank's own data wait for their
 * turn in a batch. */
static bool is_shared(const exchange *ex, size_t of)
{
    return is_own(ex, of) ? !ex->task.ordered : ex->task.contributor[of].shared;
}

static void note(const exchange *ex, const exchange_cycle *cycle, enum exchange_moment moment)
{
    const exchange_probe *probe = ex->run.probe;
    if (probe != NULL)
        probe->note(probe->context, cycle->index, moment);
}

/* ---- batches ---- */

/* The place in the window where a chunk is contiguous, or NULL. */
static char *find_in_window(const exchange *ex, const exchange_cycle *cycle, access_cursor cursor,
                            int64_t bytes)
{
    access_piece piece;
    if (!access_take_piece(&cursor, cycle->end, &piece) || piece.length != bytes)
        return NULL;
    return data_of(ex, cycle) + (piece.offset - cycle->begin);
}

/* Appends the cycle's chunk of contributor `of` to the batch, unless the inbox or the requests do
 * not suffice. */
static bool batch_append(exchange *ex, exchange_cycle *cycle, size_t of, int64_t *used,
                         size_t *messages)
{
    exchange_chunk chunk = {.of = of, .cursor = ex->in_cursor[of]};
    access_cursor after = chunk.cursor;
    chunk.bytes = access_skip(&after, cycle->end);
    assert(chunk.bytes <= ex->task.layout.cycle_size);
    size_t wanted = *messages + exchange_count_messages(ex, chunk.bytes);
    if (cycle->chunks > 0 && wanted > ex->in_requests)
        return false;
    if (!ex->task.ordered)
        chunk.packed = find_in_window(ex, cycle, chunk.cursor, chunk.bytes);
    chunk.direct = chunk.packed != NULL;
    if (!chunk.direct && !is_own(ex, of)) {
        if (*used + chunk.bytes > ex->task.layout.cycle_size)
            return false;
        chunk.packed = cycle->packed + *used;
        *used += chunk.bytes;
    }
    *messages = wanted;
    ex->in_cursor[of] = after;
    cycle->chunk[cycle->chunks++] = chunk;
    return true;
}

/* The next batch: contributors from cycle->next on that send or receive data of this cycle. */
static void cut_batch(exchange *ex, exchange_cycle *cycle)
{
    int64_t used = 0;
    size_t messages = 0;
    cycle->chunks = cycle->requests = cycle->posting = 0;
    for (; cycle->next < ex->task.contributors; cycle->next++)
        if (!is_shared(ex, cycle->next) && access_next(&ex->in_cursor[cycle->next]) < cycle->end &&
            !batch_append(ex, cycle, cycle->next, &used, &messages))
            break;
    cycle->pending = cycle->chunks;
}

/* Bytes of a chunk before the end of file, packed unless they are contiguous in the window. */
static int64_t pack_read_chunk(const exchange *ex, const exchange_cycle *cycle,
                               const exchange_chunk *chunk)
{
    access_cursor cursor = chunk->cursor;
    int64_t end = access_least(cycle->end, cycle->valid);
    if (chunk->direct)
        return access_skip(&cursor, end);
    return access_gather(&cursor, end, data_of(ex, cycle), cycle->begin, chunk->packed);
}

static void start_chunk_messages(exchange *ex, exchange_cycle *cycle, exchange_chunk *chunk)
{
    if (ex->run.write) {
        exchange_assign_requests(ex, cycle, chunk);
        return;
    }
    int rank = ex->task.contributor[chunk->of].rank;
    bool synchronous = ++ex->in_sent[chunk->of] % EXCHANGE_DEPTH == 0;
    exchange_send_chunk(ex, cycle, chunk, pack_read_chunk(ex, cycle, chunk), rank, synchronous);
}

static void start_batch(exchange *ex, exchange_cycle *cycle)
{
    cut_batch(ex, cycle);
    for (size_t i = 0; i < cycle->chunks; i++)
        if (!is_own(ex, cycle->chunk[i].of))
            start_chunk_messages(ex, cycle, &cycle->chunk[i]);
    exchange_post_receives(ex);
}

static void place_written_chunk(exchange *ex, const exchange_cycle *cycle,
                                const exchange_chunk *chunk)
{
    access_cursor cursor = chunk->cursor;
    char *data = data_of(ex, cycle);
    if (is_own(ex, chunk->of))
        ex->result.moved +=
            access_memory_to_window(ex->run.memory, &cursor, cycle->end, data, cycle->begin);
    else if (!chunk->direct)
        access_scatter(&cursor, cycle->end, data, cycle->begin, chunk->packed, chunk->bytes);
}

/* This rank's own chunk has no messages. */
static bool chunk_completed(exchange *ex, exchange_chunk *chunk)
{
    return ex->run.write ? exchange_chunk_received(ex, chunk) : exchange_chunk_sent(ex, chunk);
}

/* In atomic mode chunks are put in place in the order of the contributors, which ascend by rank. */
static bool advance_batch(exchange *ex, exchange_cycle *cycle)
{
    size_t before = cycle->pending;
    for (size_t i = 0; i < cycle->chunks && cycle->pending > 0; i++) {
        exchange_chunk *chunk = &cycle->chunk[i];
        if (chunk->completed)
            continue;
        chunk->completed = chunk_completed(ex, chunk);
        if (!chunk->completed && ex->task.ordered)
            break;
        if (chunk->completed && ex->run.write)
            place_written_chunk(ex, cycle, chunk);
        cycle->pending -= chunk->completed;
    }
    return cycle->pending < before;
}

/* ---- a cycle ---- */

static void cycle_access(exchange *ex, exchange_cycle *cycle)
{
    note(ex, cycle, EXCHANGE_ACCESS_BEGINS);
    exchange_access_cycle(ex, cycle, data_of(ex, cycle));
    note(ex, cycle, EXCHANGE_ACCESS_ENDS);
}

static void count_shared(exchange *ex, exchange_cycle *cycle)
{
    for (size_t i = 0; i < ex->task.contributors; i++) {
        if (is_shared(ex, i) && access_next(&ex->in_cursor[i]) < cycle->end) {
            access_skip(&ex->in_cursor[i], cycle->end);
            cycle->shared++;
        }
    }
}

static int64_t next_aggregated(const exchange *ex)
{
    int64_t next = ACCESS_END;
    for (size_t i = 0; i < ex->task.contributors; i++)
        next = access_least(next, access_next(&ex->in_cursor[i]));
    return next;
}

/* A cycle uses the window of the cycle EXCHANGE_DEPTH before it, and batches go cycle by cycle. */
static bool has_window(exchange *ex, int64_t next)
{
    exchange_pipeline *in = &ex->in;
    if (in->count == 0)
        return true;
    const exchange_cycle *first = exchange_cycle_at(in, 0),
                         *last = exchange_cycle_at(in, in->count - 1);
    return last->next == ex->task.contributors &&
           next / ex->task.layout.cycle_size - first->index < EXCHANGE_DEPTH;
}

static bool begin_in_cycle(exchange *ex)
{
    exchange_pipeline *in = &ex->in;
    if (in->count == EXCHANGE_DEPTH || in->exhausted)
        return false;
    int64_t next = next_aggregated(ex);
    in->exhausted = next == ACCESS_END;
    if (in->exhausted || !has_window(ex, next))
        return false;
    exchange_cycle *cycle = exchange_cycle_append(in, next, ex->task.layout.cycle_size);
    count_shared(ex, cycle);
    if (!ex->run.write)
        cycle_access(ex, cycle);
    note(ex, cycle, EXCHANGE_SHUFFLE_BEGINS);
    flags_of(ex, cycle)->valid = cycle->valid;
    exchange_grant(ex, cycle, flags_of(ex, cycle));
    start_batch(ex, cycle);
    return true;
}

static bool advance_in_cycle(exchange *ex, exchange_cycle *cycle)
{
    bool moved = advance_batch(ex, cycle);
    if (cycle->pending == 0 && cycle->next < ex->task.contributors) {
        start_batch(ex, cycle);
        moved = true;
    }
    return moved;
}

static bool cycle_completed(const exchange *ex, const exchange_cycle *cycle)
{
    return cycle->pending == 0 && cycle->next == ex->task.contributors &&
           atomic_load_explicit(&flags_of(ex, cycle)->done, memory_order_acquire) == cycle->shared;
}

static bool end_in_cycle(exchange *ex)
{
    if (ex->in.count == 0)
        return false;
    exchange_cycle *cycle = exchange_cycle_at(&ex->in, 0);
    if (!cycle_completed(ex, cycle))
        return false;
    note(ex, cycle, EXCHANGE_SHUFFLE_ENDS);
    if (ex->run.write)
        cycle_access(ex, cycle);
    exchange_cycle_remove_first(&ex->in);
    return true;
}

bool exchange_aggregate(exchange *ex)
{
    bool moved = begin_in_cycle(ex);
    for (size_t i = 0; i < ex->in.count; i++)
        moved |= advance_in_cycle(ex, exchange_cycle_at(&ex->in, i));
    moved |= end_in_cycle(ex);
    return moved;
}
