/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks as messages of at most message_size bytes. */
#include "exchange/internal.h"

#include <string.h>

size_t exchange_count_messages(const exchange *ex, int64_t bytes)
{
    return (size_t)((bytes + ex->task.layout.message_size - 1) / ex->task.layout.message_size);
}

/* Bytes of message i of a chunk of which `bytes` bytes are there. */
static size_t message_bytes(const exchange *ex, size_t i, int64_t bytes)
{
    int64_t rest = bytes - (int64_t)i * ex->task.layout.message_size;
    return rest <= 0 ? 0 : (size_t)access_least(rest, ex->task.layout.message_size);
}

static char *message_data(const exchange *ex, const exchange_chunk *chunk, size_t i)
{
    return chunk->packed + (int64_t)i * ex->task.layout.message_size;
}

void exchange_assign_requests(const exchange *ex, exchange_cycle *cycle, exchange_chunk *chunk)
{
    chunk->messages = exchange_count_messages(ex, chunk->bytes);
    chunk->request = cycle->request + cycle->requests;
    memset(chunk->request, 0, chunk->messages * sizeof *chunk->request);
    cycle->requests += chunk->messages;
}

void exchange_send_chunk(exchange *ex, exchange_cycle *cycle, exchange_chunk *chunk, int64_t bytes,
                         int peer, bool synchronous)
{
    const exchange_transport *t = ex->run.transport;
    exchange_assign_requests(ex, cycle, chunk);
    chunk->started_messages = chunk->messages;
    for (size_t i = 0; i < chunk->messages; i++) {
        const char *data = message_data(ex, chunk, i);
        bool sync = synchronous && i + 1 == chunk->messages;
        exchange_request *request = &chunk->request[i];
        int rc =
            t->isend(t->context, peer, t->tag, data, message_bytes(ex, i, bytes), sync, request);
        exchange_keep_error(ex, rc);
        ex->result.messages++;
    }
}

static void post_receive(exchange *ex, const exchange_chunk *chunk, size_t i)
{
    const exchange_transport *t = ex->run.transport;
    int peer = ex->run.write ? ex->task.contributor[chunk->of].rank : ex->peer[chunk->of].rank;
    char *data = message_data(ex, chunk, i);
    exchange_request *request = &chunk->request[i];
    int rc = t->irecv(t->context, peer, t->tag, data, message_bytes(ex, i, chunk->bytes), request);
    exchange_keep_error(ex, rc);
    ex->receives++;
}

void exchange_post_receives(exchange *ex)
{
    exchange_pipeline *pipeline = ex->run.write ? &ex->in : &ex->out;
    for (size_t i = 0; i < pipeline->count; i++) {
        exchange_cycle *cycle = exchange_cycle_at(pipeline, i);
        for (; cycle->posting < cycle->chunks; cycle->posting++) {
            exchange_chunk *chunk = &cycle->chunk[cycle->posting];
            for (; chunk->started_messages < chunk->messages; chunk->started_messages++) {
                if (ex->receives == ex->most_receives)
                    return;
                post_receive(ex, chunk, chunk->started_messages);
            }
        }
    }
}

/* Whether the chunk's next message is complete; *received: its bytes, 0 after an error. */
static bool message_completed(exchange *ex, exchange_chunk *chunk, size_t *received)
{
    const exchange_transport *t = ex->run.transport;
    exchange_request *request = &chunk->request[chunk->completed_messages];
    bool complete = false;
    *received = 0;
    if (*request == NULL)
        return true;
    int rc = t->test(t->context, request, &complete, received);
    if (rc == 0)
        return complete;
    *received = 0;
    exchange_keep_error(ex, rc);
    return true;
}

bool exchange_chunk_sent(exchange *ex, exchange_chunk *chunk)
{
    size_t received;
    while (chunk->completed_messages < chunk->messages && message_completed(ex, chunk, &received))
        chunk->completed_messages++;
    return chunk->completed_messages == chunk->messages;
}

bool exchange_chunk_received(exchange *ex, exchange_chunk *chunk)
{
    size_t received;
    while (chunk->completed_messages < chunk->started_messages &&
           message_completed(ex, chunk, &received)) {
        size_t expected = message_bytes(ex, chunk->completed_messages++, chunk->bytes);
        ex->receives--;
        exchange_post_receives(ex);
        if (!chunk->short_message)
            chunk->received += (int64_t)received;
        chunk->short_message |= received < expected;
    }
    if (chunk->short_message && ex->run.write)
        exchange_keep_error(ex, ex->task.short_error);
    return chunk->completed_messages == chunk->messages;
}
