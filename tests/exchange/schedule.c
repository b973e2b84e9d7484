/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the ranks and the network in a random order until all ranks have finished all runs, and
 * checks after every step what holds at any time. */
#include "orders.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/internal.h"

enum { STEPS = 20000000 }; /* of a schedule: more are an endless loop */
enum { NESTING = 4 };

/* ---- which ranks may have something to do ---- */

void sim_wake(simulation *sim, int rank)
{
    sim->rank[rank].dirty = true;
}

/* What a rank did may be seen in shared memory. */
static void wake_node(simulation *sim, const sim_rank *r)
{
    for (int i = 0; i < sim->ranks; i++)
        if (sim->rank[i].node == r->node)
            sim_wake(sim, i);
}

static bool may_step(const sim_rank *r)
{
    return r->dirty && !r->finished && !r->in_step;
}

/* ---- what holds at any time ---- */

static void check_pipeline(simulation *sim, const sim_rank *r, exchange_pipeline *pipeline)
{
    if (pipeline->count > EXCHANGE_DEPTH) {
        sim_fail(sim, "rank %d has %zu cycles in flight", r->rank, pipeline->count);
        return;
    }
    for (size_t i = 1; i < pipeline->count; i++)
        if (exchange_cycle_at(pipeline, i)->index <= exchange_cycle_at(pipeline, i - 1)->index)
            sim_fail(sim, "rank %d: its cycles do not ascend", r->rank);
}

/* Modulo 2^64. */
static void check_flag(simulation *sim, const sim_rank *r, int64_t now, int64_t *before)
{
    if ((int64_t)((uint64_t)now - (uint64_t)*before) < 0)
        sim_fail(sim, "rank %d: a window's flag falls from %" PRId64 " to %" PRId64, r->rank,
                 *before, now);
    *before = now;
}

static void check_flags(simulation *sim, sim_rank *r)
{
    for (int w = 0; w < EXCHANGE_DEPTH && r->shares_windows; w++) {
        exchange_flags *flags = r->window[w].flags;
        check_flag(sim, r, atomic_load(&flags->granted), &r->granted[w]);
        check_flag(sim, r, atomic_load(&flags->ready), &r->ready[w]);
        if (atomic_load(&flags->done) > (int64_t)r->contributors)
            sim_fail(sim, "rank %d: more copies to a window than contributors", r->rank);
    }
}

/* Of what a rank of this rank's node carries for it. */
static void check_bundles(simulation *sim, const sim_rank *r)
{
    for (size_t j = 0; sim->bundle != NULL && j < sim->domains.count; j++) {
        sim_bundle *bundle = &sim->bundle[j * (size_t)sim->nodes + (size_t)r->node];
        for (int w = 0; w < EXCHANGE_DEPTH && bundle->ranks > 0; w++) {
            check_flag(sim, r, atomic_load(&bundle->flags[w].granted), &bundle->granted[w]);
            check_flag(sim, r, atomic_load(&bundle->flags[w].ready), &bundle->ready[w]);
            if (atomic_load(&bundle->flags[w].done) >= (int64_t)bundle->ranks)
                sim_fail(sim, "rank %d: more copies to a carrier's windows than members", r->rank);
        }
    }
}

static uint64_t digest_windows(const exchange_window *window, uint64_t digest)
{
    for (int w = 0; w < EXCHANGE_DEPTH; w++) {
        exchange_flags *flags = window[w].flags;
        digest = sim_mix(digest, (uint64_t)atomic_load(&flags->granted));
        digest = sim_mix(digest, (uint64_t)atomic_load(&flags->ready));
        digest = sim_mix(digest, (uint64_t)atomic_load(&flags->done));
        digest = sim_mix(digest, (uint64_t)flags->valid);
    }
    return digest;
}

uint64_t sim_flags_digest(const simulation *sim, int node)
{
    uint64_t digest = 0;
    for (int i = 0; i < sim->ranks; i++)
        if (sim->rank[i].node == node && sim->rank[i].shares_windows)
            digest = digest_windows(sim->rank[i].window, digest);
    for (size_t j = 0; sim->bundle != NULL && j < sim->domains.count; j++) {
        const sim_bundle *bundle = &sim->bundle[j * (size_t)sim->nodes + (size_t)node];
        if (bundle->ranks > 0)
            digest = digest_windows(bundle->window, digest);
    }
    return digest;
}

static void check_rank(simulation *sim, sim_rank *r)
{
    check_pipeline(sim, r, &r->ex->in);
    check_pipeline(sim, r, &r->ex->out);
    check_flags(sim, r);
    check_bundles(sim, r);
    if (r->locked != r->unlocked)
        sim_fail(sim, "rank %d waits and holds a lock", r->rank);
}

/* A cycle's moments come in one order: reading, the access is first. */
static void note_moment(void *context, int64_t cycle, enum exchange_moment moment)
{
    static const enum exchange_moment before_write[] = {
        EXCHANGE_MOMENTS, EXCHANGE_SHUFFLE_BEGINS, EXCHANGE_SHUFFLE_ENDS, EXCHANGE_ACCESS_BEGINS};
    static const enum exchange_moment before_read[] = {
        EXCHANGE_ACCESS_ENDS, EXCHANGE_SHUFFLE_BEGINS, EXCHANGE_MOMENTS, EXCHANGE_ACCESS_BEGINS};
    sim_rank *r = context;
    simulation *sim = r->sim;
    enum exchange_moment before = (sim->write[r->run] ? before_write : before_read)[moment];
    if (cycle <= r->noted[moment] || (before != EXCHANGE_MOMENTS && r->noted[before] < cycle))
        sim_fail(sim, "rank %d: cycle %" PRId64 " is noted out of order", r->rank, cycle);
    r->noted[moment] = cycle;
}

static bool is_probed(const simulation *sim)
{
    return sim->seed % 2 == 0;
}

/* ---- runs ---- */

static void begin_run(simulation *sim, sim_rank *r)
{
    exchange_run run = {
        .write = sim->write[r->run],
        .memory = &r->memory[r->run].buffer,
        .shift = sim->shift[r->run],
        .transport = &sim->transport[r->rank],
        .store = &sim->store[r->rank],
        .probe = is_probed(sim) ? &r->probe : NULL,
    };
    r->first_fault = 0;
    r->domain_failed = false;
    r->locked = r->unlocked = 0;
    r->begun = true;
    r->probe = (exchange_probe){r, note_moment};
    for (int m = 0; m < EXCHANGE_MOMENTS; m++)
        r->noted[m] = -1;
    if (exchange_reserve(r->ex, r->buffers) != 0)
        sim_fail(sim, "no memory");
    sim_trace(sim, "rank %d begins run %d", r->rank, r->run);
    exchange_begin(r->ex, &run);
}

/* All moments of the last cycle were noted. */
static void check_moments(simulation *sim, const sim_rank *r)
{
    int64_t end = 0;
    for (size_t i = 0; i < r->contributors; i++) {
        int64_t upper = access_upper(&r->contributor[i].list);
        end = upper > end ? upper : end;
    }
    int64_t last = end == 0 ? -1 : (end - 1) / sim->cycle_size;
    for (int m = 0; m < EXCHANGE_MOMENTS; m++)
        if (r->noted[m] != last)
            sim_fail(sim, "rank %d: moment %d was noted until cycle %" PRId64, r->rank, m,
                     r->noted[m]);
}

static void check_run(simulation *sim, sim_rank *r)
{
    if (is_probed(sim) && !sim->vanished)
        check_moments(sim, r);
    sim_check_result(sim, r, r->rc, &r->result);
    sim_check_memory(sim, r);
}

/* The ranks agree that all of them have ended a run before the next one begins. */
static void agree(simulation *sim)
{
    for (int i = 0; i < sim->ranks; i++)
        if (!sim->rank[i].finished)
            return;
    for (int i = 0; i < sim->ranks; i++)
        if (!(sim->vanished && i == sim->victim))
            check_run(sim, &sim->rank[i]);
    sim_check_file(sim);
    sim->reported = 0;
    sim_trace(sim, "all ranks have ended run %d", sim->rank[0].run);
    if (sim->rank[0].run + 1 == sim->runs || sim->vanished)
        return;
    sim_expect_run(sim, sim->rank[0].run + 1);
    if (sim_chance(sim, 1, 6))
        sim_renew(sim);
    for (int i = 0; i < sim->ranks; i++) {
        sim_rank *r = &sim->rank[i];
        r->run++;
        r->finished = r->begun = false;
        r->dirty = true;
    }
}

static void end_run(simulation *sim, sim_rank *r)
{
    r->rc = exchange_end(r->ex, &r->result);
    r->finished = true;
    sim_trace(sim, "rank %d ends run %d", r->rank, r->run);
    if (sim->agreed) {
        agree(sim);
        return;
    }
    check_run(sim, r);
    if (r->run + 1 == sim->runs)
        return;
    r->run++;
    r->finished = r->begun = false;
}

/* ---- a rank that vanishes ---- */

/* It was in a call of its transport or store. */
static void vanish(simulation *sim, sim_rank *r)
{
    sim_trace(sim, "rank %d vanishes", r->rank);
    sim_network_vanish(sim);
    sim->reported++;
    r->in_step = false;
    r->finished = true;
    for (int i = 0; i < sim->ranks; i++)
        sim_wake(sim, i);
    agree(sim);
}

static void learn(simulation *sim, sim_rank *r)
{
    sim_trace(sim, "rank %d learns that rank %d has vanished", r->rank, sim->victim);
    r->knows = true;
    sim_wake(sim, r->rank);
}

/* What exchange_execute does after a step that did nothing. */
static bool abandon(simulation *sim, sim_rank *r)
{
    const exchange_transport *t = &sim->transport[r->rank];
    int lost = exchange_finished(r->ex) ? 0 : t->progress(t->context);
    if (lost != 0)
        exchange_abandon(r->ex, lost);
    return lost != 0;
}

/* ---- the order of steps ---- */

static bool step_rank(simulation *sim, sim_rank *r)
{
    if (r->rank == sim->victim && setjmp(sim->end_of_victim) != 0) {
        vanish(sim, r);
        return true;
    }
    if (sim->vanished && !r->knows && sim_chance(sim, 1, 8))
        learn(sim, r);
    if (!r->begun)
        begin_run(sim, r);
    r->calls = 0;
    r->dirty = false;
    r->in_step = true;
    uint64_t flags = sim->orders != NULL ? sim_flags_digest(sim, r->node) : 0;
    bool moved = exchange_step(r->ex) || abandon(sim, r);
    r->in_step = false;
    check_rank(sim, r);
    if (moved) {
        r->seen = sim_mix(r->seen, flags);
        wake_node(sim, r);
    }
    if (exchange_finished(r->ex) && sim->failure == NULL) {
        end_run(sim, r);
        r->dirty = moved = true;
    }
    return moved;
}

/* A rank that may have something to do, from a random one on; NULL: none. */
static sim_rank *choose_rank(simulation *sim)
{
    int first = (int)pick(&sim->state, 0, sim->ranks - 1), slow = sim->slow;
    bool spurious = sim_chance(sim, 1, 16), patient = sim_chance(sim, 31, 32);
    sim_rank *found = NULL;
    for (int i = 0; i < sim->ranks; i++) {
        sim_rank *r = &sim->rank[(first + i) % sim->ranks];
        if (may_step(r) && !(r->rank == slow && patient))
            return r;
        if (may_step(r) ||
            (spurious && !r->finished && !r->in_step && found == NULL && r->rank != slow))
            found = r;
    }
    return found != NULL && (may_step(found) || sim->events > 0) ? found : NULL;
}

static bool all_finished(const simulation *sim)
{
    for (int i = 0; i < sim->ranks; i++)
        if (!sim->rank[i].finished)
            return false;
    return true;
}

/* Nothing can happen any more: no event, and no rank that can do anything. If one still can, a step
 * that let it go on returned false; after a fault that may be. */
static void check_deadlock(simulation *sim)
{
    bool moved = false;
    for (int i = 0; i < sim->ranks; i++) {
        sim_rank *r = &sim->rank[i];
        if (sim->vanished && !r->knows)
            learn(sim, r);
        if (!r->finished)
            moved |= step_rank(sim, r);
    }
    if (moved && sim->failure == NULL && !sim_may_fail(sim))
        sim_fail(sim, "a rank can go on though no step did anything");
    if (!moved && sim->events == 0 && !all_finished(sim) && sim->failure == NULL)
        sim_fail(sim, "deadlock");
}

/* The nth of the events that matter; sim->events: there are not so many. */
static size_t find_event(const simulation *sim, size_t nth)
{
    size_t i = 0;
    while (i < sim->events && (!sim_network_matters(sim, i) || nth-- > 0))
        i++;
    return i;
}

/* Any rank that may have something to do, or any event. */
static void step_by_choice(simulation *sim)
{
    sim_rank *rank[MAX_RANKS];
    size_t ranks = 0, events = 0;
    for (int i = 0; i < sim->ranks; i++)
        if (may_step(&sim->rank[i]))
            rank[ranks++] = &sim->rank[i];
    while (find_event(sim, events) < sim->events)
        events++;
    if (ranks + events == 0) {
        check_deadlock(sim);
        return;
    }
    size_t choice = sim_choose(sim, ranks + events);
    if (choice < ranks)
        step_rank(sim, rank[choice]);
    else
        sim_network_take(sim, find_event(sim, choice - ranks));
}

static void step_at_random(simulation *sim)
{
    sim_rank *r = choose_rank(sim);
    bool event = sim->events > 0 &&
                 (r == NULL || r->rank == sim->slow || sim_chance(sim, sim->event_share, 8));
    if (event)
        sim_network_event(sim);
    else if (r == NULL && sim->nesting == 0)
        check_deadlock(sim);
    else if (r != NULL)
        while (step_rank(sim, r) && sim->bursts && !r->finished && sim->failure == NULL)
            ;
}

static void step_once(simulation *sim)
{
    if (sim->orders != NULL)
        step_by_choice(sim);
    else
        step_at_random(sim);
}

void sim_interrupt(simulation *sim)
{
    if (sim->nesting == NESTING || sim->failure != NULL || !sim_chance(sim, sim->interruptions, 16))
        return;
    sim->nesting++;
    for (int64_t steps = pick(&sim->state, 1, 4); steps > 0 && sim->failure == NULL; steps--)
        step_once(sim);
    sim->nesting--;
}

/* ---- a schedule ---- */

static void prepare_model(simulation *sim)
{
    sim->file = malloc(sim->cells);
    sim->old = malloc(sim->cells);
    sim->model = malloc(sim->cells);
    sim->covered = calloc(sim->cells, sizeof *sim->covered);
    sim->written = malloc(sim->cells);
    memset(sim->written, -1, sim->cells);
    for (size_t i = 0; i < sim->cells; i++)
        sim->file[i] = (char)next_random(&sim->state);
    memcpy(sim->old, sim->file, sim->cells);
    memcpy(sim->model, sim->file, sim->cells);
    sim->model_end = sim->end_of_file;
    for (int i = 0; i < sim->ranks; i++)
        for (size_t b = 0; b < sim->rank[i].blocks; b++)
            memset(sim->covered + sim_cell(sim, sim->rank[i].block[b].offset), 1,
                   (size_t)sim->rank[i].block[b].length);
}

/* What the network still does after the last rank has finished, and what must be left then. */
static void end_schedule(simulation *sim)
{
    while (sim->events > 0 && sim->failure == NULL)
        sim_network_event(sim);
    if (sim->failure == NULL)
        sim_network_check(sim);
    if (sim->failure == NULL && !sim->agreed)
        sim_check_file(sim);
}

void sim_run(simulation *sim)
{
    bool known = false;
    prepare_model(sim);
    sim_expect_messages(sim);
    sim_network_init(sim);
    sim_store_init(sim);
    for (int k = 0; k < (sim->agreed ? 1 : sim->runs); k++)
        sim_expect_run(sim, k);
    for (int i = 0; i < sim->ranks; i++)
        sim->rank[i].dirty = true;
    for (int64_t step = 0; !known && !all_finished(sim) && sim->failure == NULL; step++) {
        if (step == STEPS)
            sim_fail(sim, "no end after %d steps", STEPS);
        step_once(sim);
        known = sim->orders != NULL && sim_is_known(sim);
    }
    if (!known)
        end_schedule(sim);
    sim_network_release(sim);
}
