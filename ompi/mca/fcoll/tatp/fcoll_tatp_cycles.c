/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles: data between contributors and aggregators, window by window, and the file access.
 *
 * A window is `cycle` positions of every domain. What a contributor has in a window of a domain of
 * another node is one message in each direction, packed in file order, and both sides compute its
 * length from the same runs; on the aggregator's own node the contributor copies between the window
 * and the user's buffer.
 *
 * A rank plays both roles side by side, each with up to TATP_DEPTH windows under way, and waits
 * only when neither can do anything. Windows ascend in both roles, and what a contributor does in a
 * window depends on nothing but its aggregator's having come to it: so nobody waits in a circle.
 *
 * Nothing here allocates or leaves early: an error is kept, the messages go on. */
#include "fcoll_tatp_cycles.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

void tatp_keep_error(tatp_cycles *cycles, int rc)
{
    if (OMPI_SUCCESS == cycles->error)
        cycles->error = rc;
}

/* ---- windows ---- */

tatp_step *tatp_ring_at(tatp_ring *ring, size_t i)
{
    return &ring->step[(ring->first + i) % TATP_DEPTH];
}

tatp_step *tatp_ring_open(tatp_ring *ring, int64_t next, int64_t cycle)
{
    tatp_step *s = tatp_ring_at(ring, ring->count++);
    s->parts = s->open = s->next = s->requests = 0;
    s->guests = 0;
    s->window = next / cycle;
    if (__builtin_mul_overflow(s->window + 1, cycle, &s->end))
        s->end = ACCESS_END;
    s->valid = s->end;
    return s;
}

void tatp_ring_close_first(tatp_ring *ring)
{
    ring->first = (ring->first + 1) % TATP_DEPTH;
    ring->count--;
}

int64_t tatp_window_name(const tatp_cycles *cycles, int64_t window)
{
    return cycles->sequence + window + 1;
}

int64_t tatp_window_begin(const tatp_cycles *cycles, const tatp_step *step)
{
    return step->window * cycles->pass->schedule->cycle;
}

/* ---- messages ---- */

static int64_t message_size(const tatp_cycles *cycles)
{
    return cycles->pass->module->settings.message;
}

size_t tatp_count_messages(const tatp_cycles *cycles, int64_t bytes)
{
    return (size_t)((bytes + message_size(cycles) - 1) / message_size(cycles));
}

/* Places for the part's requests. */
static void take_requests(const tatp_cycles *cycles, tatp_step *step, tatp_part *part)
{
    part->messages = tatp_count_messages(cycles, part->bytes);
    part->request = step->request + step->requests;
    step->requests += part->messages;
}

static int64_t limit(int64_t value, int64_t most)
{
    return value < 0 ? 0 : tatp_least(value, most);
}

static int send_message(tatp_cycles *cycles, tatp_part *part, size_t i, int64_t bytes, int peer,
                        bool synchronous)
{
    int64_t at = (int64_t)i * message_size(cycles),
            length = limit(bytes - at, message_size(cycles));
    cycles->pass->messages++;
    return MCA_PML_CALL(
        isend(part->packed + at, (size_t)length, MPI_BYTE, peer, TATP_TAG_DATA,
              synchronous ? MCA_PML_BASE_SEND_SYNCHRONOUS : MCA_PML_BASE_SEND_STANDARD,
              cycles->pass->fh->f_comm, &part->request[i]));
}

void tatp_send_part(tatp_cycles *cycles, tatp_step *step, tatp_part *part, int64_t bytes, int peer,
                    bool synchronous)
{
    take_requests(cycles, step, part);
    for (size_t i = 0; i < part->messages; i++) {
        bool last = i + 1 == part->messages;
        part->request[i] = NULL;
        tatp_keep_error(cycles, send_message(cycles, part, i, bytes, peer, synchronous && last));
    }
}

void tatp_receive_part(tatp_cycles *cycles, tatp_step *step, tatp_part *part, int peer)
{
    take_requests(cycles, step, part);
    for (size_t i = 0; i < part->messages; i++) {
        int64_t at = (int64_t)i * message_size(cycles);
        int64_t length = limit(part->bytes - at, message_size(cycles));
        part->request[i] = NULL;
        tatp_keep_error(cycles, MCA_PML_CALL(irecv(part->packed + at, (size_t)length, MPI_BYTE,
                                                   peer, TATP_TAG_DATA, cycles->pass->fh->f_comm,
                                                   &part->request[i])));
    }
}

bool tatp_part_arrived(tatp_cycles *cycles, tatp_part *part)
{
    ompi_status_public_t status;
    for (; part->through < part->messages; part->through++) {
        ompi_request_t **request = &part->request[part->through];
        if (NULL == *request)
            continue;
        if (!REQUEST_COMPLETE(*request))
            return false;
        int rc = tatp_wait(cycles->pass->fh, request, &status);
        if (OMPI_SUCCESS == rc)
            part->arrived += (int64_t)status._ucount;
        tatp_keep_error(cycles, rc);
    }
    return true;
}

/* ---- preparation ---- */

static void find_windows(tatp_cycles *cycles, tatp_target *t)
{
    const tatp_pass *pass = cycles->pass;
    t->local = true;
    if (t->aggregator == pass->fh->f_rank)
        memcpy(t->window, cycles->window, sizeof t->window);
    else if (cycles->shared && tatp_is_local(pass->module, t->aggregator))
        tatp_find_windows(pass, t->aggregator, t->window);
    else
        t->local = false;
}

/* The most that a target's part takes in one window. */
static int64_t largest_part(const tatp_cycles *cycles, const tatp_target *t)
{
    int64_t cycle = cycles->pass->schedule->cycle, largest = 0;
    access_cursor cursor = t->cursor;
    while (access_next(&cursor) != ACCESS_END) {
        int64_t end;
        if (__builtin_mul_overflow(access_next(&cursor) / cycle + 1, cycle, &end))
            end = ACCESS_END;
        int64_t bytes = access_skip(&cursor, end);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* In atomic mode the aggregator takes its own bytes when it is their turn. */
static bool is_contributed(const tatp_cycles *cycles, int aggregator)
{
    return !cycles->ordered || aggregator != cycles->pass->fh->f_rank;
}

static void find_targets(tatp_cycles *cycles)
{
    const tatp_schedule *schedule = cycles->pass->schedule;
    for (size_t i = 0; i < schedule->shares; i++) {
        int aggregator = schedule->decision.aggregator[schedule->share[i].domain];
        if (!is_contributed(cycles, aggregator))
            continue;
        tatp_target *t = &cycles->target[cycles->targets++];
        t->aggregator = aggregator;
        t->list = &schedule->share[i].list;
        access_cursor_init(&t->cursor, t->list);
        find_windows(cycles, t);
        if (!t->local)
            cycles->outbox_bytes += (size_t)largest_part(cycles, t);
    }
}

static int allocate(tatp_cycles *cycles)
{
    const tatp_schedule *schedule = cycles->pass->schedule;
    size_t n = schedule->contributors + 1, m = schedule->shares + 1;
    cycles->target = calloc(m, sizeof *cycles->target);
    cycles->in_cursor = calloc(n, sizeof *cycles->in_cursor);
    cycles->guest = calloc(n, sizeof *cycles->guest);
    if (NULL == cycles->target || NULL == cycles->in_cursor || NULL == cycles->guest)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (int i = 0; i < TATP_DEPTH; i++) {
        cycles->in.step[i].part = calloc(n, sizeof(tatp_part));
        cycles->out.step[i].part = calloc(m, sizeof(tatp_part));
        if (NULL == cycles->in.step[i].part || NULL == cycles->out.step[i].part)
            return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return OMPI_SUCCESS;
}

/* Contributors of this node copy by themselves, and so does this rank. */
static void find_guests(tatp_cycles *cycles)
{
    const tatp_pass *pass = cycles->pass;
    for (size_t i = 0; i < pass->schedule->contributors; i++) {
        int rank = pass->schedule->contributor[i].rank;
        if (rank == pass->fh->f_rank)
            cycles->guest[i] = !cycles->ordered;
        else
            cycles->guest[i] = cycles->shared && tatp_is_local(pass->module, rank);
        if (!cycles->guest[i])
            cycles->inbox_bytes = (size_t)pass->schedule->cycle;
    }
}

/* This rank's windows. Flags in shared memory are clear before any rank passes the agreement that
 * all are prepared. */
static void set_windows(tatp_cycles *cycles)
{
    const tatp_pass *pass = cycles->pass;
    if (!pass->schedule->aggregates)
        return;
    if (cycles->shared) {
        tatp_find_windows(pass, pass->fh->f_rank, cycles->window);
    } else {
        cycles->window_bytes = (size_t)pass->schedule->cycle;
        for (size_t i = 0; i < TATP_DEPTH; i++)
            cycles->window[i].flags = &cycles->flags[i];
    }
    for (size_t i = 0; i < TATP_DEPTH; i++)
        memset(cycles->window[i].flags, 0, sizeof *cycles->window[i].flags);
}

/* A batch ends where its messages would be more. */
static int allocate_requests(tatp_cycles *cycles)
{
    size_t message = (size_t)message_size(cycles);
    size_t out = cycles->outbox_bytes / message + cycles->targets + 1;
    cycles->in_requests = cycles->inbox_bytes / message + cycles->pass->schedule->contributors + 2;
    for (int i = 0; i < TATP_DEPTH; i++) {
        cycles->in.step[i].request = calloc(cycles->in_requests, sizeof(ompi_request_t *));
        cycles->out.step[i].request = calloc(out, sizeof(ompi_request_t *));
        if (NULL == cycles->in.step[i].request || NULL == cycles->out.step[i].request)
            return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return OMPI_SUCCESS;
}

static int find_covered(tatp_cycles *cycles)
{
    const tatp_schedule *schedule = cycles->pass->schedule;
    const access_list **lists = calloc(schedule->contributors + 1, sizeof *lists);
    if (NULL == lists)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; i < schedule->contributors; i++)
        lists[i] = &schedule->contributor[i].list;
    int rc = access_union(lists, schedule->contributors, &cycles->covered);
    free(lists);
    return tatp_from_errno(rc);
}

int tatp_cycles_prepare(tatp_pass *pass)
{
    tatp_cycles *c = pass->schedule->cycles = calloc(1, sizeof *c);
    if (NULL == c)
        return OMPI_ERR_OUT_OF_RESOURCE;
    c->pass = pass;
    c->ordered = pass->write && pass->fh->f_atomicity;
    c->shared = pass->schedule->shared && !c->ordered;
    int rc = allocate(c);
    if (OMPI_SUCCESS != rc)
        return rc;
    set_windows(c);
    find_targets(c);
    find_guests(c);
    rc = allocate_requests(c);
    if (OMPI_SUCCESS == rc)
        rc = find_covered(c);
    return OMPI_SUCCESS != rc ? rc : tatp_cycles_reserve(c);
}

void tatp_cycles_free(tatp_cycles *cycles)
{
    if (NULL == cycles)
        return;
    tatp_cycles_put_back(cycles);
    for (int i = 0; i < TATP_DEPTH; i++) {
        free(cycles->in.step[i].part);
        free(cycles->in.step[i].request);
        free(cycles->out.step[i].part);
        free(cycles->out.step[i].request);
    }
    free(cycles->target);
    free(cycles->in_cursor);
    access_release(&cycles->covered);
    free(cycles->guest);
    free(cycles);
}

/* ---- the memory of a call ---- */

/* An inbox holds one window's worth: a part is never larger, because a contributor's accesses do
 * not overlap. */
int tatp_cycles_reserve(tatp_cycles *cycles)
{
    int rc = OMPI_SUCCESS;
    if (NULL == cycles->buffers)
        cycles->buffers = tatp_buffers_take();
    if (NULL == cycles->buffers)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (int i = 0; i < TATP_DEPTH && OMPI_SUCCESS == rc; i++) {
        rc = tatp_buffer_reserve(&cycles->buffers->window[i], cycles->window_bytes);
        if (OMPI_SUCCESS == rc)
            rc = tatp_buffer_reserve(&cycles->buffers->inbox[i], cycles->inbox_bytes);
        if (OMPI_SUCCESS == rc)
            rc = tatp_buffer_reserve(&cycles->buffers->outbox[i], cycles->outbox_bytes);
    }
    return rc;
}

void tatp_cycles_put_back(tatp_cycles *cycles)
{
    tatp_buffers_put_back(cycles->buffers);
    cycles->buffers = NULL;
}

/* ---- the run ---- */

static void use_buffers(tatp_cycles *cycles)
{
    for (int i = 0; i < TATP_DEPTH; i++) {
        cycles->in.step[i].box = cycles->buffers->inbox[i].data;
        cycles->out.step[i].box = cycles->buffers->outbox[i].data;
        if (cycles->window_bytes > 0)
            cycles->window[i].data = cycles->buffers->window[i].data;
    }
}

static void rewind_cursors(tatp_cycles *cycles)
{
    const tatp_schedule *schedule = cycles->pass->schedule;
    for (size_t i = 0; i < cycles->targets; i++) {
        tatp_target *t = &cycles->target[i];
        access_cursor_init(&t->cursor, t->list);
        if (t->aggregator == cycles->pass->fh->f_rank)
            memcpy(t->window, cycles->window, sizeof t->window);
    }
    for (size_t i = 0; i < schedule->contributors; i++)
        access_cursor_init(&cycles->in_cursor[i], &schedule->contributor[i].list);
    access_cursor_init(&cycles->cover, &cycles->covered);
    cycles->out.all_open = cycles->in.all_open = false;
}

/* Every rank of a node counts alike, so that no word in a window's flags ever comes again. */
static void count_windows(tatp_cycles *cycles)
{
    cycles->sequence += tatp_window_count(cycles->pass->schedule);
}

int tatp_cycles_run(tatp_pass *pass)
{
    tatp_cycles *cycles = pass->schedule->cycles;
    double start = MPI_Wtime();
    cycles->pass = pass;
    cycles->error = OMPI_SUCCESS;
    use_buffers(cycles);
    rewind_cursors(cycles);
    tatp_timeline_start(cycles, start);
    while (!tatp_has_contributed(cycles) || !tatp_has_aggregated(cycles)) {
        bool contributed = tatp_contribute(cycles), aggregated = tatp_aggregate(cycles);
        if (!contributed && !aggregated)
            tatp_give_way(pass->fh);
    }
    count_windows(cycles);
    pass->time.st4 += MPI_Wtime() - start - pass->time.st5;
    return cycles->error;
}
