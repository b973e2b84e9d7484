/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles in flight of one role. */
#include "exchange/internal.h"

void exchange_keep_error(exchange *ex, int rc)
{
    if (ex->error == 0)
        ex->error = rc;
}

exchange_cycle *exchange_cycle_at(exchange_pipeline *pipeline, size_t i)
{
    return &pipeline->cycle[(pipeline->first + i) % EXCHANGE_DEPTH];
}

int64_t exchange_cycle_end(int64_t position, int64_t cycle_size)
{
    int64_t end;
    if (__builtin_mul_overflow(position / cycle_size + 1, cycle_size, &end))
        return ACCESS_END;
    return end;
}

exchange_cycle *exchange_cycle_append(exchange_pipeline *pipeline, int64_t next, int64_t cycle_size)
{
    assert(pipeline->count < EXCHANGE_DEPTH);
    exchange_cycle *cycle = exchange_cycle_at(pipeline, pipeline->count++);
    cycle->chunks = cycle->pending = cycle->next = cycle->requests = 0;
    cycle->posting = 0;
    cycle->shared = 0;
    cycle->index = next / cycle_size;
    cycle->begin = cycle->index * cycle_size;
    cycle->end = cycle->valid = exchange_cycle_end(next, cycle_size);
    return cycle;
}

void exchange_cycle_remove_first(exchange_pipeline *pipeline)
{
    assert(pipeline->count > 0);
    pipeline->first = (pipeline->first + 1) % EXCHANGE_DEPTH;
    pipeline->count--;
}

int64_t exchange_cycle_number(const exchange *ex, const exchange_cycle *cycle)
{
    return (int64_t)(ex->sequence + (uint64_t)cycle->index + 1);
}

exchange_flags *exchange_flags_of(const exchange_windows *windows, const exchange_cycle *cycle)
{
    return &windows->flags[cycle->index % EXCHANGE_DEPTH];
}

char *exchange_data_of(const exchange_windows *windows, const exchange_cycle *cycle)
{
    return windows->data + cycle->index % EXCHANGE_DEPTH * windows->stride;
}

void exchange_grant(const exchange *ex, const exchange_cycle *cycle, exchange_flags *flags)
{
    atomic_store_explicit(&flags->done, 0, memory_order_relaxed);
    atomic_store_explicit(ex->run.write ? &flags->granted : &flags->ready,
                          exchange_cycle_number(ex, cycle), memory_order_release);
}
