/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks access, and what the file and their memory have to hold. */
#include <stdlib.h>
#include <string.h>

#include "life.h"

#define FILLING ((char)0xee)
enum { NOT_KNOWN = -1, BEYOND = -2 }; /* in place of a byte's value */

unsigned char sim_wanted[MOST_STEPS][SPACE], sim_accessed[MOST_STEPS][SPACE],
    sim_cut[MOST_STEPS][SPACE + 1];
/* What a read finds. */
static short expected[MOST_STEPS][MOST_RANKS][MOST_BYTES];

/* ---- views ---- */

int sim_step_of_view(const life *l, int step)
{
    while (l->step[step].kind != STEP_VIEW)
        step--;
    return step;
}

static void add_block(sim_view *v, int64_t offset, int64_t length)
{
    if (v->blocks > 0 && v->offset[v->blocks - 1] + v->length[v->blocks - 1] == offset) {
        v->length[v->blocks - 1] += length;
    } else {
        v->offset[v->blocks] = offset;
        v->length[v->blocks++] = length;
    }
    v->size += length;
}

sim_view sim_view_of(const life *l, int step, int rank)
{
    const sim_step *s = &l->step[step];
    uint64_t common = s->seed, own = s->seed + (uint64_t)rank + 1;
    int64_t unit = pick(&common, 1, 40);
    sim_view v = {.begin = pick(&common, 0, 64)};
    switch (s->deal) {
    case DEAL_RECORDS:
        add_block(&v, rank * unit, unit);
        v.extent = l->ranks * unit;
        break;
    case DEAL_CELLS:
        for (int64_t cell = 0; cell < MOST_BLOCKS; cell++)
            if (pick(&common, 0, l->ranks) == rank)
                add_block(&v, cell * unit, unit);
        v.extent = MOST_BLOCKS * unit;
        break;
    case DEAL_BLOCKS:
        add_block(&v, 0, 64);
        v.begin += rank * (MOST_BYTES + 64 + unit);
        v.extent = 64;
        break;
    case DEAL_BYTES:
        add_block(&v, 2 * rank, 1);
        v.extent = 2 * l->ranks;
        break;
    default:
        for (int64_t at = 0, i = pick(&own, 0, 6); i >= 0; i--) {
            int64_t length = pick(&own, 1, unit);
            at += pick(&own, 0, unit);
            add_block(&v, at, length);
            at += length;
        }
        v.extent = 7 * 2 * unit;
        if (s->overlaps_self)
            v.extent = pick(&common, 1, unit);
    }
    return v;
}

/* ---- accesses ---- */

/* No access ends beyond the file. */
sim_access sim_access_of(const life *l, int step, int rank)
{
    const sim_step *s = &l->step[step];
    sim_access access = {.view = sim_view_of(l, sim_step_of_view(l, step), rank)};
    const sim_view *v = &access.view;
    uint64_t own = s->seed + (uint64_t)rank + 1;
    access.first = s->copies * v->size;
    if (v->size == 0 || pick(&own, 0, 5) == 0)
        return access;
    access.first += pick(&own, 0, 2) > 0 ? 0 : pick(&own, 0, v->size);
    bool is_some = l->step[sim_step_of_view(l, step)].deal != DEAL_BYTES && pick(&own, 0, 2) > 0;
    access.bytes = is_some ? v->size * pick(&own, 1, 3) : pick(&own, 0, MOST_BYTES);
    access.bytes = access.bytes < MOST_BYTES ? access.bytes : MOST_BYTES;
    int64_t last = v->begin + ((access.first + access.bytes) / v->size + 1) * v->extent +
                   v->offset[v->blocks - 1] + v->length[v->blocks - 1];
    if (last > SPACE)
        access.bytes = 0;
    return access;
}

int64_t sim_place(const sim_access *access, int64_t i)
{
    const sim_view *v = &access->view;
    int64_t at = access->first + i, copy = at / v->size, within = at % v->size;
    int b = 0;
    for (; within >= v->length[b]; b++)
        within -= v->length[b];
    return v->begin + copy * v->extent + v->offset[b] + within;
}

/* Each step writes other data: what an earlier one left does not pass for them. */
unsigned char sim_data(const life *l, int step, int rank, int64_t i)
{
    uint64_t state = (l->step[step].seed + (uint64_t)step) * 64 + (uint64_t)rank;
    return (unsigned char)((next_random(&state) >> 32) + (uint64_t)i * 37 + (uint64_t)(i >> 8));
}

void sim_mark(const life *l, int step, unsigned char *byte)
{
    for (int i = 0; i < l->ranks; i++) {
        const sim_access access = sim_access_of(l, step, i);
        for (int64_t k = 0; k < access.bytes; k++) {
            unsigned char *mark = &byte[sim_place(&access, k)];
            *mark = *mark == 0 || *mark == i + 1 ? (unsigned char)(i + 1) : SEVERAL;
        }
    }
}

bool sim_is_shared(int step, int64_t at)
{
    return sim_wanted[step][at] == SEVERAL;
}

/* ---- the file ---- */

void sim_begin_file(life *l, int64_t end)
{
    l->end = l->model_end = end;
    for (int64_t i = 0; i < SPACE; i++) {
        l->content[i] = i < end ? (unsigned char)(i * 41 + (i >> 8) * 7 + 1) : 0;
        l->model[i] = l->content[i];
        l->other[i] = NOT_KNOWN;
    }
}

/* What an access that has failed may have left besides, an access that fails later may not. */
static void forget_others(life *l)
{
    for (int i = 0; i < SPACE; i++)
        if (l->other[i] >= 0)
            l->model[i] = l->other[i] = NOT_KNOWN;
}

/* Where writes overlap, the highest rank's data stay in atomic mode; otherwise any of them may. */
static void write_model(life *l, int step, int rank, bool has_failed)
{
    const sim_access access = sim_access_of(l, step, rank);
    for (int64_t i = 0; i < access.bytes; i++) {
        int64_t at = sim_place(&access, i);
        bool is_sure = l->step[step].atomic || !sim_is_shared(step, at);
        short value = is_sure ? (short)sim_data(l, step, rank, i) : (short)NOT_KNOWN;
        if (!has_failed || value == NOT_KNOWN)
            l->model[at] = value;
        l->other[at] = has_failed ? value : (short)NOT_KNOWN;
        if (l->model_end >= 0 && at >= l->model_end)
            l->model_end = at + 1;
    }
    if (has_failed)
        l->model_end = NOT_KNOWN;
}

static void model_step(life *l, int step)
{
    sim_step *s = &l->step[step];
    if (s->is_complete || !s->has_begun)
        return;
    s->is_complete = true;
    bool has_failed = !s->has_result || s->result != 0 || l->net.lost >= 0;
    if (has_failed && s->kind == STEP_WRITE)
        forget_others(l);
    for (int i = 0; i < l->ranks && s->kind == STEP_WRITE; i++)
        write_model(l, step, i, has_failed);
}

void sim_check_file(life *l, int step)
{
    for (int i = 0; i < step; i++)
        model_step(l, i);
    for (int i = 0; i < SPACE; i++) {
        if (l->model[i] >= 0 && l->content[i] != l->model[i] && l->content[i] != l->other[i])
            sim_fail(l, "byte %d of the file is %02x, not %02x", i, l->content[i], l->model[i]);
        l->model[i] = l->content[i];
        l->other[i] = NOT_KNOWN;
    }
    if (l->model_end >= 0 && l->end != l->model_end)
        sim_fail(l, "the file ends at byte %" PRId64 ", not %" PRId64, l->end, l->model_end);
    l->model_end = l->end;
}

/* ---- memory ---- */

/* One block, or blocks of 5 bytes with gaps of 3, of which every second one lies behind the
 * others. */
static char *memory_at(sim_rank *r, int64_t at)
{
    int64_t block = at / 5;
    bool gaps = r->life->step[r->step].gaps;
    return r->byte + (gaps ? block / 2 * 8 + at % 5 + (block % 2) * 2 * MOST_BYTES : at);
}

static void fill_memory(sim_rank *r)
{
    const sim_step *s = &r->life->step[r->step];
    r->memory = (access_memory){.list = {NULL}};
    memset(r->byte, FILLING, sizeof r->byte);
    for (int64_t i = 0; i < r->bytes && s->kind == STEP_WRITE; i++)
        *memory_at(r, i) = (char)sim_data(r->life, r->step, r->rank, i);
    for (int64_t i = 0, length; i < r->bytes; i += length) {
        length = !s->gaps ? r->bytes : r->bytes - i < 5 ? r->bytes - i : 5;
        if (access_append_memory(&r->memory.list, memory_at(r, i), (size_t)length) != 0)
            abort();
    }
}

static void expect_bytes(const life *l, int step, int rank)
{
    const sim_access access = sim_access_of(l, step, rank);
    for (int64_t i = 0; i < access.bytes; i++) {
        int64_t at = sim_place(&access, i);
        short value = l->model[at];
        if (l->other[at] >= 0 || (l->model_end < 0 && at >= l->end))
            value = NOT_KNOWN;
        if (l->model_end >= 0 && at >= l->model_end)
            value = BEYOND;
        expected[step][rank][i] = value;
    }
}

/* The first rank in a step finds what has to be there for all of them. */
static void begin_step(life *l, int step)
{
    for (int i = 0; i < step; i++)
        model_step(l, i);
    memset(sim_wanted[step], 0, sizeof sim_wanted[step]);
    memset(sim_accessed[step], 0, sizeof sim_accessed[step]);
    memset(sim_cut[step], 0, sizeof sim_cut[step]);
    sim_mark(l, step, sim_wanted[step]);
    for (int i = 0; i < l->ranks; i++)
        expect_bytes(l, step, i);
    l->step[step].has_begun = true;
}

void sim_begin_access(sim_rank *r)
{
    if (!r->life->step[r->step].has_begun)
        begin_step(r->life, r->step);
    r->bytes = sim_access_of(r->life, r->step, r->rank).bytes;
    r->locks = 0;
    r->has_read_alone = false;
    fill_memory(r);
}

/* Bytes that are known, and nothing anywhere else. */
void sim_check_memory(sim_rank *r, bool has_failed, int64_t moved)
{
    life *l = r->life;
    bool is_write = l->step[r->step].kind == STEP_WRITE;
    int64_t most = 0;
    bool is_known = l->model_end >= 0;
    for (int64_t i = 0; i < r->bytes; i++) {
        short value = is_write ? sim_data(l, r->step, r->rank, i) : expected[r->step][r->rank][i];
        char *byte = memory_at(r, i);
        bool is_unchanged = *byte == FILLING && (has_failed || value == BEYOND);
        if (value != NOT_KNOWN && (unsigned char)*byte != value && !is_unchanged)
            sim_fail(l, "rank %d: byte %" PRId64 " of its memory is %02x after step %d, not %02x",
                     r->rank, i, (unsigned char)*byte, r->step, value);
        most += value != BEYOND;
        *byte = FILLING;
    }
    for (size_t i = 0; i < sizeof r->byte; i++)
        if (r->byte[i] != FILLING)
            sim_fail(l, "rank %d: step %d changed memory between its blocks", r->rank, r->step);
    if (!has_failed && (is_known || is_write) && moved != most)
        sim_fail(l, "rank %d: step %d moved %" PRId64 " bytes, not %" PRId64, r->rank, r->step,
                 moved, most);
}

/* ---- faults ---- */

/* An error that memory has run out may be done without. */
bool sim_has_fault(sim_rank *r, enum fault_kind kind)
{
    life *l = r->life;
    int64_t nth = l->operations[kind][r->rank]++;
    bool happens = false;
    for (int i = 0; i < l->faults; i++) {
        const sim_fault *f = &l->fault[i];
        happens |= f->kind == kind && f->rank == r->rank && f->nth == nth;
        if (f->kind == FAULT_OFTEN && kind < FAULT_MEMORY)
            happens |= sim_chance(&l->order, 1, f->nth + 2);
    }
    if (kind <= FAULT_RECEIVE)
        return happens;
    l->fired += happens;
    if (happens && r->step >= 0 && r->step < l->steps) {
        l->step[r->step].has_cause = true;
        l->step[r->step].must_fail |= kind < FAULT_MEMORY;
    }
    return happens;
}

int sim_report(sim_rank *r, int class)
{
    int rc = class == CLASS_LOST ? class : class + CLASSES * ++r->life->reported;
    if (r->first_error == 0)
        sim_trace(&r->life->order, "rank %d: first error %d", r->rank, rc);
    r->first_error = r->first_error != 0 ? r->first_error : rc;
    return rc;
}

bool sim_call(network *n, int rank, const char *where)
{
    life *l = n->context;
    l->rank[rank].where = where;
    if (sim_has_fault(&l->rank[rank], FAULT_LOSS))
        net_lose(n, rank);
    return sim_order_call(&l->order, rank, where);
}
