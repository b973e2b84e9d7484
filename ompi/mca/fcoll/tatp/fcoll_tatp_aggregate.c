/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles of a rank as an aggregator: its domain between its windows and the file.
 *
 * Parts of contributors on other nodes come and go as messages, in batches that fit the inbox;
 * those of this node copy by themselves ("guests"). Windows are written in ascending order. */
#include "fcoll_tatp_cycles.h"

/* Holes up to this size are read along rather than left out, bytes. */
#define READ_GAP (64 * 1024)

static tatp_window *window_of(tatp_cycles *cycles, const tatp_step *s)
{
    return &cycles->window[(size_t)s->window % TATP_DEPTH];
}

static const tatp_contributor *contributor(const tatp_cycles *cycles, size_t of)
{
    return &cycles->pass->schedule->contributor[of];
}

/* ---- batches ---- */

/* Where the part's bytes lie in one piece in the window, or NULL. */
static char *in_one_block(tatp_cycles *cycles, const tatp_step *s, access_cursor cursor,
                          int64_t bytes)
{
    access_piece piece;
    if (!access_take_piece(&cursor, s->end, &piece) || piece.length != bytes)
        return NULL;
    return window_of(cycles, s)->data + (piece.offset - tatp_window_begin(cycles, s));
}

/* This rank's own bytes, which it copies when it is their turn; otherwise it is a guest. */
static bool is_own(const tatp_cycles *cycles, size_t of)
{
    return contributor(cycles, of)->rank == cycles->pass->fh->f_rank;
}

/* The part of contributor `of` in this window goes into the batch when the inbox has room for it,
 * or when it needs none. */
static bool take_in(tatp_cycles *cycles, tatp_step *s, size_t of, int64_t *used, size_t *messages)
{
    tatp_part p = {.of = of, .cursor = cycles->in_cursor[of]};
    access_cursor after = p.cursor;
    p.bytes = access_skip(&after, s->end);
    if (s->parts > 0 && *messages + tatp_count_messages(cycles, p.bytes) > cycles->in_requests)
        return false;
    if (!cycles->ordered)
        p.packed = in_one_block(cycles, s, p.cursor, p.bytes);
    p.direct = NULL != p.packed;
    if (!p.direct && !is_own(cycles, of)) {
        if (*used + p.bytes > cycles->pass->schedule->cycle)
            return false;
        p.packed = s->box + *used;
        *used += p.bytes;
    }
    *messages += tatp_count_messages(cycles, p.bytes);
    cycles->in_cursor[of] = after;
    s->part[s->parts++] = p;
    return true;
}

/* The next batch: contributors from s->next on that send or receive bytes of this window. */
static void cut_batch(tatp_cycles *cycles, tatp_step *s)
{
    int64_t used = 0;
    size_t messages = 0;
    s->parts = s->requests = 0;
    for (; s->next < cycles->pass->schedule->contributors; s->next++)
        if (!cycles->guest[s->next] && access_next(&cycles->in_cursor[s->next]) < s->end &&
            !take_in(cycles, s, s->next, &used, &messages))
            break;
    s->open = s->parts;
}

/* Bytes of a part before the end of file, packed where it is not in one block. */
static int64_t pack_read(tatp_cycles *cycles, const tatp_step *s, const tatp_part *p)
{
    access_cursor cursor = p->cursor;
    int64_t end = tatp_least(s->end, s->valid);
    if (p->direct)
        return access_skip(&cursor, end);
    return access_gather(&cursor, end, window_of(cycles, s)->data, tatp_window_begin(cycles, s),
                         p->packed);
}

/* A message is shorter than its receiver is ready for when the file ends before it does. */
static void start_batch(tatp_cycles *cycles, tatp_step *s)
{
    cut_batch(cycles, s);
    for (size_t i = 0; i < s->parts; i++) {
        tatp_part *p = &s->part[i];
        int rank = contributor(cycles, p->of)->rank;
        if (is_own(cycles, p->of))
            continue;
        if (cycles->pass->write)
            tatp_receive_part(cycles, s, p, rank);
        else
            tatp_send_part(cycles, s, p, pack_read(cycles, s, p), rank, false);
    }
}

static void put_in_place(tatp_cycles *cycles, const tatp_step *s, const tatp_part *p)
{
    tatp_pass *pass = cycles->pass;
    access_cursor cursor = p->cursor;
    char *window = window_of(cycles, s)->data;
    int64_t begin = tatp_window_begin(cycles, s);
    if (is_own(cycles, p->of))
        pass->moved += access_memory_to_window(pass->memory, &cursor, s->end, window, begin);
    else if (!p->direct)
        access_scatter(&cursor, s->end, window, begin, p->packed, p->bytes);
}

/* In atomic mode nobody overtakes. Contributors ascend by rank. */
static bool go_on_with_batch(tatp_cycles *cycles, tatp_step *s)
{
    size_t before = s->open;
    for (size_t i = 0; i < s->parts && s->open > 0; i++) {
        tatp_part *p = &s->part[i];
        if (p->done)
            continue;
        p->done = is_own(cycles, p->of) || tatp_part_arrived(cycles, p);
        if (!p->done && cycles->ordered)
            break;
        if (p->done && cycles->pass->write)
            put_in_place(cycles, s, p);
        s->open -= p->done;
    }
    return s->open < before;
}

/* ---- the file ---- */

/* The next stretch of the window that somebody accesses, holes up to `gap` bytes included. */
static bool take_extent(tatp_cycles *cycles, int64_t end, int64_t gap, access_piece *extent)
{
    access_piece more;
    if (!access_take_piece(&cycles->cover, end, extent))
        return false;
    while (access_next(&cycles->cover) - (extent->offset + extent->length) <= gap &&
           access_take_piece(&cycles->cover, end, &more))
        extent->length = more.offset + more.length - extent->offset;
    return true;
}

static double begin_access(tatp_cycles *cycles, const tatp_step *s)
{
    tatp_timeline_note(cycles, s->window, TATP_ACCESS_BEGINS);
    return MPI_Wtime();
}

static void end_access(tatp_cycles *cycles, const tatp_step *s, double start)
{
    cycles->pass->time.st5 += MPI_Wtime() - start;
    tatp_timeline_note(cycles, s->window, TATP_ACCESS_ENDS);
}

/* Only what was given is written: the holes between belong to others. After an error in this
 * domain nothing more is written to it. */
static void write_window(tatp_cycles *cycles, tatp_step *s)
{
    access_piece extent;
    int64_t begin = tatp_window_begin(cycles, s);
    char *data = window_of(cycles, s)->data;
    double start = begin_access(cycles, s);
    while (take_extent(cycles, s->end, 0, &extent)) {
        if (OMPI_SUCCESS == cycles->error)
            tatp_keep_error(cycles, tatp_file_write(cycles->pass, extent.offset,
                                                    extent.offset + extent.length,
                                                    data + (extent.offset - begin)));
    }
    end_access(cycles, s, start);
}

static void read_window(tatp_cycles *cycles, tatp_step *s)
{
    access_piece extent;
    int64_t begin = tatp_window_begin(cycles, s);
    char *data = window_of(cycles, s)->data;
    double start = begin_access(cycles, s);
    while (take_extent(cycles, s->end, READ_GAP, &extent)) {
        int64_t end = extent.offset + extent.length, valid = extent.offset;
        if (s->valid < s->end)
            continue;
        if (OMPI_SUCCESS == cycles->error)
            tatp_keep_error(cycles, tatp_file_read(cycles->pass, extent.offset, end,
                                                   data + (extent.offset - begin), &valid));
        if (valid < end)
            s->valid = valid;
    }
    end_access(cycles, s, start);
}

/* ---- a window ---- */

static void count_guests(tatp_cycles *cycles, tatp_step *s)
{
    for (size_t i = 0; i < cycles->pass->schedule->contributors; i++) {
        if (cycles->guest[i] && access_next(&cycles->in_cursor[i]) < s->end) {
            access_skip(&cycles->in_cursor[i], s->end);
            s->guests++;
        }
    }
}

/* Guests may copy into the window, or out of it, from now on. */
static void let_guests_in(tatp_cycles *cycles, const tatp_step *s)
{
    tatp_flags *flags = window_of(cycles, s)->flags;
    flags->valid = s->valid;
    atomic_store_explicit(&flags->done, 0, memory_order_relaxed);
    atomic_store_explicit(cycles->pass->write ? &flags->granted : &flags->ready,
                          tatp_window_name(cycles, s->window), memory_order_release);
}

static int64_t next_position(const tatp_cycles *cycles)
{
    int64_t next = ACCESS_END;
    for (size_t i = 0; i < cycles->pass->schedule->contributors; i++)
        next = tatp_least(next, access_next(&cycles->in_cursor[i]));
    return next;
}

/* A window's memory is that of the window TATP_DEPTH before it, and batches go window by window. */
static bool has_room(tatp_cycles *cycles, int64_t next)
{
    tatp_ring *ring = &cycles->in;
    if (ring->count == 0)
        return true;
    const tatp_step *first = tatp_ring_at(ring, 0), *last = tatp_ring_at(ring, ring->count - 1);
    return last->next == cycles->pass->schedule->contributors &&
           next / cycles->pass->schedule->cycle - first->window < TATP_DEPTH;
}

static bool open_window(tatp_cycles *cycles)
{
    if (cycles->in.count == TATP_DEPTH || cycles->in.all_open)
        return false;
    int64_t next = next_position(cycles);
    cycles->in.all_open = next == ACCESS_END;
    if (cycles->in.all_open || !has_room(cycles, next))
        return false;
    tatp_step *s = tatp_ring_open(&cycles->in, next, cycles->pass->schedule->cycle);
    count_guests(cycles, s);
    if (!cycles->pass->write)
        read_window(cycles, s);
    tatp_timeline_note(cycles, s->window, TATP_SHUFFLE_BEGINS);
    let_guests_in(cycles, s);
    start_batch(cycles, s);
    return true;
}

static bool go_on(tatp_cycles *cycles, tatp_step *s)
{
    bool moved = go_on_with_batch(cycles, s);
    if (s->open == 0 && s->next < cycles->pass->schedule->contributors) {
        start_batch(cycles, s);
        moved = true;
    }
    return moved;
}

static bool is_complete(tatp_cycles *cycles, const tatp_step *s)
{
    return s->open == 0 && s->next == cycles->pass->schedule->contributors &&
           atomic_load_explicit(&window_of(cycles, s)->flags->done, memory_order_acquire) ==
               s->guests;
}

static bool close_window(tatp_cycles *cycles)
{
    if (cycles->in.count == 0)
        return false;
    tatp_step *s = tatp_ring_at(&cycles->in, 0);
    if (!is_complete(cycles, s))
        return false;
    tatp_timeline_note(cycles, s->window, TATP_SHUFFLE_ENDS);
    if (cycles->pass->write)
        write_window(cycles, s);
    tatp_ring_close_first(&cycles->in);
    return true;
}

bool tatp_has_aggregated(const tatp_cycles *cycles)
{
    return cycles->in.count == 0 && cycles->in.all_open;
}

bool tatp_aggregate(tatp_cycles *cycles)
{
    bool moved = open_window(cycles);
    for (size_t i = 0; i < cycles->in.count; i++)
        moved |= go_on(cycles, tatp_ring_at(&cycles->in, i));
    moved |= close_window(cycles);
    return moved;
}
