/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles: data between contributors and aggregators, window by window, and the file access.
 *
 * A window is `cycle` positions of every domain; a rank goes through the windows in which it has
 * something to do, in ascending order. What a contributor has in a window of a domain is one
 * message in each direction, packed in file order, and both sides compute its length from the
 * same runs. An aggregator takes the parts of a window in batches that fit its inbox.
 *
 * Two windows are open at a time: the messages of the next are under way while the present one is
 * scattered and written (or while what was read is taken in). No rank waits for its own sends of
 * a window before it has served all receives of that window, so that nobody waits in a circle.
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
    const access_list *list;
    access_cursor cursor;
} target;

/* One message, or the aggregator's own part, of a window. */
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
    int64_t valid;  /* reading: positions from here on are beyond the end of file */
    char *window_data, *inbox, *outbox;
} step;

struct tatp_cycles {
    tatp_pass *pass;
    target *target;
    size_t targets;
    access_cursor *in_cursor; /* per contributor: the first byte not yet in an opened batch */
    access_cursor *cover;     /* per contributor: the first byte not yet written or read */
    size_t *heap;
    access_merge merge;
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

static int is_own(const tatp_cycles *cycles, const part *p)
{
    const tatp_pass *pass = cycles->pass;
    return pass->contributor[p->of].rank == pass->fh->f_rank;
}

static void find_targets(tatp_cycles *cycles)
{
    tatp_pass *pass = cycles->pass;
    for (size_t i = 0; i < pass->shares; i++) {
        int aggregator = pass->decision.aggregator[pass->share[i].domain];
        if (aggregator == pass->fh->f_rank)
            continue;
        target *t = &cycles->target[cycles->targets++];
        t->aggregator = aggregator;
        t->list = &pass->share[i].list;
        access_cursor_init(&t->cursor, t->list);
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
        while (access_next(&cursor) != ACCESS_END) {
            int64_t end = (access_next(&cursor) / pass->cycle + 1) * pass->cycle;
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
    size_t n = pass->contributors + 1, m = pass->shares + 1;
    cycles->target = calloc(m, sizeof *cycles->target);
    cycles->in_cursor = calloc(n, sizeof *cycles->in_cursor);
    cycles->cover = calloc(n, sizeof *cycles->cover);
    cycles->heap = calloc(n, sizeof *cycles->heap);
    if (cycles->target == NULL || cycles->in_cursor == NULL || cycles->cover == NULL ||
        cycles->heap == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (int s = 0; s < 2; s++) {
        cycles->step[s].in = calloc(n, sizeof(part));
        cycles->step[s].out = calloc(m, sizeof(part));
        if (cycles->step[s].in == NULL || cycles->step[s].out == NULL)
            return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return OMPI_SUCCESS;
}

/* The kept buffers, as far as this call needs them. The inbox holds one window's worth: a part is
 * never larger, because a contributor's accesses do not overlap. */
static int reserve_buffers(tatp_cycles *cycles)
{
    tatp_module *module = cycles->pass->module;
    size_t window = cycles->pass->aggregates ? (size_t)cycles->pass->cycle : 0;
    size_t outbox = (size_t)outbox_bytes(cycles);
    for (int s = 0; s < 2; s++) {
        int rc = tatp_buffer_reserve(&module->window[s], window);
        if (rc == OMPI_SUCCESS)
            rc = tatp_buffer_reserve(&module->inbox[s], window);
        if (rc == OMPI_SUCCESS)
            rc = tatp_buffer_reserve(&module->outbox[s], outbox);
        if (rc != OMPI_SUCCESS)
            return rc;
        cycles->step[s].window_data = module->window[s].data;
        cycles->step[s].inbox = module->inbox[s].data;
        cycles->step[s].outbox = module->outbox[s].data;
    }
    return OMPI_SUCCESS;
}

int tatp_cycles_prepare(tatp_pass *pass, tatp_cycles **cycles)
{
    tatp_cycles *c = calloc(1, sizeof *c);
    *cycles = c;
    if (c == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    c->pass = pass;
    int rc = allocate(c);
    if (rc != OMPI_SUCCESS)
        return rc;
    find_targets(c);
    for (size_t i = 0; i < pass->contributors; i++) {
        access_cursor_init(&c->in_cursor[i], &pass->contributor[i].list);
        access_cursor_init(&c->cover[i], &pass->contributor[i].list);
    }
    access_merge_init(&c->merge, c->cover, pass->contributors, c->heap);
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
    free(cycles->target);
    free(cycles->in_cursor);
    free(cycles->cover);
    free(cycles->heap);
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

/* Copies a part between the user's buffer and `packed`; the first `bytes` of it when reading. */
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

/* Cuts the window's parts out of all targets, and gives each a place. */
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
        p->of = i;
        p->cursor = t->cursor;
        p->bytes = access_skip(&t->cursor, s->end);
        p->packed = in_one_piece(cycles->pass, &probe, s->end);
        p->direct = p->packed != NULL;
        p->request = NULL;
        if (!p->direct) {
            p->packed = free_place;
            free_place += p->bytes;
        }
    }
}

static void open_outgoing(tatp_cycles *cycles, step *s)
{
    cut_outgoing(cycles, s);
    for (size_t i = 0; i < s->outs; i++) {
        part *p = &s->out[i];
        int aggregator = cycles->target[p->of].aggregator;
        if (!cycles->pass->write) {
            keep_error(cycles, receive_part(cycles, p, aggregator));
            continue;
        }
        if (!p->direct)
            pack_part(cycles->pass, p, s->end);
        keep_error(cycles, send_part(cycles, p, p->bytes, aggregator));
    }
}

static void close_outgoing(tatp_cycles *cycles, step *s)
{
    for (size_t i = 0; i < s->outs; i++) {
        part *p = &s->out[i];
        int64_t bytes = cycles->pass->write ? p->bytes : 0;
        wait_part(cycles, p, cycles->pass->write ? NULL : &bytes);
        if (!cycles->pass->write && !p->direct)
            unpack_part(cycles->pass, p, s->end, bytes);
        cycles->pass->moved += bytes;
    }
}

/* ---- this rank as an aggregator ---- */

static int64_t window_begin(const tatp_cycles *cycles, const step *s)
{
    return s->window * cycles->pass->cycle;
}

/* The part of contributor `of` in this window goes into the batch when the inbox has room. */
static bool take_in(tatp_cycles *cycles, step *s, size_t of, int64_t *used)
{
    access_cursor *cursor = &cycles->in_cursor[of];
    part p = {.of = of, .cursor = *cursor, .direct = false, .request = NULL};
    access_cursor after = *cursor;
    p.bytes = access_skip(&after, s->end);
    if (*used + p.bytes > cycles->pass->cycle)
        return false;
    p.packed = s->inbox + *used;
    *used += p.bytes;
    *cursor = after;
    s->in[s->ins++] = p;
    return true;
}

/* The next batch: contributors from s->next on that have bytes in this window. */
static void cut_batch(tatp_cycles *cycles, step *s)
{
    int64_t used = 0;
    s->ins = 0;
    for (; s->next < cycles->pass->contributors; s->next++) {
        if (access_next(&cycles->in_cursor[s->next]) < s->end &&
            !take_in(cycles, s, s->next, &used))
            return;
    }
}

static void receive_batch(tatp_cycles *cycles, step *s)
{
    cut_batch(cycles, s);
    for (size_t i = 0; i < s->ins; i++) {
        part *p = &s->in[i];
        if (!is_own(cycles, p))
            keep_error(cycles, receive_part(cycles, p, cycles->pass->contributor[p->of].rank));
    }
}

/* This rank's own share of the domain, for its stream positions; NULL when it has none. */
static const access_list *own_share(const tatp_pass *pass)
{
    for (size_t i = 0; i < pass->shares; i++) {
        if (pass->share[i].domain == pass->domain)
            return &pass->share[i].list;
    }
    return NULL;
}

/* Copies the aggregator's own part between the user's buffer and the inbox. */
static void copy_own(tatp_cycles *cycles, step *s, const part *p, int64_t bytes)
{
    part own = *p;
    access_cursor_init(&own.cursor, own_share(cycles->pass));
    access_skip(&own.cursor, access_next(&p->cursor));
    if (cycles->pass->write)
        pack_part(cycles->pass, &own, s->end);
    else
        unpack_part(cycles->pass, &own, s->end, bytes);
    cycles->pass->moved += bytes;
}

/* Contributors ascend by rank, batch after batch: where writes overlap, the highest rank's bytes
 * stay, however the messages arrive. */
static void scatter_batch(tatp_cycles *cycles, step *s)
{
    for (size_t i = 0; i < s->ins; i++) {
        part *p = &s->in[i];
        if (is_own(cycles, p))
            copy_own(cycles, s, p, p->bytes);
        else
            wait_part(cycles, p, NULL);
        access_cursor cursor = p->cursor;
        access_scatter(&cursor, s->end, s->window_data, window_begin(cycles, s), p->packed,
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
            keep_error(cycles, tatp_file_write(cycles->pass, lo, end, s->window_data + (lo - begin)));
    }
    cycles->pass->time.st5 += MPI_Wtime() - start;
}

static void close_write(tatp_cycles *cycles, step *s)
{
    for (;;) {
        scatter_batch(cycles, s);
        if (s->next == cycles->pass->contributors)
            break;
        receive_batch(cycles, s);
    }
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
                                              s->window_data + (lo - begin), &valid));
        if (valid < end)
            s->valid = valid;
    }
    cycles->pass->time.st5 += MPI_Wtime() - start;
}

/* Packs and sends the next batch. A message is shorter than its receiver is ready for when the
 * file ends before it does. */
static void send_batch(tatp_cycles *cycles, step *s)
{
    cut_batch(cycles, s);
    for (size_t i = 0; i < s->ins; i++) {
        part *p = &s->in[i];
        access_cursor cursor = p->cursor;
        int64_t bytes = access_gather(&cursor, least(s->end, s->valid), s->window_data,
                                      window_begin(cycles, s), p->packed);
        if (is_own(cycles, p))
            copy_own(cycles, s, p, bytes);
        else
            keep_error(cycles, send_part(cycles, p, bytes, cycles->pass->contributor[p->of].rank));
    }
}

static void close_read(tatp_cycles *cycles, step *s)
{
    for (;;) {
        for (size_t i = 0; i < s->ins; i++)
            wait_part(cycles, &s->in[i], NULL);
        if (s->next == cycles->pass->contributors)
            break;
        send_batch(cycles, s);
    }
}

static void open_incoming(tatp_cycles *cycles, step *s)
{
    s->next = 0;
    s->ins = 0;
    if (cycles->pass->write) {
        receive_batch(cycles, s);
    } else {
        read_window(cycles, s);
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
    for (size_t i = 0; i < cycles->pass->contributors; i++)
        next = least(next, access_next(&cycles->in_cursor[i]));
    return next;
}

static void open_step(tatp_cycles *cycles, step *s)
{
    int64_t next = next_position(cycles), cycle = cycles->pass->cycle;
    s->window = -1;
    if (next == ACCESS_END)
        return;
    s->window = next / cycle;
    if (__builtin_mul_overflow(s->window + 1, cycle, &s->end))
        s->end = ACCESS_END;
    open_outgoing(cycles, s);
    if (cycles->pass->aggregates)
        open_incoming(cycles, s);
}

static void close_step(tatp_cycles *cycles, step *s)
{
    if (cycles->pass->aggregates) {
        if (cycles->pass->write)
            close_write(cycles, s);
        else
            close_read(cycles, s);
    }
    close_outgoing(cycles, s);
}

/* A window whose parts did not fit one batch has to be finished before the next is opened. */
static bool batches_remain(const tatp_cycles *cycles, const step *s)
{
    return cycles->pass->aggregates && s->next < cycles->pass->contributors;
}

int tatp_cycles_run(tatp_cycles *cycles)
{
    step *present = &cycles->step[0], *following = &cycles->step[1];
    double start = MPI_Wtime();
    open_step(cycles, present);
    while (present->window >= 0) {
        step *done = present;
        bool overlap = !batches_remain(cycles, present);
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
