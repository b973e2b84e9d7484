/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of an exchange, and its runs. */
#include "exchange/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/merge.h"
#include "base/memory.h"
#include "exchange/bundle.h"

/* Flags are shared between processes, and a lock of the C library would be each process's own. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && sizeof(_Atomic int64_t) == sizeof(long long),
               "atomic int64_t is lock-free");

/* ---- preparation ---- */

static void allocate_exchange(exchange *ex)
{
    size_t n = ex->task.contributors + 1, m = ex->task.targets + 1;
    ex->peer = base_arena_alloc(&ex->arena, m, sizeof *ex->peer);
    ex->in_cursor = base_arena_alloc(&ex->arena, n, sizeof *ex->in_cursor);
    ex->in_sent = base_arena_alloc(&ex->arena, n, sizeof *ex->in_sent);
    for (size_t i = 0; i < ex->depth; i++) {
        ex->in.cycle[i].chunk = base_arena_alloc(&ex->arena, n, sizeof(exchange_chunk));
        ex->out.cycle[i].chunk = base_arena_alloc(&ex->arena, m, sizeof(exchange_chunk));
    }
}

static void find_windows(exchange *ex)
{
    const exchange_task *task = &ex->task;
    if (task->contributors == 0)
        return;
    ex->windows = task->windows;
    if (ex->windows.flags == NULL) {
        ex->window_bytes = (size_t)task->layout.cycle_size;
        ex->windows = (exchange_windows){ex->flags, NULL, task->layout.cycle_size};
    }
    memset(ex->windows.flags, 0, ex->depth * sizeof *ex->windows.flags);
}

int64_t exchange_largest_chunk(const access_list *list, int64_t cycle_size)
{
    int64_t largest = 0;
    access_cursor cursor;
    access_cursor_init(&cursor, list);
    while (access_next(&cursor) != ACCESS_END) {
        int64_t end = exchange_cycle_end(access_next(&cursor), cycle_size);
        int64_t bytes = access_skip(&cursor, end);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static void peer_set_bundle(exchange *ex, exchange_peer *peer)
{
    size_t ranks = peer->bundle->ranks;
    memset(peer->bundle->windows[0].flags, 0, ex->depth * sizeof(exchange_flags));
    ex->carries = true;
    peer->counted = base_arena_alloc(&ex->arena, ranks, sizeof *peer->counted);
    peer->copied = base_arena_alloc(&ex->arena, ranks, sizeof *peer->copied);
}

/* In atomic mode the aggregator copies its own data when it is their turn. */
static void exchange_find_peers(exchange *ex)
{
    const exchange_task *task = &ex->task;
    for (size_t i = 0; i < task->targets; i++) {
        const exchange_target *target = &task->target[i];
        bool own = target->aggregator == task->rank;
        if (own && task->ordered)
            continue;
        exchange_peer *peer = &ex->peer[ex->peers++];
        peer->rank = target->aggregator;
        peer->list = target->list;
        peer->windows = own                             ? &ex->windows
                        : target->windows.flags != NULL ? &target->windows
                                                        : NULL;
        peer->is_carried = target->is_carried;
        peer->bundle = target->bundle;
        if (peer->windows == NULL)
            ex->outbox_bytes +=
                (size_t)exchange_largest_chunk(target->list, ex->task.layout.cycle_size);
        if (peer->bundle != NULL)
            peer_set_bundle(ex, peer);
    }
}

/* An inbox holds any chunk, because the accesses of one contributor do not overlap. */
static void find_senders(exchange *ex)
{
    const exchange_task *task = &ex->task;
    for (size_t i = 0; i < task->contributors; i++) {
        assert(i == 0 || task->contributor[i - 1].rank < task->contributor[i].rank);
        if (task->contributor[i].rank != task->rank && !task->contributor[i].shared)
            ex->inbox_bytes = (size_t)task->layout.cycle_size;
    }
}

/* A batch ends where its messages would be more. */
static void allocate_requests(exchange *ex)
{
    size_t message = (size_t)ex->task.layout.message_size;
    size_t out = ex->outbox_bytes / message + ex->peers + 1, size = sizeof(exchange_request);
    ex->in_requests = ex->inbox_bytes / message + ex->task.contributors + 2;
    for (size_t i = 0; i < ex->depth; i++) {
        ex->in.cycle[i].request = base_arena_alloc(&ex->arena, ex->in_requests, size);
        ex->out.cycle[i].request = base_arena_alloc(&ex->arena, out, size);
    }
}

static bool find_covered(exchange *ex)
{
    const exchange_task *task = &ex->task;
    const access_list **list = calloc(task->contributors + 1, sizeof *list);
    if (list == NULL)
        return false;
    for (size_t i = 0; i < task->contributors; i++)
        list[i] = &task->contributor[i].list;
    int rc = access_union(list, task->contributors, &ex->covered);
    free(list);
    return rc == 0;
}

exchange *exchange_new(const exchange_task *task)
{
    exchange *ex = calloc(1, sizeof *ex);
    if (ex == NULL)
        return NULL;
    ex->task = *task;
    ex->depth = (size_t)exchange_depth(task->layout.num_cycles);
    ex->most_receives = EXCHANGE_MOST_RECEIVES;
    allocate_exchange(ex);
    if (!ex->arena.failed) {
        find_windows(ex);
        find_senders(ex);
        exchange_find_peers(ex);
        allocate_requests(ex);
    }
    if (!ex->arena.failed && find_covered(ex))
        return ex;
    exchange_free(ex);
    return NULL;
}

void exchange_free(exchange *ex)
{
    if (ex == NULL)
        return;
    base_arena_release(&ex->arena);
    access_release(&ex->covered);
    free(ex);
}

void exchange_count_pieces(const exchange *ex, int64_t (*count)(const access_list *list),
                           int64_t *pieces, int64_t *merged)
{
    *pieces = 0;
    for (size_t i = 0; i < ex->task.contributors; i++)
        *pieces += count(&ex->task.contributor[i].list);
    *merged = count(&ex->covered);
}

/* ---- buffers ---- */

typedef struct buffer {
    char *data;
    size_t size;
} buffer;

struct exchange_buffers {
    buffer windows; /* cycle buffers of an aggregator */
    buffer inbox;   /* packed data between an aggregator and its contributors */
    buffer outbox;  /* the same on the contributor's side */
};

exchange_buffers *exchange_buffers_new(void)
{
    return calloc(1, sizeof(exchange_buffers));
}

void exchange_buffers_free(exchange_buffers *buffers)
{
    if (buffers == NULL)
        return;
    free(buffers->windows.data);
    free(buffers->inbox.data);
    free(buffers->outbox.data);
    free(buffers);
}

/* Grows a buffer to at least `count` times `size` bytes; its contents are lost. */
static int grow_buffer(buffer *b, size_t count, size_t size)
{
    if (count == 0 || size <= b->size / count)
        return 0;
    free(b->data);
    b->data = base_alloc(count, size);
    b->size = b->data == NULL ? 0 : count * size;
    return b->data == NULL ? -ENOMEM : 0;
}

int exchange_reserve(exchange *ex, exchange_buffers *buffers)
{
    ex->buffers = buffers;
    int rc = grow_buffer(&buffers->windows, ex->depth, ex->window_bytes);
    if (rc == 0)
        rc = grow_buffer(&buffers->inbox, ex->depth, ex->inbox_bytes);
    if (rc == 0)
        rc = grow_buffer(&buffers->outbox, ex->depth, ex->outbox_bytes);
    return rc;
}

static void assign_buffers(exchange *ex)
{
    if (ex->window_bytes > 0)
        ex->windows.data = ex->buffers->windows.data;
    for (size_t i = 0; i < ex->depth; i++) {
        ex->in.cycle[i].packed = ex->buffers->inbox.data + i * ex->inbox_bytes;
        ex->out.cycle[i].packed = ex->buffers->outbox.data + i * ex->outbox_bytes;
    }
}

/* ---- a run ---- */

void exchange_begin(exchange *ex, const exchange_run *run)
{
    ex->run = *run;
    ex->result = (exchange_result){0};
    ex->error = 0;
    ex->receives = 0;
    assign_buffers(ex);
    for (size_t i = 0; i < ex->peers; i++) {
        access_cursor_init(&ex->peer[i].cursor, ex->peer[i].list);
        if (ex->peer[i].bundle != NULL)
            exchange_bundle_begin_run(&ex->peer[i]);
    }
    for (size_t i = 0; i < ex->task.contributors; i++)
        access_cursor_init(&ex->in_cursor[i], &ex->task.contributor[i].list);
    access_cursor_init(&ex->cover, &ex->covered);
    ex->out.exhausted = ex->in.exhausted = false;
    ex->out.first = ex->in.first = 0;
}

bool exchange_step(exchange *ex)
{
    bool contributed = exchange_contribute(ex), aggregated = exchange_aggregate(ex);
    return contributed || aggregated;
}

bool exchange_finished(const exchange *ex)
{
    return ex->out.count == 0 && ex->out.exhausted && ex->in.count == 0 && ex->in.exhausted;
}

/* Every rank counts alike, so that no number in a window's flags repeats. */
int exchange_end(exchange *ex, exchange_result *result)
{
    ex->sequence += (uint64_t)ex->task.layout.num_cycles;
    *result = ex->result;
    return ex->error;
}

/* Messages of a transport that has lost a rank complete with an error, and the buffers are needed
 * until then. What ranks that share memory wait for may never come. */
static void abandon_cycles(exchange *ex, exchange_pipeline *pipeline)
{
    const exchange_transport *t = ex->run.transport;
    size_t bytes;
    for (size_t i = 0; i < pipeline->count; i++) {
        exchange_cycle *cycle = exchange_cycle_at(pipeline, i);
        for (size_t k = 0; k < cycle->requests; k++) {
            bool complete = cycle->request[k] == NULL;
            while (!complete && t->test(t->context, &cycle->request[k], &complete, &bytes) == 0)
                (void)t->progress(t->context);
        }
    }
    pipeline->count = 0;
    pipeline->exhausted = true;
}

void exchange_abandon(exchange *ex, int error)
{
    exchange_keep_error(ex, error);
    abandon_cycles(ex, &ex->out);
    abandon_cycles(ex, &ex->in);
}

int exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result)
{
    int lost = 0;
    exchange_begin(ex, run);
    while (!exchange_finished(ex) && lost == 0)
        if (!exchange_step(ex))
            lost = run->transport->progress(run->transport->context);
    if (lost != 0)
        exchange_abandon(ex, lost);
    return exchange_end(ex, result);
}
