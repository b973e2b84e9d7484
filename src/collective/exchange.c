/* SPDX-License-Identifier: BSD-3-Clause */
/* src/exchange over a runtime, shared memory and a store. */
#include "collective/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collective/aggregation.h"
#include "collective/exchange_internal.h"

#include "base/memory.h"

coll_exchange_memory *coll_exchange_memory_new(coll_process *process)
{
    coll_exchange_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return NULL;
    memory->process = process;
    memory->refused_bytes = SIZE_MAX;
    for (size_t i = 0; i < COLL_SLOTS; i++)
        memory->exchange[i] = (coll_exchange){.memory = memory, .index = i};
    return memory;
}

void coll_exchange_memory_free(coll_exchange_memory *memory)
{
    if (memory == NULL)
        return;
    coll_segment_release(memory->segment);
    free(memory);
}

coll_exchange *coll_exchange_at(coll_exchange_memory *memory, size_t index)
{
    return &memory->exchange[index];
}

/* ---- memory of a run ---- */

static exchange_buffers *acquire_buffers(coll_process *process)
{
    exchange_buffers *buffers = NULL;
    pthread_mutex_lock(&process->files_lock);
    if (process->idle > 0)
        buffers = process->buffers[--process->idle];
    pthread_mutex_unlock(&process->files_lock);
    return buffers != NULL ? buffers : exchange_buffers_new();
}

int coll_exchange_acquire(coll_exchange *ex)
{
    coll_exchange_memory *memory = ex->memory;
    if (memory->buffers == NULL)
        memory->buffers = acquire_buffers(memory->process);
    if (memory->buffers == NULL)
        return -ENOMEM;
    return exchange_reserve(ex->engine, memory->buffers);
}

void coll_exchange_release(coll_exchange_memory *memory, const coll_group *group)
{
    coll_process *process = memory->process;
    exchange_buffers *buffers = memory->buffers;
    memory->buffers = NULL;
    if (buffers == NULL || coll_has_lost(group->runtime))
        return; /* a message that was given up may still arrive there */
    pthread_mutex_lock(&process->files_lock);
    if (base_reserve(&process->buffers, &process->capacity, process->idle + 1,
                     sizeof *process->buffers) == 0)
        process->buffers[process->idle++] = buffers;
    else
        exchange_buffers_free(buffers);
    pthread_mutex_unlock(&process->files_lock);
}

/* ---- preparation ---- */

static void describe_targets(coll_exchange *ex, const coll_group *group,
                             const domain_layout *layout)
{
    for (size_t i = 0; i < layout->shares; i++) {
        const domain_share *share = &layout->share[i];
        const coll_row *row = coll_windows_find(ex, share->domain, group->rank);
        exchange_target *target = &ex->target[i];
        target->aggregator = layout->aggregator[share->domain];
        target->list = &share->list;
        if (row == NULL || row->owner == group->rank)
            continue;
        target->windows = coll_segment_windows(ex->segment, ex->index, row);
        target->is_carried = row->ranks > 0;
    }
    for (coll_carried *c = ex->carried; c < ex->carried + ex->carries; c++) {
        ex->target[c->share].list = &c->whole;
        ex->target[c->share].bundle = &c->bundle;
        for (size_t k = 0; k < c->bundle.ranks; k++)
            c->windows[k] = coll_segment_windows(ex->segment, ex->index, &c->row[k]);
    }
}

/* Instead of the present one, if any. */
static int start_engine(coll_exchange *ex)
{
    exchange_free(ex->engine);
    ex->engine = exchange_new(&ex->task);
    return ex->engine == NULL ? -ENOMEM : coll_exchange_acquire(ex);
}

static int make_engine(coll_exchange *ex, const coll_group *group, const domain_layout *layout,
                       bool ordered)
{
    const coll_row *own = NULL;
    exchange_task *task = &ex->task;
    *task = (exchange_task){
        .rank = group->rank,
        .ordered = ordered,
        .layout = *layout,
        .short_error = -EIO,
        .targets = layout->shares,
        .contributors = ex->contributors,
        .contributor = ex->contributor,
    };
    ex->target = calloc(layout->shares + 1, sizeof *ex->target);
    if (ex->target == NULL)
        return -ENOMEM;
    task->target = ex->target;
    describe_targets(ex, group, layout);
    if (layout->aggregates)
        own = coll_windows_find(ex, layout->domain, group->rank);
    for (size_t i = 0; i < ex->contributors; i++)
        ex->contributor[i].shared = own != NULL && ex->contributor[i].rank != group->rank &&
                                    coll_is_local(group, ex->contributor[i].rank);
    if (own != NULL)
        task->windows = coll_segment_windows(ex->segment, ex->index, own);
    return start_engine(ex);
}

/* From now on *list has the part of it that the domain has at the present distance. */
static int widen(coll_exchange *ex, size_t domain, access_list *list)
{
    int rc = base_reserve(&ex->wide, &ex->wide_capacity, ex->wides + 1, sizeof *ex->wide);
    if (rc != 0)
        return rc;
    ex->wide[ex->wides++] = (coll_wide){domain, *list, list};
    *list = (access_list){0};
    return 0;
}

static int widen_lists(coll_exchange *ex, const domain_layout *layout)
{
    int rc = 0;
    for (size_t i = 0; i < layout->shares && rc == 0; i++)
        rc = widen(ex, layout->share[i].domain, &layout->share[i].list);
    for (size_t i = 0; i < ex->contributors && rc == 0; i++)
        rc = widen(ex, layout->domain, &ex->contributor[i].list);
    for (coll_carried *c = ex->carried; c < ex->carried + ex->carries; c++)
        for (size_t i = 0; i < c->bundle.ranks && rc == 0; i++)
            rc = widen(ex, layout->share[c->share].domain, &c->list[i]);
    return rc;
}

int64_t coll_exchange_distance(const coll_exchange *ex)
{
    return ex->distance;
}

int coll_exchange_move(coll_exchange *ex, const domain_layout *layout, int64_t distance)
{
    int rc = 0;
    ex->distance = distance;
    for (coll_wide *w = ex->wide; w < ex->wide + ex->wides && rc == 0; w++)
        rc = domains_cut_part(layout->domains, &w->list, distance, w->domain, w->part);
    for (size_t i = 0; i < ex->carries && rc == 0; i++)
        rc = coll_carried_unite(&ex->carried[i]);
    return rc == 0 ? start_engine(ex) : rc;
}

/* Requests that no rank carries for others, and the connections that they need, are on their way
 * while the ranks of a node share memory. */
int coll_exchange_prepare(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                          enum coll_exchange_kind kind)
{
    coll_requests requests = {0};
    bool shares = kind == COLL_EXCHANGE_SHARED,
         bundled = shares && coll_windows_bundled(group, layout);
    int rc = bundled ? 0 : coll_requests_start(ex, group, layout, &requests);
    int shared = shares ? coll_windows_share(ex, group, layout, bundled) : 0;
    if (bundled)
        rc = coll_requests_start(ex, group, layout, &requests);
    rc = coll_requests_complete(ex, group, layout, &requests, rc != 0 ? rc : shared);
    if (rc == 0 && layout->margin > 0)
        rc = widen_lists(ex, layout);
    if (rc == 0)
        rc = make_engine(ex, group, layout, kind == COLL_EXCHANGE_ORDERED);
    return rc == 0 && layout->margin > 0 ? coll_exchange_move(ex, layout, 0) : rc;
}

/* Without adjacent pieces an aggregator may have fewer pages than all of its contributors. */
bool coll_exchange_merges(const coll_exchange *ex, const coll_store *store)
{
    int64_t pieces, merged, pages, merged_pages;
    if (ex->engine == NULL)
        return false;
    exchange_count_pieces(ex->engine, access_blocks, &pieces, &merged);
    if (aggregation_merges(pieces, pieces - merged))
        return true;
    exchange_count_pieces(ex->engine, access_pages_estimate, &pages, &merged_pages);
    if (aggregation_merges(pieces, pages - merged_pages) && store->may_map != NULL &&
        store->may_map(store->access.context))
        return true;
    pieces = merged = 0;
    for (size_t i = 0; i < ex->carries; i++) {
        pieces += ex->carried[i].pieces;
        merged += access_blocks(&ex->carried[i].whole);
    }
    return aggregation_merges(pieces, pieces - merged);
}

/* The engine keeps the union of the contributors' lists. */
int64_t coll_exchange_bytes(const coll_exchange *ex)
{
    size_t runs = 0;
    for (size_t i = 0; i < ex->contributors; i++)
        runs += ex->contributor[i].list.capacity + ex->contributor[i].list.count;
    for (size_t i = 0; i < ex->carries; i++) {
        runs += ex->carried[i].whole.capacity;
        for (size_t k = 0; k < ex->carried[i].bundle.ranks; k++)
            runs += ex->carried[i].part[k].capacity + ex->carried[i].list[k].capacity;
    }
    for (size_t i = 0; i < ex->wides; i++)
        runs += ex->wide[i].list.capacity;
    return (int64_t)(runs * sizeof(access_run));
}

void coll_exchange_reset(coll_exchange *ex)
{
    exchange_free(ex->engine);
    coll_segment_release(ex->segment);
    coll_requests_release(ex);
    for (size_t i = 0; i < ex->wides; i++)
        access_release(&ex->wide[i].list);
    free(ex->wide);
    free(ex->target);
    *ex = (coll_exchange){.memory = ex->memory, .index = ex->index};
}

/* ---- runs ---- */

/* Bytes that are read in the time of a request: where the file is in memory, and where a server is
 * asked. */
enum { MOST_LOCAL_HOLE = 16 * 1024, MOST_HOLE = 64 * 1024 };

/* Times the file access cycle by cycle: a piece may take less time than reading the clock. */
typedef struct access_timer {
    const coll_group *group;
    const exchange_probe *probe; /* the caller's, or NULL */
    double begin, seconds;
} access_timer;

static void time_access(void *context, int64_t cycle, enum exchange_moment moment)
{
    access_timer *timer = context;
    if (moment == EXCHANGE_ACCESS_BEGINS)
        timer->begin = coll_clock(timer->group);
    if (moment == EXCHANGE_ACCESS_ENDS)
        timer->seconds += coll_clock(timer->group) - timer->begin;
    if (timer->probe != NULL)
        timer->probe->note(timer->probe->context, cycle, moment);
}

int coll_exchange_run(coll_exchange *ex, coll_group *group, const coll_store *file,
                      exchange_run run, exchange_result *result, coll_exchange_times *times)
{
    access_timer timer = {.group = group, .probe = run.probe};
    const exchange_transport transport = coll_transport(group);
    exchange_store store = file->access;
    const exchange_probe probe = {&timer, time_access};
    double start = coll_clock(group);
    store.most_hole = file->lock_unit > 0 ? MOST_HOLE : MOST_LOCAL_HOLE;
    if (file->begin != NULL)
        file->begin(store.context);
    run.transport = &transport;
    run.store = &store;
    run.probe = &probe;
    int rc = exchange_execute(ex->engine, &run, result);
    times->access = timer.seconds;
    times->shuffle = coll_clock(group) - start - timer.seconds;
    return rc;
}
