/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges of a life, step by step: what holds after each step, and what comes of a run. */
#include <string.h>

#include "life.h"

#include "exchange/internal.h"

/* ---- messages ---- */

/* Of what is sent for a list: each cycle's bytes are cut by themselves. *most: in a cycle; *whole:
 * of contiguous bytes. */
static int64_t count_messages(const exchange *ex, const access_list *list, int64_t *most,
                              int64_t *whole)
{
    const domain_layout *layout = &ex->task.layout;
    access_cursor cursor;
    int64_t sum = 0;
    *most = *whole = 0;
    access_cursor_init(&cursor, list);
    while (access_next(&cursor) != ACCESS_END) {
        access_cursor first = cursor;
        access_piece piece = {0};
        int64_t end = (access_next(&cursor) / layout->cycle_size + 1) * layout->cycle_size,
                bytes = access_skip(&cursor, end), count = (bytes - 1) / layout->message_size + 1;
        *most = count > *most ? count : *most;
        *whole += access_take_piece(&first, end, &piece) && piece.length == bytes ? count : 0;
        sum += count;
    }
    return sum;
}

/* The messages that a rank sends in a run, and (in r->chunk_messages) without a synchronous one;
 * those that need no copy. */
static int64_t expect_messages(sim_rank *r, const exchange *ex, bool write)
{
    const sim_step *s = &r->life->step[r->step],
                   *view = &r->life->step[sim_step_of_view(r->life, r->step)];
    bool is_one_block = !s->gaps && !view->overlaps_self;
    int64_t sum[2] = {0, 0}, most, whole;
    r->whole = r->in_place = 0;
    memset(r->chunk_messages, 0, sizeof r->chunk_messages);
    for (size_t i = 0; i < ex->task.targets; i++) {
        const exchange_target *target = &ex->task.target[i];
        int64_t count = count_messages(ex, target->list, &most, &whole);
        if (target->windows.flags == NULL && target->aggregator != r->rank) {
            sum[true] += count;
            r->whole += target->bundle == NULL && is_one_block ? whole : 0;
        }
        r->chunk_messages[target->aggregator] += EXCHANGE_DEPTH * most;
    }
    for (size_t i = 0; i < ex->task.contributors; i++) {
        const exchange_contributor *contributor = &ex->task.contributor[i];
        int64_t count = count_messages(ex, &contributor->list, &most, &whole);
        if (!contributor->shared && contributor->rank != r->rank) {
            sum[false] += count;
            r->whole += ex->task.ordered ? 0 : whole;
        }
        r->chunk_messages[contributor->rank] += EXCHANGE_DEPTH * most;
    }
    return sum[write];
}

/* Every EXCHANGE_DEPTH-th chunk ends with a synchronous message, so that no rank runs ahead of
 * another one without bound; there are no more of them. */
void sim_check_ahead(sim_rank *r, int peer, bool synchronous)
{
    r->sent[peer]++;
    r->synchronous[peer] += synchronous;
    if (r->synchronous[peer] * EXCHANGE_DEPTH > r->sent[peer])
        sim_fail(r->life, "rank %d: too many synchronous messages to rank %d", r->rank, peer);
    if (++r->unsynchronised[peer] > r->chunk_messages[peer])
        sim_fail(r->life, "rank %d runs ahead of rank %d by %" PRId64 " messages", r->rank, peer,
                 r->unsynchronised[peer]);
    if (synchronous)
        r->unsynchronised[peer] = 0;
}

void sim_note_place(sim_rank *r, const char *data)
{
    const exchange *ex = r->engine;
    const char *window = ex->windows.data, *end = window + (int64_t)ex->depth * ex->windows.stride;
    r->in_place += (data >= r->byte && data < r->byte + sizeof r->byte) ||
                   (ex->task.contributors > 0 && data >= window && data < end);
}

/* ---- pieces ---- */

/* Whether a domain's pieces are counted as the bytes that are wanted have them. */
static void check_pieces(const sim_rank *r, const exchange *ex)
{
    const life *l = r->life;
    const domain_layout *layout = &ex->task.layout;
    const sim_step *view = &l->step[sim_step_of_view(l, r->step)];
    int64_t counted, merged, parts = 0, blocks = 0, length;
    unsigned char last = 0;
    if (ex->task.contributors == 0 || view->overlaps_self)
        return;
    for (int64_t p = 0; p < layout->domains->size[layout->domain]; p += length) {
        int64_t at = domains_position_to_file(layout->domains, layout->domain, p, &length) +
                     ex->run.shift - l->base;
        for (int64_t k = at < 0 ? -at : 0; k < length && at + k < SPACE; k++) {
            unsigned char mark = sim_wanted[r->step][at + k];
            blocks += mark != 0 && last == 0;
            parts += mark != 0 && mark != last;
            last = mark;
        }
    }
    exchange_count_pieces(ex, access_blocks, &counted, &merged);
    if (merged != blocks || counted < merged || (view->deal != DEAL_SHARED && counted > parts))
        sim_fail(r->life,
                 "rank %d counts %" PRId64 " pieces and %" PRId64 " merged, not %" PRId64
                 " and %" PRId64,
                 r->rank, counted, merged, parts, blocks);
}

/* A read includes the holes up to the store's limit, where a domain is one range. */
void sim_check_holes(sim_rank *r, int64_t at, int64_t bytes, int64_t moved)
{
    const exchange *ex = r->engine;
    const domain_layout *layout = &ex->task.layout;
    int64_t most = ex->run.store->most_hole, hole = 0, range;
    (void)domains_position_to_file(layout->domains, layout->domain, 0, &range);
    for (int64_t k = 0; k < bytes; k++) {
        hole = sim_wanted[r->step][at + k] == 0 ? hole + 1 : 0;
        if (hole > most)
            sim_fail(r->life, "rank %d reads a hole of more than %" PRId64 " bytes", r->rank, most);
    }
    if (range >= layout->domains->size[layout->domain] && at - r->read_to <= most)
        sim_fail(r->life, "rank %d leaves out a hole of %" PRId64 " bytes", r->rank,
                 at - r->read_to);
    r->read_to = moved == bytes ? at + bytes : NOWHERE;
}

/* ---- moments ---- */

/* A cycle's moments come in one order: reading, the access is first. */
static void note_moment(void *context, int64_t cycle, enum exchange_moment moment)
{
    static const enum exchange_moment before_write[] = {
        EXCHANGE_MOMENTS, EXCHANGE_SHUFFLE_BEGINS, EXCHANGE_SHUFFLE_ENDS, EXCHANGE_ACCESS_BEGINS};
    static const enum exchange_moment before_read[] = {
        EXCHANGE_ACCESS_ENDS, EXCHANGE_SHUFFLE_BEGINS, EXCHANGE_MOMENTS, EXCHANGE_ACCESS_BEGINS};
    sim_rank *r = context;
    const exchange_probe *probe = r->probe;
    enum exchange_moment before = (r->engine->run.write ? before_write : before_read)[moment];
    if (cycle <= r->noted[moment] || (before != EXCHANGE_MOMENTS && r->noted[before] < cycle))
        sim_fail(r->life, "rank %d: cycle %" PRId64 " is noted out of order", r->rank, cycle);
    r->noted[moment] = cycle;
    probe->note(probe->context, cycle, moment);
}

/* ---- shared memory ---- */

static uint64_t digest_windows(const exchange_windows *windows, int64_t count, uint64_t digest)
{
    for (int64_t i = 0; i < count && windows->flags != NULL; i++) {
        exchange_flags *flags = &windows->flags[i];
        digest = net_mix(digest, (uint64_t)atomic_load(&flags->granted));
        digest = net_mix(digest, (uint64_t)atomic_load(&flags->ready));
        digest = net_mix(digest, (uint64_t)atomic_load(&flags->done));
        digest = net_mix(digest, (uint64_t)flags->valid);
    }
    return digest;
}

uint64_t sim_digest_flags(const life *l, int node)
{
    uint64_t digest = 0;
    for (int i = 0; i < l->ranks; i++) {
        const exchange_task *task = &l->rank[i].engine->task;
        int64_t depth = exchange_depth(task->layout.num_cycles);
        if (sim_node_of(l, i) != node)
            continue;
        digest = digest_windows(&task->windows, depth, digest);
        for (size_t k = 0; k < task->targets; k++)
            if (task->target[k].bundle != NULL)
                digest = digest_windows(&task->target[k].bundle->windows[0], depth, digest);
    }
    return digest;
}

/* What a rank did may be seen there. */
static void wake_node(sim_rank *r)
{
    life *l = r->life;
    sim_happened(&l->order);
    for (int i = 0; i < l->ranks; i++)
        if (sim_node_of(l, i) == sim_node_of(l, r->rank))
            net_wake(&l->net, i);
}

/* ---- a run ---- */

static void check_pipeline(const sim_rank *r, exchange_pipeline *pipeline)
{
    if (pipeline->count > EXCHANGE_DEPTH)
        sim_fail(r->life, "rank %d has %zu cycles in flight", r->rank, pipeline->count);
    for (size_t i = 1; i < pipeline->count; i++)
        if (exchange_cycle_at(pipeline, i)->index <= exchange_cycle_at(pipeline, i - 1)->index)
            sim_fail(r->life, "rank %d: its cycles do not ascend", r->rank);
}

/* What is done of the cycles in flight. */
static size_t count_done(exchange_pipeline *pipeline)
{
    size_t done = 0;
    for (size_t i = 0; i < pipeline->count; i++) {
        const exchange_cycle *cycle = exchange_cycle_at(pipeline, i);
        for (size_t k = 0; k < cycle->chunks; k++)
            done += (size_t)cycle->chunk[k].completed + cycle->chunk[k].is_copied;
    }
    return done;
}

/* Where all orders are tried, a rank goes on when there may be something to do. */
static int run_steps(sim_rank *r, exchange *ex)
{
    network *n = &r->life->net;
    const exchange_transport *t = ex->run.transport;
    bool is_ordered = r->life->order.choose != NULL;
    int lost = 0;
    n->rank[r->rank].is_woken = false;
    while (!exchange_finished(ex) && lost == 0) {
        uint64_t flags = is_ordered ? sim_digest_flags(r->life, sim_node_of(r->life, r->rank)) : 0;
        size_t done = count_done(&ex->out);
        bool has_moved = exchange_step(ex);
        if (!has_moved && count_done(&ex->out) != done)
            sim_fail(r->life, "rank %d: a step did something, and says that it did not", r->rank);
        if (n->rank[r->rank].receives > (int64_t)ex->most_receives)
            sim_fail(r->life, "rank %d has too many receives posted", r->rank);
        check_pipeline(r, &ex->in);
        check_pipeline(r, &ex->out);
        if (r->lock_from != r->lock_to)
            sim_fail(r->life, "rank %d waits and holds a lock", r->rank);
        if (has_moved) {
            n->rank[r->rank].seen = net_mix(n->rank[r->rank].seen, flags);
            wake_node(r);
        }
        if (is_ordered && !exchange_finished(ex))
            net_pause(n, r->rank);
        else if (!has_moved)
            lost = t->progress(t->context);
    }
    return lost;
}

static void check_run(sim_rank *r, const exchange *ex, const exchange_result *result,
                      int64_t messages)
{
    life *l = r->life;
    bool is_short =
        ex->error == ex->task.short_error && ex->run.write && (l->fired > 0 || l->net.lost >= 0);
    if (ex->error != r->first_error && !is_short)
        sim_fail(l, "rank %d: an exchange ends with error %d, its first one was %d", r->rank,
                 ex->error, r->first_error);
    if (ex->error == 0 && result->messages != messages)
        sim_fail(l, "rank %d sent %" PRId64 " messages in an exchange, not %" PRId64, r->rank,
                 result->messages, messages);
    if (ex->error == 0 && r->in_place < r->whole)
        sim_fail(l, "rank %d copies contiguous data of %" PRId64 " messages", r->rank,
                 r->whole - r->in_place);
    if (ex->error == 0 && memcmp(r->noted, r->noted + 1, 3 * sizeof *r->noted) != 0)
        sim_fail(l, "rank %d: not all moments of an exchange were noted", r->rank);
}

int sim_drive(sim_rank *r, exchange *ex, const exchange_run *run, exchange_result *result)
{
    const net_rank *n = &r->life->net.rank[r->rank];
    const int64_t *allocated = &r->life->operations[FAULT_MEMORY][r->rank], before = *allocated;
    int64_t open = n->requests - n->ended, messages = expect_messages(r, ex, run->write);
    if (ex->sequence == 0 || r->engine != ex)
        memset(r->unsynchronised, 0, sizeof r->unsynchronised);
    r->engine = ex;
    ex->most_receives = (size_t[]){1, 2, 3, EXCHANGE_MOST_RECEIVES}[(r->rank + r->step) % 4];
    r->is_exchanging = true;
    for (int m = 0; m < EXCHANGE_MOMENTS; m++)
        r->noted[m] = -1;
    exchange_begin(ex, run);
    check_pieces(r, ex);
    int lost = run_steps(r, ex);
    if (lost != 0)
        exchange_abandon(ex, lost);
    int rc = exchange_end(ex, result);
    check_run(r, ex, result, messages);
    if (n->requests - n->ended != open)
        sim_fail(r->life, "rank %d leaves messages of an exchange", r->rank);
    if (*allocated != before)
        sim_fail(r->life, "rank %d allocates memory in an exchange", r->rank);
    r->is_exchanging = false;
    return rc;
}

/* In place of exchange_execute. Holes of a few bytes are read along. */
int __wrap_exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result);
int __wrap_exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result)
{
    sim_rank *r = run->store->context;
    const exchange_probe probe = {r, note_moment};
    exchange_store store = *run->store;
    exchange_run own = *run;
    store.most_hole = r->rank % 4 * 8;
    own.store = &store;
    own.probe = &probe;
    r->probe = run->probe;
    if (r->life->orders != NULL)
        sim_try_run(r, ex, &own);
    return sim_drive(r, ex, &own, result);
}
