/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated file: short reads, end of file, errors; and a check of every byte that is
 * accessed. */
#include "simulation.h"

enum { CALLS_PER_STEP = 1000000 };

/* What the file has outside of the islands. */
static char background(int64_t offset)
{
    return (char)((uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static int64_t shorten(simulation *sim, int64_t bytes)
{
    return bytes > 0 && sim_chance(sim, sim->short_share, 8) ? pick(&sim->state, 1, bytes) : bytes;
}

/* Before the shift. */
static int64_t offset_in_domains(const simulation *sim, const sim_rank *r, int64_t offset)
{
    return offset - sim->shift[r->run];
}

/* Whether a rank may access the first and the last of these bytes. */
static bool check_call(simulation *sim, sim_rank *r, int64_t offset, int64_t bytes)
{
    int64_t first = offset_in_domains(sim, r, offset), last = first + bytes - 1;
    if (++r->calls > CALLS_PER_STEP)
        sim_fail(sim, "rank %d accesses the file without end", r->rank);
    else if (bytes < 1 || bytes > sim->cycle_size)
        sim_fail(sim, "rank %d accesses %" PRId64 " bytes", r->rank, bytes);
    else if (offset < r->locked || offset + bytes > r->unlocked)
        sim_fail(sim, "rank %d accesses byte %" PRId64 ", which it has not locked", r->rank, first);
    else if (!r->aggregates || first < sim->domains.lo || last >= sim->domains.hi ||
             sim_owner(sim, first) != r->domain || sim_owner(sim, last) != r->domain)
        sim_fail(sim, "rank %d accesses byte %" PRId64 " outside of its domain", r->rank, first);
    return sim->failure == NULL;
}

/* ---- writing ---- */

static void write_byte(simulation *sim, sim_rank *r, int64_t offset, char value)
{
    int64_t at = offset_in_domains(sim, r, offset);
    size_t cell = sim_cell(sim, at);
    if (cell == SIZE_MAX || !sim->covered[cell] || sim_owner(sim, at) != r->domain) {
        sim_fail(sim, "rank %d writes to byte %" PRId64 ", which it should not", r->rank, at);
        return;
    }
    cell += (size_t)(sim->shift[r->run] - sim->base_shift);
    if (sim->written[cell] >= r->run)
        sim_fail(sim, "rank %d writes byte %" PRId64 " again", r->rank, at);
    sim->written[cell] = (signed char)r->run;
    sim->file[cell] = value;
    if (offset >= sim->end_of_file)
        sim->end_of_file = offset + 1;
}

/* The error of one extent of a batch. */
static int inject_into_extent(sim_rank *r, const access_extent *extent)
{
    simulation *sim = r->sim;
    sim_trace(sim, "rank %d: write %" PRId64 " bytes at %" PRId64, r->rank, extent->bytes,
              extent->offset);
    if (!check_call(sim, r, extent->offset, extent->bytes))
        return GONE;
    int rc = sim_inject(sim, r->rank, FAULT_WRITE);
    sim_interrupt(sim);
    return rc;
}

static void write_bytes(simulation *sim, sim_rank *r, const access_extent *extent, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        write_byte(sim, r, extent->offset + i, extent->data[i]);
}

/* After an error any bytes of the batch may have been written. */
static int sim_write(void *context, const access_extent *extent, size_t count)
{
    sim_rank *r = context;
    simulation *sim = r->sim;
    int rc = count > 0 ? 0 : GONE;
    sim_may_vanish(r);
    if (r->domain_failed || !sim->write[r->run] || count == 0)
        sim_fail(sim, "rank %d writes after an error, while it reads, or nothing", r->rank);
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (i > 0 && extent[i].offset < extent[i - 1].offset + extent[i - 1].bytes)
            sim_fail(sim, "rank %d: the extents of a batch do not ascend", r->rank);
        rc = inject_into_extent(r, &extent[i]);
    }
    for (size_t i = 0; i < count; i++)
        write_bytes(sim, r, &extent[i],
                    rc == 0 ? extent[i].bytes : pick(&sim->state, 0, extent[i].bytes));
    if (rc == 0)
        return 0;
    r->domain_failed = true;
    return sim_report(r, rc);
}

/* ---- reading ---- */

static char read_byte(const simulation *sim, const sim_rank *r, int64_t offset)
{
    size_t cell = sim_cell(sim, offset_in_domains(sim, r, offset));
    if (cell == SIZE_MAX)
        return background(offset);
    return sim->file[cell + (size_t)(sim->shift[r->run] - sim->base_shift)];
}

static int sim_read(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    sim_rank *r = context;
    simulation *sim = r->sim;
    sim_may_vanish(r);
    int64_t rest = sim->end_of_file - offset, moved = rest < 0 ? 0 : rest < bytes ? rest : bytes;
    moved = shorten(sim, moved);
    sim_trace(sim, "rank %d: read %" PRId64 " of %" PRId64 " bytes at %" PRId64, r->rank, moved,
              bytes, offset);
    if (!check_call(sim, r, offset, bytes))
        return GONE;
    if (sim->write[r->run])
        sim_fail(sim, "rank %d reads while it writes", r->rank);
    sim_interrupt(sim);
    int rc = sim_inject(sim, r->rank, FAULT_READ);
    for (int64_t i = 0; i < moved; i++)
        data[i] = rc != 0 ? 'E' : read_byte(sim, r, offset + i);
    *done = rc != 0 ? pick(&sim->state, -1, bytes) : moved;
    return rc != 0 ? sim_report(r, rc) : 0;
}

/* ---- locks ---- */

static int sim_lock(void *context, int64_t offset, int64_t bytes)
{
    sim_rank *r = context;
    simulation *sim = r->sim;
    sim_may_vanish(r);
    sim_trace(sim, "rank %d: lock %" PRId64 " bytes at %" PRId64, r->rank, bytes, offset);
    if (r->locked != r->unlocked || bytes < 1)
        sim_fail(sim, "rank %d locks again, or nothing", r->rank);
    sim_interrupt(sim);
    int rc = sim_inject(sim, r->rank, FAULT_LOCK);
    if (rc != 0) {
        r->domain_failed |= sim->write[r->run];
        return sim_report(r, rc);
    }
    r->locked = offset;
    r->unlocked = offset + bytes;
    return 0;
}

static int sim_unlock(void *context)
{
    sim_rank *r = context;
    sim_may_vanish(r);
    if (r->locked == r->unlocked)
        sim_fail(r->sim, "rank %d unlocks what it has not locked", r->rank);
    r->locked = r->unlocked;
    return 0;
}

void sim_store_init(simulation *sim)
{
    for (int i = 0; i < sim->ranks; i++)
        sim->store[i] =
            (exchange_store){&sim->rank[i], sim_write, sim_read, sim_lock, sim_unlock, i % 4 * 8};
}
