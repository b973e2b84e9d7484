/* SPDX-License-Identifier: BSD-3-Clause */
/* The file: short reads, errors, other ranks' accesses at the same time; and whether each access is
 * one that the rank may make. */
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

/* ---- writing ---- */

static void write_bytes(sim_rank *r, const access_extent *extent, int64_t from, int64_t to)
{
    life *l = r->life;
    int64_t begin = extent->offset - l->base;
    for (int64_t at = begin + from; at < begin + to; at++) {
        if (sim_wanted[r->step][at] == 0)
            sim_fail(l, "rank %d writes byte %" PRId64 ", which no rank does", r->rank, at);
        l->content[at] = (unsigned char)extent->data[at - begin];
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
    if (l->step[r->step].kind == STEP_WRITE)
        sim_fail(l, "rank %d reads while it writes", r->rank);
    *done = 0;
    sim_call(&l->net, r->rank, "read");
    if (sim_has_fault(r, FAULT_READ)) {
        memset(data, 'E', (size_t)moved);
        return sim_report(r, CLASS_IO);
    }
    memcpy(data, l->content + at, (size_t)moved);
    *done = moved;
    return 0;
}

/* ---- locks: those of two ranks do not overlap, and a rank that is lost has none ---- */

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
    r->lock_from = offset;
    r->lock_to = offset + bytes;
    return 0;
}

static int unlock_bytes(void *context)
{
    sim_rank *r = context;
    if (r->lock_from == r->lock_to)
        sim_fail(r->life, "rank %d unlocks what it has not locked", r->rank);
    r->lock_from = r->lock_to = 0;
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
        .begin = begin,
    };
}
