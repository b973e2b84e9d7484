/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws a schedule: who accesses what, domains, nodes, the order of events and the faults. */
#include "orders.h"

#include <stdlib.h>
#include <string.h>

#include "access/access.h"

enum { EXTENT_LIMIT = 300000 }; /* bytes of a cycle buffer */

static int64_t draw(simulation *sim, int64_t low, int64_t high)
{
    return pick(&sim->state, low, high);
}

bool sim_chance(simulation *sim, int64_t of, int64_t all)
{
    if (sim->orders != NULL)
        return of >= all || (of > 0 && sim_choose(sim, 2) == 1);
    return draw(sim, 1, all) <= of;
}

/* Mostly small. */
static int64_t draw_small(simulation *sim, int64_t low, int64_t high)
{
    int64_t most = high;
    while (most > low + 3 && sim_chance(sim, 1, 2))
        most = low + (most - low) / 2;
    return draw(sim, low, most);
}

/* ---- the accessed bytes ---- */

static void draw_sizes(simulation *sim)
{
    bool large = sim_chance(sim, 1, 200);
    sim->ranks = (int)draw(sim, 2, sim_chance(sim, 1, 8) ? 16 : 6);
    if (sim_chance(sim, 1, 60))
        sim->ranks = (int)draw(sim, 17, MAX_RANKS);
    sim->bytes = draw_small(sim, 1, large ? 60000 : 500);
    if (sim->ranks > 16)
        sim->bytes += draw(sim, 0, 1000);
    sim->wide = sim_chance(sim, 1, 50);
    if (sim->small) {
        sim->ranks = (int)draw(sim, 2, 3);
        sim->bytes = draw(sim, 1, 6);
        sim->wide = false;
    }
    sim->overlap = OVERLAP_NONE;
    if (sim_chance(sim, 1, 3))
        sim->overlap = sim_chance(sim, 1, 2) ? OVERLAP_READS : OVERLAP_ORDERED;
}

static int64_t draw_gap(simulation *sim)
{
    switch (sim->wide ? 1 : draw(sim, 0, 3)) {
    case 0: return draw(sim, 1, 300);
    case 1: return draw(sim, 65000, 66000); /* about the largest hole that is read along */
    case 2: return draw(sim, 1, 1 << 24);
    default: return draw(sim, 1, INT64_C(1) << 60);
    }
}

static void draw_islands(simulation *sim)
{
    int64_t rest = sim->bytes, offset = 0;
    sim->islands = sim_chance(sim, 3, 5) && !sim->wide ? 1 : (int)draw(sim, 1, MAX_ISLANDS);
    if (sim_chance(sim, 1, 2))
        offset = draw(sim, 0, sim_chance(sim, 1, 4) ? INT64_C(1) << 60 : 10000);
    sim->cells = 0;
    for (int i = 0; i < sim->islands; i++) {
        int64_t length = i + 1 == sim->islands ? rest : draw(sim, 0, rest);
        sim->island[i] = (sim_island){offset, length, sim->cells};
        sim->cells += (size_t)(length + MAX_SHIFT);
        offset += length + MAX_SHIFT + draw_gap(sim);
        rest -= length;
    }
    offset = sim->island[0].offset;
    sim->base_shift = 0;
    if (sim_chance(sim, 1, 6))
        sim->base_shift = draw(sim, -offset, (INT64_C(1) << 61) - 1);
}

static void append_block(sim_rank *r, int64_t offset, int64_t length)
{
    sim_block *last = r->blocks > 0 ? &r->block[r->blocks - 1] : NULL;
    if (last != NULL && last->offset + last->length == offset) {
        last->length += length;
        return;
    }
    if (r->blocks == r->capacity) {
        r->capacity = r->capacity * 2 + 8;
        r->block = realloc(r->block, r->capacity * sizeof *r->block);
    }
    r->block[r->blocks++] = (sim_block){offset, length, 0};
}

/* Bytes [at, at + length) of all islands' bytes, up to the last one. */
static void append_bytes(simulation *sim, int rank, int64_t at, int64_t length)
{
    int64_t begin = 0;
    for (int i = 0; i < sim->islands; i++) {
        const sim_island *island = &sim->island[i];
        int64_t lo = at > begin ? at - begin : 0, hi = at + length - begin;
        hi = hi < island->length ? hi : island->length;
        if (lo < hi)
            append_block(&sim->rank[rank], island->offset + lo, hi - lo);
        begin += island->length;
    }
}

static int draw_rank(simulation *sim)
{
    return (int)draw(sim, 0, sim->ranks - 1);
}

/* A contiguous piece for each rank, some of which are empty. */
static void draw_pieces(simulation *sim)
{
    int first = draw_rank(sim);
    int64_t at = 0;
    for (int i = 0; i < sim->ranks; i++) {
        int64_t even = sim->bytes / sim->ranks + 1;
        int64_t length = sim_chance(sim, 1, 6) ? draw(sim, 0, sim->bytes) : even;
        append_bytes(sim, (first + i) % sim->ranks, at, length);
        at += length;
    }
}

/* Records in turn, of some ranks and with gaps. */
static void draw_records(simulation *sim)
{
    int64_t record = draw_small(sim, 1, 40), gap = sim_chance(sim, 1, 2) ? 0 : draw(sim, 1, 20);
    int64_t missing = sim_chance(sim, 1, 2) ? 0 : draw(sim, 1, 6);
    int members = (int)draw(sim, 1, sim->ranks);
    int64_t i = 0;
    for (int64_t at = 0; at < sim->bytes; at += record + gap)
        if (!sim_chance(sim, missing, 8))
            append_bytes(sim, (int)(i++ % members), at, record);
}

/* A part of each row for each rank. */
static void draw_grid(simulation *sim)
{
    int columns = (int)draw(sim, 1, sim->ranks), rows = sim->ranks / columns;
    int64_t width = draw_small(sim, 1, 30), bands = sim->bytes / (width * columns) / rows + 1;
    for (int64_t row = 0; row < bands * rows; row++)
        for (int c = 0; c < columns; c++)
            append_bytes(sim, (int)(row / bands) * columns + c, (row * columns + c) * width, width);
}

static void draw_scattered(simulation *sim)
{
    int64_t most = draw_small(sim, 1, 60);
    for (int64_t at = 0, length; at < sim->bytes; at += length) {
        length = draw(sim, 1, most);
        if (!sim_chance(sim, 1, 5))
            append_bytes(sim, draw_rank(sim), at, length);
    }
}

static void draw_of_one(simulation *sim, int rank)
{
    int64_t most = draw_small(sim, 1, 100), gap = draw_small(sim, 0, 40);
    for (int64_t at = 0, length; at < sim->bytes; at += length + draw(sim, 0, gap)) {
        length = draw(sim, 1, most);
        append_bytes(sim, rank, at, length);
    }
}

static void draw_accesses(simulation *sim)
{
    if (sim->overlap != OVERLAP_NONE) {
        for (int i = 0; i < sim->ranks; i++)
            if (!sim_chance(sim, 1, 6))
                draw_of_one(sim, i);
        return;
    }
    switch (draw(sim, 0, 6)) {
    case 0: draw_pieces(sim); break;
    case 1: draw_grid(sim); break;
    case 2: draw_of_one(sim, draw_rank(sim)); break;
    case 3:
    case 4: draw_scattered(sim); break;
    default: draw_records(sim); break;
    }
}

/* The stream in the order of the file, or in any order and with gaps. */
static void draw_stream(simulation *sim, sim_rank *r)
{
    bool any = sim_chance(sim, 1, 6);
    size_t *turn = calloc(r->blocks + 1, sizeof *turn);
    for (size_t i = 0; i < r->blocks; i++) {
        size_t other = any ? (size_t)draw(sim, 0, (int64_t)i) : i;
        turn[i] = turn[other];
        turn[other] = i;
    }
    for (size_t i = 0; i < r->blocks; i++) {
        sim_block *block = &r->block[turn[i]];
        r->stream_end += any && sim_chance(sim, 1, 4) ? draw(sim, 1, 9) : 0;
        block->stream = r->stream_end;
        r->stream_end += block->length;
        r->bytes += block->length;
    }
    free(turn);
    for (size_t i = 0; i < r->blocks; i++)
        access_append(&r->list, r->block[i].offset, r->block[i].length, r->block[i].stream);
}

/* ---- domains ---- */

static size_t *draw_domain_of(simulation *sim, size_t count)
{
    size_t *of = calloc(sim->columns, sizeof *of);
    for (size_t i = 0; i < sim->columns; i++)
        of[i] = (size_t)draw(sim, 0, (int64_t)count - 1);
    return of;
}

static void draw_striped(simulation *sim, int64_t lo, int64_t hi, size_t count)
{
    sim->unit = draw_small(sim, 1, (hi - lo) / 2 + 1);
    sim->columns = count;
    if (sim_chance(sim, 1, 2)) {
        sim->columns = (size_t)draw(sim, 1, 2 * (int64_t)count);
        sim->domain_of = draw_domain_of(sim, count);
    }
    domains_striped(&sim->domains, lo, hi, sim->unit, sim->domain_of, sim->columns, count);
}

static void draw_units(simulation *sim, int64_t lo, int64_t hi, size_t count)
{
    int64_t units = draw_small(sim, 1, 30);
    sim->unit = (hi - lo) / units + 1;
    sim->unit_base =
        sim_chance(sim, 1, 2) ? lo : draw(sim, lo < sim->unit ? 0 : lo - sim->unit, lo);
    int64_t first = (lo - sim->unit_base) / sim->unit;
    sim->columns = (size_t)((hi - 1 - sim->unit_base) / sim->unit - first + 1);
    sim->domain_of = draw_domain_of(sim, count);
    domains_from_units(&sim->domains, lo, hi, sim->unit_base, sim->unit, sim->domain_of, count);
}

static void draw_domains(simulation *sim)
{
    int64_t lo = ACCESS_END, hi = 0;
    for (int i = 0; i < sim->ranks; i++) {
        const sim_rank *r = &sim->rank[i];
        if (r->blocks > 0) {
            const sim_block *last = &r->block[r->blocks - 1];
            lo = r->block[0].offset < lo ? r->block[0].offset : lo;
            hi = last->offset + last->length > hi ? last->offset + last->length : hi;
        }
    }
    if (hi == 0)
        lo = hi = sim->island[0].offset;
    size_t count = (size_t)draw_small(sim, 1, sim->ranks);
    sim->domains_kind = hi > lo ? (enum sim_domains)draw(sim, 0, 2) : DOMAINS_EVEN;
    if (sim->domains_kind == DOMAINS_EVEN)
        domains_even(&sim->domains, lo, hi, count,
                     sim_chance(sim, 1, 2) ? 1 : draw_small(sim, 1, 4096));
    else if (sim->domains_kind == DOMAINS_STRIPED)
        draw_striped(sim, lo, hi, count);
    else
        draw_units(sim, lo, hi, count);
}

/* About as many cycles as a schedule should have; a buffer of at most EXTENT_LIMIT bytes. */
static void draw_cycles(simulation *sim)
{
    int64_t largest = 1, cycles = draw_small(sim, 1, 40);
    int64_t share = sim->bytes / (int64_t)sim->domains.count + 1;
    for (size_t j = 0; j < sim->domains.count; j++)
        largest = sim->domains.size[j] > largest ? sim->domains.size[j] : largest;
    sim->cycle_size = share / cycles + draw(sim, 1, 3);
    if (sim->wide)
        sim->cycle_size = draw(sim, 1 << 16, EXTENT_LIMIT);
    sim->num_cycles = (largest - 1) / sim->cycle_size + 1;
    sim->message_size = sim->cycle_size / draw_small(sim, 1, 9) + draw(sim, 1, 2);
    if (sim_chance(sim, 1, 4))
        sim->message_size += draw(sim, 1, 2 * sim->cycle_size);
}

/* ---- ranks, nodes and tasks ---- */

static void draw_aggregators(simulation *sim)
{
    int order[MAX_RANKS];
    for (int i = 0; i < sim->ranks; i++) {
        int other = (int)draw(sim, 0, i);
        order[i] = order[other];
        order[other] = i;
    }
    sim->aggregator = calloc(sim->domains.count, sizeof *sim->aggregator);
    for (size_t j = 0; j < sim->domains.count; j++) {
        sim->aggregator[j] = order[j];
        if (sim->domains.size[j] == 0)
            continue;
        sim->rank[order[j]].aggregates = true;
        sim->rank[order[j]].domain = j;
    }
}

static void draw_nodes(simulation *sim)
{
    bool shared = sim->overlap != OVERLAP_ORDERED && sim_chance(sim, 1, 2);
    sim->nodes = (int)draw_small(sim, 1, sim->ranks);
    for (int i = 0; i < sim->ranks; i++) {
        sim_rank *r = &sim->rank[i];
        r->node = (int)draw(sim, 0, sim->nodes - 1);
        r->shares_windows = shared && r->aggregates;
        for (int w = 0; w < EXCHANGE_DEPTH && r->shares_windows; w++)
            r->window[w] = (exchange_window){&r->flags[w], malloc((size_t)sim->cycle_size)};
    }
}

static bool meet_in_memory(const sim_rank *r, const sim_rank *aggregator)
{
    return aggregator->shares_windows && r->node == aggregator->node;
}

/* The runs as their aggregator knows them: it knows its own stream only. */
static void copy_list(const access_list *from, access_list *to, bool own)
{
    for (size_t i = 0; i < from->count; i++) {
        access_run run = from->run[i];
        run.stream = own ? run.stream : to->bytes;
        access_append_run(to, &run);
    }
}

static void add_targets(simulation *sim, sim_rank *r)
{
    domains_cut(&sim->domains, &r->list, &r->share, &r->shares);
    r->target = calloc(r->shares + 1, sizeof *r->target);
    for (size_t i = 0; i < r->shares; i++) {
        sim_rank *a = &sim->rank[sim->aggregator[r->share[i].domain]];
        bool shared = r != a && meet_in_memory(r, a);
        r->target[i] = (exchange_target){
            .aggregator = a->rank, .list = &r->share[i].list, .window = shared ? a->window : NULL};
    }
}

/* In ascending order of ranks, so that contributors are, too. */
static void add_contributors(simulation *sim, sim_rank *r)
{
    for (size_t i = 0; i < r->shares; i++) {
        const exchange_target *target = &r->target[i];
        sim_rank *a = &sim->rank[target->aggregator];
        if (target->is_carried)
            continue;
        if (a->contributor == NULL)
            a->contributor = calloc((size_t)sim->ranks, sizeof *a->contributor);
        exchange_contributor *c = &a->contributor[a->contributors++];
        *c = (exchange_contributor){.rank = r->rank, .shared = target->window != NULL};
        copy_list(target->list, &c->list, r == a);
    }
}

static void make_exchange(simulation *sim, sim_rank *r)
{
    exchange_task task = {
        .rank = r->rank,
        .ordered = sim->overlap == OVERLAP_ORDERED,
        .layout.cycle_size = sim->cycle_size,
        .layout.num_cycles = sim->num_cycles,
        .layout.message_size = sim->message_size,
        .short_error = SHORT_ERROR,
        .targets = r->shares,
        .contributors = r->contributors,
        .target = r->target,
        .layout.domains = &sim->domains,
        .layout.domain = r->domain,
        .contributor = r->contributor,
        .window = r->shares_windows ? r->window : NULL,
    };
    r->ex = exchange_new(&task);
}

/* New exchanges with the windows of the old ones. */
void sim_renew(simulation *sim)
{
    for (int i = 0; i < sim->ranks; i++) {
        sim_rank *r = &sim->rank[i];
        exchange_free(r->ex);
        make_exchange(sim, r);
        memset(r->granted, 0, sizeof r->granted);
        memset(r->ready, 0, sizeof r->ready);
    }
    for (size_t i = 0; sim->bundle != NULL && i < sim->domains.count * (size_t)sim->nodes; i++) {
        memset(sim->bundle[i].granted, 0, sizeof sim->bundle[i].granted);
        memset(sim->bundle[i].ready, 0, sizeof sim->bundle[i].ready);
    }
}

/* ---- memory ---- */

/* The user's buffer: contiguous, or pieces in any order with gaps between. */
static void draw_memory(simulation *sim, sim_rank *r, sim_memory *m)
{
    size_t stream = (size_t)r->stream_end, most = stream + 1, at = 0;
    if (sim_chance(sim, 1, 2))
        most = (size_t)draw_small(sim, 1, 100);
    m->place = calloc(stream + 1, sizeof *m->place);
    bool descending = sim_chance(sim, 1, 4);
    size_t room = 2 * stream + 64, length;
    m->arena = malloc(room);
    for (size_t done = 0; done < stream; done += length) {
        length = (size_t)draw(sim, 1, (int64_t)most);
        length = length < stream - done ? length : stream - done;
        size_t gap = most > stream ? 0 : (size_t)draw(sim, 0, (int64_t)(length < 8 ? length : 8));
        size_t begin = descending ? room - at - gap - length : at + gap;
        access_append_memory(&m->buffer.list, m->arena + begin, length);
        for (size_t i = 0; i < length; i++)
            m->place[done + i] = begin + i;
        at += gap + length;
    }
    m->bytes = room;
    for (size_t i = 0; i < room; i++)
        m->arena[i] = (char)next_random(&sim->state);
    m->before = malloc(room);
    m->expected = malloc(room);
    memcpy(m->before, m->arena, room);
    memcpy(m->expected, m->arena, room);
}

/* ---- faults, and the order of events ---- */

bool sim_may_fail(const simulation *sim)
{
    return sim->faults > 0 || sim->fault_rate > 0 || sim->gone_after >= 0 || sim->victim >= 0;
}

void sim_may_vanish(sim_rank *r)
{
    simulation *sim = r->sim;
    if (r->rank == sim->victim && !sim->vanished && sim->vanishes_after-- == 0)
        longjmp(sim->end_of_victim, 1);
}

static void draw_faults(simulation *sim)
{
    int64_t kind = draw(sim, 0, 99);
    sim->gone_after = sim->victim = -1;
    if (kind >= 80)
        return;
    if (kind < 2)
        sim->gone_after = draw(sim, 0, 200);
    else if (kind < 10)
        sim->fault_rate = draw(sim, 2, 40);
    else if (kind < 60)
        sim->faults = kind < 35 ? 1 : (int)draw(sim, 2, MAX_FAULTS);
    else
        sim->victim = draw_rank(sim);
    sim->vanishes_after = draw_small(sim, 0, 100);
    for (int i = 0; i < sim->faults; i++)
        sim->fault[i] = (sim_fault){(enum fault_kind)draw(sim, 0, FAULT_KINDS - 1), draw_rank(sim),
                                    draw_small(sim, 0, 15)};
}

int sim_inject(simulation *sim, int rank, enum fault_kind kind)
{
    int64_t call = sim->fault_calls[kind][rank]++;
    bool fails = sim->fault_rate > 0 && sim_chance(sim, 1, sim->fault_rate);
    for (int i = 0; i < sim->faults; i++) {
        const sim_fault *f = &sim->fault[i];
        fails |= f->kind == kind && f->rank == rank && f->nth == call;
    }
    if (!fails)
        return 0;
    return INJECTED + sim->fired++;
}

int sim_report(sim_rank *r, int rc)
{
    if (r->first_fault == 0)
        r->first_fault = rc;
    r->sim->reported++;
    sim_trace(r->sim, "rank %d: error %d", r->rank, rc);
    return rc;
}

static void draw_runs(simulation *sim)
{
    sim->runs = sim->small ? 1 : (int)draw(sim, 1, MAX_RUNS);
    sim->agreed = sim_may_fail(sim) || sim_chance(sim, 1, 2);
    sim->end_of_file = ACCESS_END;
    if (sim_chance(sim, 1, 2)) {
        const sim_island *island = &sim->island[draw(sim, 0, sim->islands - 1)];
        sim->end_of_file = island->offset + sim->base_shift + draw(sim, 0, island->length);
        sim->agreed = true;
    }
    int64_t shift = draw_small(sim, 0, MAX_SHIFT);
    for (int k = 0; k < sim->runs; k++) {
        sim->write[k] = sim->overlap == OVERLAP_ORDERED ||
                        (sim->overlap == OVERLAP_NONE && sim_chance(sim, 1, 2));
        if (sim->agreed)
            shift = draw_small(sim, 0, MAX_SHIFT);
        sim->shift[k] = sim->base_shift + shift;
    }
}

static void draw_order(simulation *sim)
{
    sim->order = sim_chance(sim, 1, 2) ? ORDER_RANDOM : (enum sim_order)draw(sim, 0, ORDERS - 1);
    sim->protocol = (enum sim_protocol)draw(sim, 0, PROTOCOLS - 1);
    sim->eager_limit = (size_t)draw_small(sim, 0, sim->message_size);
    sim->slow = sim_chance(sim, 1, 3) ? draw_rank(sim) : -1;
    sim->delayed = sim_chance(sim, 1, 4) ? draw_rank(sim) : -1;
    sim->event_share = draw(sim, 1, 7);
    sim->short_share = sim_chance(sim, 1, 2) ? 0 : draw(sim, 1, 8);
    sim->bursts = sim_chance(sim, 1, 2);
    sim->interruptions = sim_chance(sim, 1, 2) ? 0 : draw(sim, 1, 12);
}

void sim_draw(simulation *sim)
{
    draw_sizes(sim);
    draw_islands(sim);
    for (int i = 0; i < sim->ranks; i++) {
        sim->rank[i].sim = sim;
        sim->rank[i].rank = i;
    }
    draw_accesses(sim);
    for (int i = 0; i < sim->ranks; i++)
        draw_stream(sim, &sim->rank[i]);
    draw_domains(sim);
    draw_cycles(sim);
    draw_aggregators(sim);
    draw_nodes(sim);
    for (int i = 0; i < sim->ranks; i++)
        add_targets(sim, &sim->rank[i]);
    sim_draw_bundles(sim);
    for (int i = 0; i < sim->ranks; i++)
        add_contributors(sim, &sim->rank[i]);
    draw_faults(sim);
    draw_runs(sim);
    draw_order(sim);
    for (int i = 0; i < sim->ranks; i++) {
        make_exchange(sim, &sim->rank[i]);
        sim->rank[i].buffers = exchange_buffers_new();
        for (int k = 0; k < sim->runs; k++)
            draw_memory(sim, &sim->rank[i], &sim->rank[i].memory[k]);
    }
}

/* ---- release ---- */

static void release_rank(simulation *sim, sim_rank *r)
{
    exchange_free(r->ex);
    exchange_buffers_free(r->buffers);
    for (size_t i = 0; i < r->contributors; i++)
        access_release(&r->contributor[i].list);
    free(r->contributor);
    free(r->target);
    domains_free_shares(r->share, r->shares);
    access_release(&r->list);
    free(r->block);
    for (int w = 0; w < EXCHANGE_DEPTH && r->shares_windows; w++)
        free(r->window[w].data);
    for (int k = 0; k < sim->runs; k++) {
        sim_memory *m = &r->memory[k];
        access_release(&m->buffer.list);
        free(m->arena);
        free(m->before);
        free(m->expected);
        free(m->place);
    }
}

void sim_free(simulation *sim)
{
    for (int i = 0; i < sim->ranks; i++)
        release_rank(sim, &sim->rank[i]);
    sim_release_bundles(sim);
    domains_release(&sim->domains);
    free(sim->domain_of);
    free(sim->aggregator);
    free(sim->file);
    free(sim->old);
    free(sim->model);
    free(sim->covered);
    free(sim->written);
    free(sim);
}
