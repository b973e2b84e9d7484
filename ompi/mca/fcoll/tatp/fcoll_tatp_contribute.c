/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles of a rank as a contributor: its bytes between the user's buffer and the windows of the
 * domains that it touches. */
#include "fcoll_tatp_cycles.h"

/* ---- copies and messages ---- */

/* Copies a part out of the user's buffer, and (the first `bytes` of it) into it. */
static void pack_part(const tatp_pass *pass, const tatp_part *p, int64_t end)
{
    access_cursor cursor = p->cursor;
    int64_t stream, length, done = 0;
    while (access_take_stream(&cursor, end, &stream, &length)) {
        access_from_memory(pass->memory, stream, length, p->packed + done);
        done += length;
    }
}

static void unpack_part(const tatp_pass *pass, const tatp_part *p, int64_t end, int64_t bytes)
{
    access_cursor cursor = p->cursor;
    int64_t stream, length, done = 0;
    while (done < bytes && access_take_stream(&cursor, end, &stream, &length)) {
        length = tatp_least(length, bytes - done);
        access_to_memory(pass->memory, stream, length, p->packed + done);
        done += length;
    }
}

/* The place in the user's buffer where a part lies in one piece, or NULL. */
static char *in_one_piece(const tatp_pass *pass, access_cursor cursor, int64_t end)
{
    int64_t stream, length, more, rest;
    if (!access_take_stream(&cursor, end, &stream, &length))
        return NULL;
    bool single = !access_take_stream(&cursor, end, &more, &rest);
    return single ? access_memory_at(pass->memory, stream, length) : NULL;
}

/* Between the user's buffer and a window of this node; when reading, as far as the file reaches. */
static void copy_part(tatp_cycles *cycles, const tatp_part *p, const tatp_step *s,
                      const tatp_window *window)
{
    tatp_pass *pass = cycles->pass;
    access_cursor cursor = p->cursor;
    int64_t begin = tatp_window_begin(cycles, s);
    pass->moved += pass->write
                       ? access_memory_to_window(pass->memory, &cursor, s->end, window->data, begin)
                       : access_window_to_memory(pass->memory, &cursor,
                                                 tatp_least(s->end, window->flags->valid),
                                                 window->data, begin);
}

/* ---- a part ---- */

/* A part in a window of this node: once the aggregator says so, copy, and tell it. */
static bool visit(tatp_cycles *cycles, tatp_part *p, const tatp_step *s)
{
    const tatp_window *window = &cycles->target[p->of].window[(size_t)s->window % TATP_DEPTH];
    _Atomic int64_t *word = cycles->pass->write ? &window->flags->granted : &window->flags->ready;
    if (atomic_load_explicit(word, memory_order_acquire) != tatp_window_name(cycles, s->window))
        return false;
    copy_part(cycles, p, s, window);
    atomic_fetch_add_explicit(&window->flags->done, 1, memory_order_release);
    return true;
}

static bool take_messages(tatp_cycles *cycles, tatp_part *p, const tatp_step *s)
{
    bool write = cycles->pass->write;
    if (!tatp_part_arrived(cycles, p))
        return false;
    if (!write && !p->direct)
        unpack_part(cycles->pass, p, s->end, p->arrived);
    cycles->pass->moved += write ? p->bytes : p->arrived;
    return true;
}

static void start_messages(tatp_cycles *cycles, tatp_part *p, tatp_step *s)
{
    tatp_target *t = &cycles->target[p->of];
    if (!cycles->pass->write) {
        tatp_receive_part(cycles, s, p, t->aggregator);
        return;
    }
    if (!p->direct)
        pack_part(cycles->pass, p, s->end);
    bool synchronous = ++t->sent % TATP_DEPTH == 0;
    tatp_send_part(cycles, s, p, p->bytes, t->aggregator, synchronous);
}

/* ---- a window ---- */

/* The window's part of a target; a message gets its place. */
static void add_part(tatp_cycles *cycles, tatp_step *s, size_t of, char **free_place)
{
    tatp_target *t = &cycles->target[of];
    tatp_part *p = &s->part[s->parts++];
    *p = (tatp_part){.of = of, .cursor = t->cursor};
    p->bytes = access_skip(&t->cursor, s->end);
    if (t->local)
        return;
    p->packed = in_one_piece(cycles->pass, p->cursor, s->end);
    p->direct = NULL != p->packed;
    if (!p->direct) {
        p->packed = *free_place;
        *free_place += p->bytes;
    }
    start_messages(cycles, p, s);
}

static int64_t next_position(const tatp_cycles *cycles)
{
    int64_t next = ACCESS_END;
    for (size_t i = 0; i < cycles->targets; i++)
        next = tatp_least(next, access_next(&cycles->target[i].cursor));
    return next;
}

static bool open_window(tatp_cycles *cycles)
{
    if (cycles->out.count == TATP_DEPTH || cycles->out.all_open)
        return false;
    int64_t next = next_position(cycles);
    cycles->out.all_open = next == ACCESS_END;
    if (cycles->out.all_open)
        return false;
    tatp_step *s = tatp_ring_open(&cycles->out, next, cycles->pass->schedule->cycle);
    char *free_place = s->box;
    for (size_t i = 0; i < cycles->targets; i++)
        if (access_next(&cycles->target[i].cursor) < s->end)
            add_part(cycles, s, i, &free_place);
    s->open = s->parts;
    return true;
}

static bool go_on(tatp_cycles *cycles, tatp_step *s)
{
    size_t before = s->open;
    for (size_t i = 0; i < s->parts && s->open > 0; i++) {
        tatp_part *p = &s->part[i];
        if (p->done)
            continue;
        p->done = cycles->target[p->of].local ? visit(cycles, p, s) : take_messages(cycles, p, s);
        s->open -= p->done;
    }
    return s->open < before;
}

bool tatp_has_contributed(const tatp_cycles *cycles)
{
    return cycles->out.count == 0 && cycles->out.all_open;
}

bool tatp_contribute(tatp_cycles *cycles)
{
    bool moved = false;
    while (open_window(cycles))
        moved = true;
    for (size_t i = 0; i < cycles->out.count; i++)
        moved |= go_on(cycles, tatp_ring_at(&cycles->out, i));
    while (cycles->out.count > 0 && tatp_ring_at(&cycles->out, 0)->open == 0)
        tatp_ring_close_first(&cycles->out);
    return moved;
}
