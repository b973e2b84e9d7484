/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles: data between contributors and aggregators, window by window, and the file access.
 *
 * A window is `cycle` positions of every domain; a rank goes through the windows in which it has
 * something to do, in ascending order. What a contributor has in a window of a domain of another
 * node is one message in each direction, packed in file order, and both sides compute its length
 * from the same runs. An aggregator takes the parts of a window in batches that fit its inbox. On
 * the aggregator's own node the contributor copies between the shared window and the user's buffer.
 *
 * Two windows are open at a time: the messages of the next are under way while the present one is
 * scattered and written (or while what was read is taken in). Nobody waits in a circle, because
 * every rank, in each window, first grants its own window, then fills those of others, then closes
 * the window before, and waits for its own sends last.
 *
 * Nothing here allocates or leaves early: an error is kept, the messages go on. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

#include "access/merge.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

/* Holes up to this size are read along rather than left out, bytes. */
#define READ_GAP (64 * 1024)

/* What this rank has to do with one aggregator's domain. */
typedef struct target {
    int aggregator;
    bool local;            /* `window` is shared with the aggregator, or this rank's own */
    tatp_window *window;   /* two, when local */
    tatp_window shared[2];
    const access_list *list;
    access_cursor cursor;
} target;

/* What a rank has in a window of a domain: one message, or one copy on the node. */
typedef struct part {
    size_t of;            /* index of the target or contributor */
    access_cursor cursor; /* where the part begins */
    int64_t bytes;
    char *packed;         /* where its bytes are: outbox or inbox, the user's buffer, the window */
    bool direct;          /* `packed` is the final place */
    ompi_request_t *request;
} part;

typedef struct step {
    int64_t window; /* index; -1: nothing */
    int64_t end;    /* positions below this belong to the window or an earlier one */
    part *out;      /* this rank as a contributor */
    size_t outs;
    part *in;       /* this rank as an aggregator: the present batch */
    size_t ins;
    size_t next;    /* the contributor that the next batch begins with */
    size_t guests;  /* contributors that copy by themselves */
    int64_t valid;  /* reading: positions from here on are beyond the end of file */
    tatp_window *own; /* the aggregator's buffer */
    char *inbox, *outbox;
} step;

struct tatp_cycles {
    tatp_pass *pass;
    tatp_buffers *buffers;
    bool ordered;             /* writing in atomic mode: where writes overlap, the same rank's bytes
                                 stay everywhere, so that all are put into place in order of rank */
    bool shared;              /* the windows of this node are shared */
    target *target;
    size_t targets;
    access_cursor *in_cursor; /* per contributor: the first byte not yet in an opened batch */
    access_cursor *cover;     /* per contributor: the first byte not yet written or read */
    size_t *heap;
    access_merge merge;
    bool *guest;              /* per contributor: copies by itself */
    tatp_window window[2];    /* of this rank as an aggregator, by the parity of the window's index */
    int64_t guests_in[2];     /* reading: guests that have to be done before it is filled again */
    step step[2];
    int error;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void keep_error(tatp_cycles *cycles, int rc)
{
    if (cycles->error == OMPI_SUCCESS)
        cycles->error = rc;
}

/* ---- preparation ---- */

static void find_window(tatp_cycles *cycles, target *t)
{
    const tatp_pass *pass = cycles->pass;
    if (t->aggregator == pass->fh->f_rank) {
        t->window = cycles->window;
    } else if (cycles->shared && tatp_is_local(pass->module, t->aggregator)) {
        tatp_find_window(pass, t->aggregator, t->shared);
        t->window = t->shared;
    }
    t->local = t->window != NULL;
}

static void find_targets(tatp_cycles *cycles)
{
    tatp_pass *pass = cycles->pass;
    for (size_t i = 0; i < pass->schedule->shares; i++) {
        target *t = &cycles->target[cycles->targets++];
        t->aggregator = pass->schedule->decision.aggregator[pass->schedule->share[i].domain];
        t->list = &pass->schedule->share[i].list;
        access_cursor_init(&t->cursor, t->list);
        find_window(cycles, t);
    }
}

/* The place in the user's buffer where a part lies in one piece, or NULL. Advances the cursor. */
static char *in_one_piece(const tatp_pass *pass, access_cursor *cursor, int64_t end)
{
    int64_t stream, length, more, rest;
    if (!access_take_stream(cursor, end, &stream, &length))
        return NULL;
    bool single = !access_take_stream(cursor, end, &more, &rest);
    return single ? access_memory_at(pass->memory, stream, length) : NULL;
}

/* The most that the outbox has to hold in one window: parts that are not in one piece. */
static int64_t outbox_bytes(tatp_cycles *cycles)
{
    const tatp_pass *pass = cycles->pass;
    int64_t most = 0;
    for (size_t i = 0; i < cycles->targets; i++) {
        int64_t largest = 0;
        access_cursor cursor = cycles->target[i].cursor;
        while (!cycles->target[i].local && access_next(&cursor) != ACCESS_END) {
            int64_t end = (access_next(&cursor) / pass->schedule->cycle + 1) * pass->schedule->cycle;
            access_cursor probe = cursor;
            int64_t bytes = access_skip(&cursor, end);
            if (bytes > largest && in_one_piece(pass, &probe, end) == NULL)
                largest = bytes;
        }
        most += largest;
    }
    return most;
}

static int allocate(tatp_cycles *cycles)
{
    tatp_pass *pass = cycles->pass;
    size_t n = pass->schedule->contributors + 1, m = pass->schedule->shares + 1;
    cycles->target = calloc(m, sizeof *cycles->target);
    cycles->in_cursor = calloc(n, sizeof *cycles->in_cursor);
    cycles->cover = calloc(n, sizeof *cycles->cover);
    cycles->heap = calloc(n, sizeof *cycles->heap);
    cycles->guest = calloc(n, sizeof *cycles->guest);
    if (cycles->target == NULL || cycles->in_cursor == NULL || cycles->cover == NULL ||
        cycles->heap == NULL || cycles->guest == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (int s = 0; s < 2; s++) {
        cycles->step[s].in = calloc(n, sizeof(part));
        cycles->step[s].out = calloc(m, sizeof(part));
        if (cycles->step[s].in == NULL || cycles->step[s].out == NULL)
            return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return OMPI_SUCCESS;
}

static bool is_self(const tatp_cycles *cycles, size_t contributor)
{
    const tatp_pass *pass = cycles->pass;
    return pass->schedule->contributor[contributor].rank == pass->fh->f_rank;
}

/* Contributors of this node copy by themselves, and so does this rank. */
static void find_guests(tatp_cycles *cycles)
{
    const tatp_pass *pass = cycles->pass;
    for (size_t i = 0; i < pass->schedule->contributors; i++) {
        int rank = pass->schedule->contributor[i].rank;
        cycles->guest[i] = is_self(cycles, i) ? !cycles->ordered
                                              : cycles->shared && tatp_is_local(pass->module, rank);
    }
}

static void clear_flags(tatp_flags *flags)
{
    atomic_store(&flags->granted, 0);
    atomic_store(&flags->ready, 0);
    atomic_store(&flags->done, 0);
}

/* The aggregator's windows. Their flags are clear before any rank passes the agreement that all
 * are prepared. */
static int prepare_windows(tatp_cycles *cycles, size_t bytes)
{
    tatp_pass *pass = cycles->pass;
    if (!pass->schedule->aggregates)
        return OMPI_SUCCESS;
    if (cycles->shared)
        tatp_find_window(pass, pass->fh->f_rank, cycles->window);
    for (int i = 0; i < 2; i++) {
        tatp_buffer *private = &cycles->buffers->window[i];
        if (cycles->window[i].flags != NULL) {
            clear_flags(cycles->window[i].flags);
            continue;
        }
        int rc = tatp_buffer_reserve(private, bytes);
        if (rc != OMPI_SUCCESS)
            return rc;
        cycles->window[i].data = private->data;
    }
    return OMPI_SUCCESS;
}

/* The kept buffers, as far as this call needs them. The inbox holds one window's worth: a part is
 * never larger, because a contributor's accesses do not overlap. */
static int reserve_buffers(tatp_cycles *cycles)
{
    tatp_buffers *buffers = cycles->buffers = tatp_buffers_take();
    size_t window = cycles->pass->schedule->aggregates ? (size_t)cycles->pass->schedule->cycle : 0;
    size_t outbox = (size_t)outbox_bytes(cycles);
    if (buffers == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = prepare_windows(cycles, window);
    for (int s = 0; s < 2 && rc == OMPI_SUCCESS; s++) {
        rc = tatp_buffer_reserve(&buffers->inbox[s], window);
        if (rc == OMPI_SUCCESS)
            rc = tatp_buffer_reserve(&buffers->outbox[s], outbox);
        cycles->step[s].inbox = buffers->inbox[s].data;
        cycles->step[s].outbox = buffers->outbox[s].data;
    }
    return rc;
}

int tatp_cycles_prepare(tatp_pass *pass, tatp_cycles **cycles)
{
    tatp_cycles *c = calloc(1, sizeof *c);
    *cycles = c;
    if (c == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    c->pass = pass;
    c->ordered = pass->write && pass->fh->f_atomicity;
    c->shared = pass->schedule->shared && !c->ordered;
    int rc = allocate(c);
    if (rc != OMPI_SUCCESS)
        return rc;
    find_targets(c);
    find_guests(c);
    for (size_t i = 0; i < pass->schedule->contributors; i++) {
        access_cursor_init(&c->in_cursor[i], &pass->schedule->contributor[i].list);
        access_cursor_init(&c->cover[i], &pass->schedule->contributor[i].list);
    }
    access_merge_init(&c->merge, c->cover, pass->schedule->contributors, c->heap);
    return reserve_buffers(c);
}

void tatp_cycles_free(tatp_cycles *cycles)
{
    if (cycles == NULL)
        return;
    for (int s = 0; s < 2; s++) {
        free(cycles->step[s].in);
        free(cycles->step[s].out);
    }
    tatp_buffers_put_back(cycles->buffers);
    free(cycles->target);
    free(cycles->in_cursor);
    free(cycles->cover);
    free(cycles->heap);
    free(cycles->guest);
    free(cycles);
}

/* ---- messages ---- */

static int send_part(tatp_cycles *cycles, part *p, int64_t bytes, int peer)
{
    return MCA_PML_CALL(isend(p->packed, (size_t)bytes, MPI_BYTE, peer, TATP_TAG_DATA,
                              MCA_PML_BASE_SEND_STANDARD, cycles->pass->fh->f_comm, &p->request));
}

static int receive_part(tatp_cycles *cycles, part *p, int peer)
{
    return MCA_PML_CALL(irecv(p->packed, (size_t)p->bytes, MPI_BYTE, peer, TATP_TAG_DATA,
                              cycles->pass->fh->f_comm, &p->request));
}

/* Waits for a part's message; *bytes becomes what arrived, for receives. */
static void wait_part(tatp_cycles *cycles, part *p, int64_t *bytes)
{
    ompi_status_public_t status;
    if (p->request == NULL)
        return;
    int rc = ompi_request_wait(&p->request, &status);
    if (rc == OMPI_SUCCESS && bytes != NULL)
        *bytes = (int64_t)status._ucount;
    keep_error(cycles, rc);
    p->request = NULL;
}

/* ---- this rank as a contributor ---- */

/* Copies a part out of the user's buffer, and (the first `bytes` of it) into it. */
static void pack_part(const tatp_pass *pass, const part *p, int64_t end)
{
    access_cursor cursor = p->cursor;
    int64_t stream, length, done = 0;
    while (access_take_stream(&cursor, end, &stream, &length)) {
        access_from_memory(pass->memory, stream, length, p->packed + done);
        done += length;
    }
}

static void unpack_part(const tatp_pass *pass, const part *p, int64_t end, int64_t bytes)
{
    access_cursor cursor = p->cursor;
    int64_t stream, length, done = 0;
    while (done < bytes && access_take_stream(&cursor, end, &stream, &length)) {
        length = least(length, bytes - done);
        access_to_memory(pass->memory, stream, length, p->packed + done);
        done += length;
    }
}

/* Copies a part between the user's buffer and a window of this node; when reading, as far as the
 * file reaches. Returns the bytes. */
static int64_t copy_part(const tatp_pass *pass, const part *p, const step *s, char *window,
                         int64_t valid)
{
    access_cursor cursor = p->cursor;
    int64_t begin = s->window * pass->schedule->cycle;
    if (pass->write)
        return access_memory_to_window(pass->memory, &cursor, s->end, window, begin);
    return access_window_to_memory(pass->memory, &cursor, least(s->end, valid), window, begin);
}

/* A part in a window of this node: wait for the aggregator's word, copy, say so. */
static int64_t visit(tatp_cycles *cycles, const part *p, const step *s)
{
    tatp_window *window = &cycles->target[p->of].window[s->window & 1];
    bool write = cycles->pass->write;
    tatp_wait_flag(write ? &window->flags->granted : &window->flags->ready, s->window + 1);
    int64_t bytes = copy_part(cycles->pass, p, s, window->data, window->flags->valid);
    atomic_fetch_add_explicit(&window->flags->done, 1, memory_order_release);
    return bytes;
}

static void copy_here(tatp_cycles *cycles, const part *p, const step *s)
{
    bool own = cycles->target[p->of].aggregator == cycles->pass->fh->f_rank;
    cycles->pass->moved += own ? copy_part(cycles->pass, p, s, s->own->data, s->valid)
                                : visit(cycles, p, s);
}

static bool is_visit(const tatp_cycles *cycles, const part *p)
{
    return cycles->target[p->of].local;
}

/* Cuts the window's parts out of all targets, and gives each that is a message a place. */
static void cut_outgoing(tatp_cycles *cycles, step *s)
{
    char *free_place = s->outbox;
    s->outs = 0;
    for (size_t i = 0; i < cycles->targets; i++) {
        target *t = &cycles->target[i];
        if (access_next(&t->cursor) >= s->end)
            continue;
        part *p = &s->out[s->outs++];
        access_cursor probe = t->cursor;
        *p = (part){.of = i, .cursor = t->cursor};
        p->bytes = access_skip(&t->cursor, s->end);
        if (t->local)
            continue;
        p->packed = in_one_piece(cycles->pass, &probe, s->end);
        p->direct = p->packed != NULL;
        if (!p->direct) {
            p->packed = free_place;
            free_place += p->bytes;
        }
    }
}

/* Messages first, so that they are under way while the windows of this node are filled. */
static void open_outgoing(tatp_cycles *cycles, step *s)
{
    cut_outgoing(cycles, s);
    for (size_t i = 0; i < s->outs; i++) {
        part *p = &s->out[i];
        int aggregator = cycles->target[p->of].aggregator;
        if (is_visit(cycles, p))
            continue;
        if (!cycles->pass->write) {
            keep_error(cycles, receive_part(cycles, p, aggregator));
            continue;
        }
        if (!p->direct)
            pack_part(cycles->pass, p, s->end);
        keep_error(cycles, send_part(cycles, p, p->bytes, aggregator));
    }
    for (size_t i = 0; i < s->outs && cycles->pass->write && !cycles->ordered; i++) {
        if (is_visit(cycles, &s->out[i]))
            copy_here(cycles, &s->out[i], s);
    }
}

static void close_message(tatp_cycles *cycles, part *p, const step *s)
{
    int64_t bytes = cycles->pass->write ? p->bytes : 0;
    wait_part(cycles, p, cycles->pass->write ? NULL : &bytes);
    if (!cycles->pass->write && !p->direct)
        unpack_part(cycles->pass, p, s->end, bytes);
    cycles->pass->moved += bytes;
}

static void close_outgoing(tatp_cycles *cycles, step *s)
{
    for (size_t i = 0; i < s->outs && !cycles->pass->write; i++) {
        if (is_visit(cycles, &s->out[i]))
            copy_here(cycles, &s->out[i], s);
    }
    for (size_t i = 0; i < s->outs; i++) {
        if (!is_visit(cycles, &s->out[i]))
            close_message(cycles, &s->out[i], s);
    }
}

/* ---- this rank as an aggregator ---- */

static int64_t window_begin(const tatp_cycles *cycles, const step *s)
{
    return s->window * cycles->pass->schedule->cycle;
}

/* Where the part's bytes lie in one piece in the window, or NULL. */
static char *in_one_block(const tatp_cycles *cycles, const step *s, access_cursor cursor,
                          int64_t bytes)
{
    access_piece piece;
    if (!access_take_piece(&cursor, s->end, &piece) || piece.length != bytes)
        return NULL;
    return s->own->data + (piece.offset - window_begin(cycles, s));
}

/* The part of contributor `of` in this window goes into the batch when the inbox has room for it,
 * or when it needs none. */
static bool take_in(tatp_cycles *cycles, step *s, size_t of, int64_t *used)
{
    access_cursor *cursor = &cycles->in_cursor[of];
    part p = {.of = of, .cursor = *cursor};
    access_cursor after = *cursor;
    p.bytes = access_skip(&after, s->end);
    if (!cycles->ordered)
        p.packed = in_one_block(cycles, s, *cursor, p.bytes);
    p.direct = p.packed != NULL;
    if (!p.direct && !is_self(cycles, of)) {
        if (*used + p.bytes > cycles->pass->schedule->cycle)
            return false;
        p.packed = s->inbox + *used;
        *used += p.bytes;
    }
    *cursor = after;
    s->in[s->ins++] = p;
    return true;
}

/* The next batch: contributors from s->next on that send or receive bytes of this window. */
static void cut_batch(tatp_cycles *cycles, step *s)
{
    int64_t used = 0;
    s->ins = 0;
    for (; s->next < cycles->pass->schedule->contributors; s->next++) {
        if (!cycles->guest[s->next] && access_next(&cycles->in_cursor[s->next]) < s->end &&
            !take_in(cycles, s, s->next, &used))
            return;
    }
}

static void count_guests(tatp_cycles *cycles, step *s)
{
    s->guests = 0;
    for (size_t i = 0; i < cycles->pass->schedule->contributors; i++) {
        if (cycles->guest[i] && access_next(&cycles->in_cursor[i]) < s->end) {
            access_skip(&cycles->in_cursor[i], s->end);
            s->guests += !is_self(cycles, i);
        }
    }
}

static void receive_batch(tatp_cycles *cycles, step *s)
{
    cut_batch(cycles, s);
    for (size_t i = 0; i < s->ins; i++) {
        part *p = &s->in[i];
        if (!is_self(cycles, p->of))
            keep_error(cycles,
                       receive_part(cycles, p, cycles->pass->schedule->contributor[p->of].rank));
    }
}

/* When it is this rank's turn. */
static void copy_own(tatp_cycles *cycles, const step *s)
{
    for (size_t i = 0; i < s->outs; i++) {
        if (is_visit(cycles, &s->out[i]))
            copy_here(cycles, &s->out[i], s);
    }
}

/* Contributors ascend by rank. */
static void scatter_batch(tatp_cycles *cycles, step *s)
{
    for (size_t i = 0; i < s->ins; i++) {
        part *p = &s->in[i];
        if (is_self(cycles, p->of))
            copy_own(cycles, s);
        wait_part(cycles, p, NULL);
        if (p->direct || is_self(cycles, p->of))
            continue;
        access_cursor cursor = p->cursor;
        access_scatter(&cursor, s->end, s->own->data, window_begin(cycles, s), p->packed,
                       p->bytes);
    }
}

/* Only what was given is written: the holes between belong to others. After an error in this
 * domain nothing more is written to it. */
static void write_window(tatp_cycles *cycles, step *s)
{
    int64_t lo, end, begin = window_begin(cycles, s);
    double start = MPI_Wtime();
    while (access_merge_extent(&cycles->merge, s->end, 0, &lo, &end)) {
        if (cycles->error == OMPI_SUCCESS)
            keep_error(cycles, tatp_file_write(cycles->pass, lo, end, s->own->data + (lo - begin)));
    }
    cycles->pass->time.st5 += MPI_Wtime() - start;
}

/* Contributors of this node may copy into the window from now on. */
static void grant_window(step *s)
{
    if (s->own->flags == NULL)
        return;
    atomic_store(&s->own->flags->done, 0);
    atomic_store_explicit(&s->own->flags->granted, s->window + 1, memory_order_release);
}

static void await_guests(const step *s)
{
    if (s->guests > 0)
        tatp_wait_flag(&s->own->flags->done, (int64_t)s->guests);
}

static void close_write(tatp_cycles *cycles, step *s)
{
    for (;;) {
        scatter_batch(cycles, s);
        if (s->next == cycles->pass->schedule->contributors)
            break;
        receive_batch(cycles, s);
    }
    await_guests(s);
    write_window(cycles, s);
}

static void read_window(tatp_cycles *cycles, step *s)
{
    int64_t lo, end, begin = window_begin(cycles, s);
    double start = MPI_Wtime();
    s->valid = s->end;
    while (access_merge_extent(&cycles->merge, s->end, READ_GAP, &lo, &end)) {
        int64_t valid = lo;
        if (s->valid < s->end)
            continue;
        if (cycles->error == OMPI_SUCCESS)
            keep_error(cycles, tatp_file_read(cycles->pass, lo, end,
                                              s->own->data + (lo - begin), &valid));
        if (valid < end)
            s->valid = valid;
    }
    cycles->pass->time.st5 += MPI_Wtime() - start;
}

/* Bytes of a part before the end of file, packed where it is not in one block. */
static int64_t pack_read(tatp_cycles *cycles, const step *s, const part *p)
{
    access_cursor cursor = p->cursor;
    int64_t end = least(s->end, s->valid);
    if (p->direct)
        return access_skip(&cursor, end);
    return access_gather(&cursor, end, s->own->data, window_begin(cycles, s), p->packed);
}

/* Sends the next batch. A message is shorter than its receiver is ready for when the file ends
 * before it does. */
static void send_batch(tatp_cycles *cycles, step *s)
{
    cut_batch(cycles, s);
    for (size_t i = 0; i < s->ins; i++) {
        part *p = &s->in[i];
        keep_error(cycles, send_part(cycles, p, pack_read(cycles, s, p),
                                     cycles->pass->schedule->contributor[p->of].rank));
    }
}

static void close_read(tatp_cycles *cycles, step *s)
{
    for (;;) {
        for (size_t i = 0; i < s->ins; i++)
            wait_part(cycles, &s->in[i], NULL);
        if (s->next == cycles->pass->schedule->contributors)
            break;
        send_batch(cycles, s);
    }
}

/* The guests of the window that was here before must be gone before it is filled anew. */
static void await_empty(tatp_cycles *cycles, step *s)
{
    int64_t *guests = &cycles->guests_in[s->window & 1];
    if (*guests > 0)
        tatp_wait_flag(&s->own->flags->done, *guests);
    *guests = 0;
}

static void publish_window(tatp_cycles *cycles, step *s)
{
    if (s->own->flags == NULL)
        return;
    cycles->guests_in[s->window & 1] = (int64_t)s->guests;
    s->own->flags->valid = s->valid;
    atomic_store(&s->own->flags->done, 0);
    atomic_store_explicit(&s->own->flags->ready, s->window + 1, memory_order_release);
}

static void open_incoming(tatp_cycles *cycles, step *s)
{
    s->next = s->ins = 0;
    s->own = &cycles->window[s->window & 1];
    count_guests(cycles, s);
    if (cycles->pass->write) {
        grant_window(s);
        receive_batch(cycles, s);
    } else {
        await_empty(cycles, s);
        read_window(cycles, s);
        publish_window(cycles, s);
        send_batch(cycles, s);
    }
}

/* ---- window by window ---- */

/* The lowest position that this rank has not opened yet, in any of its roles, or ACCESS_END. */
static int64_t next_position(const tatp_cycles *cycles)
{
    int64_t next = ACCESS_END;
    for (size_t i = 0; i < cycles->targets; i++)
        next = least(next, access_next(&cycles->target[i].cursor));
    for (size_t i = 0; i < cycles->pass->schedule->contributors; i++)
        next = least(next, access_next(&cycles->in_cursor[i]));
    return next;
}

static void open_own(tatp_cycles *cycles, step *s)
{
    if (cycles->pass->schedule->aggregates)
        open_incoming(cycles, s);
}

static void open_step(tatp_cycles *cycles, step *s)
{
    int64_t next = next_position(cycles), cycle = cycles->pass->schedule->cycle;
    s->window = -1;
    if (next == ACCESS_END)
        return;
    s->window = next / cycle;
    if (__builtin_mul_overflow(s->window + 1, cycle, &s->end))
        s->end = ACCESS_END;
    if (cycles->pass->write) {
        open_own(cycles, s);
        open_outgoing(cycles, s);
    } else {
        open_outgoing(cycles, s);
        open_own(cycles, s);
    }
}

static void close_step(tatp_cycles *cycles, step *s)
{
    if (cycles->pass->schedule->aggregates) {
        if (cycles->pass->write)
            close_write(cycles, s);
        else
            close_read(cycles, s);
    }
    close_outgoing(cycles, s);
}

/* A window whose parts did not fit one batch has to be finished before the next is opened, and so
 * has one whose buffer the next would use. */
static bool can_overlap(const tatp_cycles *cycles, const step *present)
{
    const tatp_schedule *schedule = cycles->pass->schedule;
    int64_t next = next_position(cycles);
    if (schedule->aggregates && present->next < schedule->contributors)
        return false;
    return next == ACCESS_END || ((next / schedule->cycle ^ present->window) & 1) != 0;
}

int tatp_cycles_run(tatp_cycles *cycles)
{
    step *present = &cycles->step[0], *following = &cycles->step[1];
    double start = MPI_Wtime();
    open_step(cycles, present);
    while (present->window >= 0) {
        step *done = present;
        bool overlap = can_overlap(cycles, present);
        if (overlap)
            open_step(cycles, following);
        close_step(cycles, present);
        if (!overlap)
            open_step(cycles, following);
        present = following;
        following = done;
    }
    cycles->pass->time.st4 += MPI_Wtime() - start - cycles->pass->time.st5;
    return cycles->error;
}
