/* SPDX-License-Identifier: BSD-3-Clause */
/* The file, and what it has to hold. */
#include <string.h>

#include "life.h"

/* ---- the store of a rank ---- */

static bool is_inside(life *l, int64_t offset, int64_t bytes)
{
    bool inside = offset >= l->base && offset + bytes <= l->base + SPACE;
    if (!inside)
        sim_fail(l, "an access to bytes that no rank accesses: %lld at %lld", (long long)bytes,
                 (long long)(offset - l->base));
    return inside;
}

static bool is_locked(const sim_rank *r, int64_t offset, int64_t bytes)
{
    bool is_locked = r->lock_from <= offset && offset + bytes <= r->lock_to;
    if (!is_locked)
        sim_fail(r->life, "rank %d accesses bytes that it has not locked", r->rank);
    return is_locked;
}

/* Piece by piece: other ranks access the file at the same time. */
static int write_extent(sim_rank *r, const access_extent *extent)
{
    life *l = r->life;
    if (!is_inside(l, extent->offset, extent->bytes))
        return CLASS_IO;
    sim_watch_bytes(r, extent->offset - l->base, extent->bytes);
    for (int64_t at = 0, part; at < extent->bytes; at += part) {
        part = pick(&l->state, 1, extent->bytes - at);
        int64_t offset = extent->offset + at;
        if (sim_fault(r, FAULT_WRITE))
            return CLASS_NO_SPACE;
        if (!is_locked(r, offset, part))
            return CLASS_IO;
        memcpy(l->content + (offset - l->base), (const char *)extent->data + at, (size_t)part);
        l->end = offset + part > l->end ? offset + part : l->end;
        l->idle = 0;
        l->time += r->rank == l->slow ? 0.01 : 1e-6;
        if (pick(&l->state, 0, 3) == 0)
            sim_yield(r);
    }
    return 0;
}

static int write_extents(void *context, const access_extent *extent, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = write_extent(context, &extent[i]);
    return rc;
}

static int read_bytes(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    sim_rank *r = context;
    life *l = r->life;
    *done = 0;
    l->idle = 0;
    if (sim_fault(r, FAULT_READ) || !is_inside(l, offset, bytes) || !is_locked(r, offset, bytes))
        return CLASS_IO;
    sim_watch_bytes(r, offset - l->base, bytes);
    if (offset >= l->end)
        return 0;
    *done = bytes < l->end - offset ? bytes : l->end - offset;
    *done = pick(&l->state, 0, 1) == 0 ? *done : pick(&l->state, 1, *done);
    memcpy(data, l->content + (offset - l->base), (size_t)*done);
    if (pick(&l->state, 0, 3) == 0)
        sim_yield(r);
    return 0;
}

/* Locks of two ranks do not overlap. */
static bool is_free(const life *l, const sim_rank *r, int64_t from, int64_t to)
{
    for (int i = 0; i < l->ranks; i++) {
        const sim_rank *other = &l->rank[i];
        if (other != r && other->lock_from < to && from < other->lock_to)
            return false;
    }
    return true;
}

static int lock_bytes(void *context, int64_t offset, int64_t bytes)
{
    sim_rank *r = context;
    if (sim_fault(r, FAULT_LOCK))
        return CLASS_IO;
    r->where = "lock";
    while (!is_free(r->life, r, offset, offset + bytes) && r->life->failure == NULL)
        sim_yield(r);
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

static void begin(void *context)
{
    (void)context;
}

static bool may_map(void *context)
{
    (void)context;
    return false;
}

void sim_store(sim_rank *r)
{
    r->store = (coll_store){
        .access = {r, write_extents, read_bytes, lock_bytes, unlock_bytes, 0},
        .begin = begin,
        .may_map = may_map,
    };
}

/* ---- the model ---- */

int64_t sim_place(const sim_view *v, int64_t at)
{
    int64_t copy = at / v->size, within = at % v->size;
    for (int b = 0;; within -= v->length[b++])
        if (within < v->length[b])
            return v->begin + copy * v->extent + v->offset[b] + within;
}

/* Where writes overlap, the highest rank's data stay in atomic mode; otherwise any of them may. */
static void write_model(life *l, int step, int rank, bool is_known)
{
    const sim_view v = sim_view_of(l, sim_step_of_view(l, step), rank);
    const sim_access access = sim_access_of(l, step, rank);
    for (int64_t i = 0; i < access.bytes; i++) {
        int64_t at = sim_place(&v, access.first + i);
        bool is_sure = is_known && (l->step[step].atomic || !sim_is_shared(step, at));
        l->model[at] = is_sure ? (short)sim_data(l, step, rank, i) : (short)-1;
        if (l->model_end >= 0 && at >= l->model_end)
            l->model_end = at + 1;
    }
    if (!is_known)
        l->model_end = -1;
}

static void model_step(life *l, int step)
{
    sim_step *s = &l->step[step];
    if (s->is_complete || !s->has_begun)
        return;
    s->is_complete = true;
    bool is_known = s->has_result && s->result == 0 && !l->is_lost;
    for (int i = 0; i < l->ranks && s->kind == STEP_WRITE; i++)
        write_model(l, step, i, is_known);
}

void sim_model_steps(life *l, int step)
{
    for (int i = 0; i < step; i++)
        model_step(l, i);
}

void sim_check_file(life *l)
{
    for (int i = 0; i < SPACE && l->failure == NULL; i++)
        if (l->model[i] >= 0 && l->content[i] != (unsigned char)l->model[i])
            sim_fail(l, "byte %d of the file is %02x, not %02x", i, l->content[i], l->model[i]);
    if (l->model_end >= 0 && l->end != l->base + l->model_end)
        sim_fail(l, "the file ends at %lld, not at %lld", (long long)(l->end - l->base),
                 (long long)l->model_end);
}
