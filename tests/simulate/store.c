/* SPDX-License-Identifier: BSD-3-Clause */
/* The file: short reads, errors, other ranks' accesses at the same time; caches of nodes; and
 * whether each access is one that the rank may make. */
#include <string.h>

#include "life.h"

static void check_inside(const sim_rank *r, int64_t offset, int64_t bytes)
{
    const life *l = r->life;
    if (bytes < 1 || offset < l->base || bytes > l->base + SPACE - offset)
        sim_fail(r->life, "rank %d uses bytes that no rank wants: %" PRId64 " at %" PRId64, r->rank,
                 bytes, offset);
}

static void check_range(const sim_rank *r, int64_t offset, int64_t bytes)
{
    life *l = r->life;
    check_inside(r, offset, bytes);
    if (offset < r->lock_from || offset + bytes > r->lock_to)
        sim_fail(l, "rank %d accesses bytes that it has not locked", r->rank);
}

static void mark_accessed(const sim_rank *r, int64_t from, int64_t to)
{
    unsigned char *mark = sim_accessed[r->step], own = (unsigned char)(r->rank + 1);
    for (int64_t at = from; at < to; at++)
        mark[at] = mark[at] == 0 || mark[at] == own ? own : SEVERAL;
}

/* ---- caches ---- */

/* What a node knows of each byte of the file, and what it has written that is not there yet. */
enum { NOT_CACHED = -1, DIRTY = 256 };
static short cached[MOST_RANKS][SPACE];

static short *cache_of(const sim_rank *r)
{
    return cached[sim_node_of(r->life, r->rank)];
}

void sim_begin_caches(const life *l)
{
    for (int n = 0; n < l->nodes && l->has_caches; n++)
        for (int64_t at = 0; at < SPACE; at++)
            cached[n][at] = NOT_CACHED;
}

static void flush_cache(const sim_rank *r)
{
    short *cache = cache_of(r);
    for (int64_t at = 0; at < SPACE && r->life->has_caches; at++)
        if (cache[at] >= DIRTY)
            r->life->content[at] = (unsigned char)(cache[at] -= DIRTY);
}

static void empty_cache(const sim_rank *r)
{
    short *cache = cache_of(r);
    for (int64_t at = 0; at < SPACE && r->life->has_caches; at++)
        if (cache[at] < DIRTY)
            cache[at] = NOT_CACHED;
}

static void write_byte(const sim_rank *r, int64_t at, unsigned char byte)
{
    if (r->life->has_caches)
        cache_of(r)[at] = (short)(byte + DIRTY);
    else
        r->life->content[at] = byte;
}

static unsigned char read_byte(const sim_rank *r, int64_t at)
{
    short *cached_byte = &cache_of(r)[at];
    if (!r->life->has_caches)
        return r->life->content[at];
    if (*cached_byte == NOT_CACHED)
        *cached_byte = r->life->content[at];
    return (unsigned char)*cached_byte; /* without DIRTY */
}

static int flush_file(void *context)
{
    sim_rank *r = context;
    sim_trace(&r->life->order, "rank %d: flushes", r->rank);
    sim_happened(&r->life->order);
    sim_call(&r->life->net, r->rank, "flush");
    flush_cache(r);
    return sim_has_fault(r, FAULT_FLUSH) ? sim_report(r, CLASS_IO) : 0;
}

static void refresh_file(void *context)
{
    sim_rank *r = context;
    sim_call(&r->life->net, r->rank, "refresh");
    empty_cache(r);
}

/* ---- writing ---- */

static void write_bytes(sim_rank *r, const access_extent *extent, int64_t from, int64_t to)
{
    life *l = r->life;
    int64_t begin = extent->offset - l->base;
    for (int64_t at = begin + from; at < begin + to; at++) {
        if (sim_wanted[r->step][at] == 0)
            sim_fail(l, "rank %d writes byte %" PRId64 ", which no rank does", r->rank, at);
        write_byte(r, at, (unsigned char)extent->data[at - begin]);
        l->end = at >= l->end ? at + 1 : l->end;
    }
}

/* Piece by piece: other ranks access the file at the same time. */
static int write_extent(sim_rank *r, const access_extent *extent)
{
    life *l = r->life;
    int64_t at = extent->offset - l->base, half = pick(&l->state, 0, extent->bytes);
    sim_trace(&l->order, "rank %d: writes %" PRId64 " bytes at %" PRId64, r->rank, extent->bytes,
              at);
    check_range(r, extent->offset, extent->bytes);
    mark_accessed(r, at, at + extent->bytes);
    write_bytes(r, extent, 0, half);
    sim_call(&l->net, r->rank, "write");
    if (sim_has_fault(r, FAULT_WRITE))
        return sim_report(r, CLASS_NO_SPACE);
    write_bytes(r, extent, half, extent->bytes);
    sim_cut[r->step][at] = sim_cut[r->step][at + extent->bytes] = 1;
    l->order.time += r->rank == l->order.slow ? 0.01 : 1e-6;
    return 0;
}

static int write_extents(void *context, const access_extent *extent, size_t count)
{
    sim_rank *r = context;
    int rc = 0;
    sim_happened(&r->life->order);
    if (r->first_error != 0 || r->life->step[r->step].kind != STEP_WRITE)
        sim_fail(r->life, "rank %d writes after an error, or while it reads", r->rank);
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (i > 0 && extent[i].offset < extent[i - 1].offset + extent[i - 1].bytes)
            sim_fail(r->life, "rank %d: the extents of a batch do not ascend", r->rank);
        rc = write_extent(r, &extent[i]);
    }
    return rc;
}

/* ---- reading ---- */

static int read_bytes(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    sim_rank *r = context;
    life *l = r->life;
    int64_t at = offset - l->base, rest = l->end - at,
            moved = rest < 0       ? 0
                    : rest < bytes ? rest
                                   : bytes;
    if (moved > 0 && sim_chance(&l->order, l->short_share, 8))
        moved = pick(&l->state, 1, moved);
    sim_trace(&l->order, "rank %d: reads %" PRId64 " of %" PRId64 " bytes at %" PRId64, r->rank,
              moved, bytes, at);
    sim_happened(&l->order);
    check_range(r, offset, bytes);
    mark_accessed(r, at, at + bytes);
    r->has_read_alone |= !r->is_exchanging;
    if (r->is_exchanging)
        sim_check_holes(r, at, bytes, moved);
    if (l->step[r->step].kind == STEP_WRITE)
        sim_fail(l, "rank %d reads while it writes", r->rank);
    *done = 0;
    sim_call(&l->net, r->rank, "read");
    if (sim_has_fault(r, FAULT_READ)) {
        memset(data, 'E', (size_t)moved);
        return sim_report(r, CLASS_IO);
    }
    for (int64_t k = 0; k < moved; k++)
        data[k] = (char)read_byte(r, at + k);
    *done = moved;
    return 0;
}

/* ---- locks: those of two ranks do not overlap, and a rank that is lost has none. Of a file that
 * is always locked, as on NFS, they empty the cache ---- */

static bool is_free(const life *l, const sim_rank *r, int64_t from, int64_t to)
{
    for (int i = 0; i < l->ranks; i++) {
        const sim_rank *other = &l->rank[i];
        if (other != r && i != l->net.lost && other->lock_from < to && from < other->lock_to)
            return false;
    }
    return true;
}

static int lock_bytes(void *context, int64_t offset, int64_t bytes)
{
    sim_rank *r = context;
    life *l = r->life;
    sim_trace(&l->order, "rank %d: locks %" PRId64 " bytes at %" PRId64, r->rank, bytes,
              offset - l->base);
    check_inside(r, offset, bytes);
    if (r->lock_from != r->lock_to)
        sim_fail(l, "rank %d locks again", r->rank);
    sim_call(&l->net, r->rank, "lock");
    if (sim_has_fault(r, FAULT_LOCK))
        return sim_report(r, CLASS_IO);
    while (!is_free(l, r, offset, offset + bytes))
        net_yield(&l->net, r->rank);
    r->locks++;
    r->read_to = NOWHERE;
    r->lock_from = offset;
    r->lock_to = offset + bytes;
    if (r->life->locks_file)
        empty_cache(r);
    return 0;
}

static int unlock_bytes(void *context)
{
    sim_rank *r = context;
    if (r->lock_from == r->lock_to)
        sim_fail(r->life, "rank %d unlocks what it has not locked", r->rank);
    r->lock_from = r->lock_to = 0;
    if (r->life->locks_file)
        flush_cache(r);
    return 0;
}

/* ---- an open file ---- */

/* An operation begins. */
static void begin(void *context)
{
    sim_rank *r = context;
    r->first_error = 0;
}

coll_store sim_store(sim_rank *r)
{
    return (coll_store){
        .access = {r, write_extents, read_bytes, lock_bytes, unlock_bytes, 0},
        .flush = r->life->has_caches ? flush_file : NULL,
        .refresh = refresh_file,
        .begin = begin,
    };
}
