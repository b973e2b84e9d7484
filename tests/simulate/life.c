/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in a life, and what each rank does in it. */
#include "life.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILLING ((char)0xee)
enum { MOST_BYTES = 400 };

static int draw(life *l, int low, int high)
{
    return (int)pick(&l->state, low, high);
}

static bool one_in(life *l, int n)
{
    return draw(l, 1, n) == 1;
}

void sim_fail(life *l, const char *format, ...)
{
    va_list arguments;
    if (l->failure != NULL)
        return;
    va_start(arguments, format);
    vsnprintf(l->failure_text, sizeof l->failure_text, format, arguments);
    va_end(arguments);
    l->failure = l->failure_text;
}

/* ---- faults ---- */

/* An error that memory has run out may be done without. */
bool sim_fault(sim_rank *r, enum fault_kind kind)
{
    life *l = r->life;
    if (l->fault != kind || l->victim != r->rank || l->has_fired || --l->until > 0)
        return false;
    l->has_fired = true;
    if (r->step >= 0 && r->step < l->steps) {
        l->step[r->step].has_cause = true;
        l->step[r->step].must_fail |=
            kind == FAULT_WRITE || kind == FAULT_READ || kind == FAULT_LOCK;
    }
    return true;
}

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

/* Ways to deal the bytes of a file: records in turn; cells to random ranks, or to none; a block for
 * each rank; blocks that other ranks have, too. */
enum { DEAL_RECORDS, DEAL_CELLS, DEAL_BLOCKS, DEAL_SHARED, DEALS };

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

/* No access ends beyond the file. */
sim_access sim_access_of(const life *l, int step, int rank)
{
    const sim_step *s = &l->step[step];
    const sim_view v = sim_view_of(l, sim_step_of_view(l, step), rank);
    uint64_t own = s->seed + (uint64_t)rank + 1;
    sim_access access = {s->copies * v.size, 0};
    if (v.size == 0 || pick(&own, 0, 5) == 0)
        return access;
    access.first += pick(&own, 0, 2) > 0 ? 0 : pick(&own, 0, v.size);
    access.bytes = pick(&own, 0, 2) > 0 ? v.size * pick(&own, 1, 3) : pick(&own, 0, MOST_BYTES);
    access.bytes = access.bytes < MOST_BYTES ? access.bytes : MOST_BYTES;
    int64_t last = v.begin + ((access.first + access.bytes) / v.size + 1) * v.extent +
                   v.offset[v.blocks - 1] + v.length[v.blocks - 1];
    if (last > SPACE)
        access.bytes = 0;
    return access;
}

/* Each step writes other data: what an earlier one left does not pass for them. */
unsigned char sim_data(const life *l, int step, int rank, int64_t at)
{
    uint64_t state = (l->step[step].seed + (uint64_t)step) * 64 + (uint64_t)rank;
    return (unsigned char)((next_random(&state) >> 32) + (uint64_t)at * 37 + (uint64_t)(at >> 8));
}

/* ---- drawing ---- */

/* What an earlier step did, further on, as in the next turn of some variables. */
static void repeat_turn(life *l, int i)
{
    sim_step *s = &l->step[i];
    const sim_step *earlier = i >= l->turn ? s - l->turn : s;
    bool repeats =
        earlier->kind == STEP_VIEW || earlier->kind == STEP_WRITE || earlier->kind == STEP_READ;
    if (!repeats || earlier == s || one_in(l, 20))
        return;
    *s = *earlier;
    s->copies += draw(l, 0, 4);
}

static void draw_step(life *l, int i)
{
    static const enum step_kind kinds[] = {STEP_VIEW,  STEP_WRITE,  STEP_WRITE,
                                           STEP_WRITE, STEP_READ,   STEP_READ,
                                           STEP_HINT,  STEP_REOPEN, STEP_BARRIER};
    sim_step *s = &l->step[i], *before = i > 0 ? s - 1 : NULL;
    *s = (sim_step){.kind = i == 0 ? STEP_VIEW : kinds[draw(l, 0, 8)],
                    .seed = next_random(&l->state)};
    s->seed >>= 8;
    s->deal = draw(l, 0, l->is_plain ? DEAL_SHARED - 1 : DEALS - 1);
    s->overlaps_self = one_in(l, 3);
    s->atomic = one_in(l, 6);
    s->blocking = !one_in(l, 3);
    s->gaps = one_in(l, 3);
    /* The same access at another place, as of the next time step. */
    bool is_access = s->kind == STEP_WRITE || s->kind == STEP_READ;
    if (is_access && before != NULL && before->kind == s->kind && !one_in(l, 4)) {
        s->seed = before->seed;
        s->copies = before->copies + draw(l, 0, 4);
        s->atomic = before->atomic;
        s->blocking = before->blocking;
    }
    repeat_turn(l, i);
    /* No rank writes bytes twice. */
    if (s->kind == STEP_WRITE) {
        const sim_step *view = &l->step[sim_step_of_view(l, i)];
        s->atomic |= view->deal == DEAL_SHARED && !one_in(l, 4);
        if (view->deal == DEAL_SHARED && view->overlaps_self)
            s->kind = STEP_READ;
    }
}

static const char *any(life *l, const char *const *texts)
{
    int count = 0;
    while (texts[count] != NULL)
        count++;
    return texts[draw(l, 0, count - 1)];
}

static const char *const values[PARAMETERS][8] = {
    [PARAMETER_STRATEGY] = {"", "", "tatp", "latp_volume", "latp_count", "otp", NULL},
    [PARAMETER_DOMAINS] = {"", "even", "stripe", "fitted", "auto", NULL},
    [PARAMETER_NUM_AGGREGATORS] = {"", "", "", "1", "2", "3", "many", NULL},
    [PARAMETER_CYCLE_BUFFER_SIZE] = {"", "64", "100", "1000", "4k", NULL},
    [PARAMETER_STRIPE_SIZE] = {"", "", "16", "64", "1000", NULL},
    [PARAMETER_STRIPE_COUNT] = {"", "1", "2", "3", "5", NULL},
    [PARAMETER_SHARED_MEMORY] = {"false", "false", "true", NULL},
    [PARAMETER_TOPOLOGY] = {"", "", "none", "/there/is/no/such/file", NULL},
    [PARAMETER_STATS_LEVEL] = {"calls", "calls", "files", NULL},
    [PARAMETER_STRICT] = {"", "", "", "true", NULL},
};

static void draw_parameters(life *l)
{
    for (enum parameter p = 0; p < PARAMETERS; p++) {
        const char *text = values[p][0] != NULL ? any(l, values[p]) : NULL;
        for (int i = 0; i < l->ranks; i++)
            l->rank[i].parameter[p] = text;
        if (one_in(l, 40) && values[p][0] != NULL)
            l->rank[draw(l, 0, l->ranks - 1)].parameter[p] = any(l, values[p]);
    }
    for (int i = 0; i < l->ranks; i++) {
        if (l->record[0] != '\0')
            l->rank[i].parameter[PARAMETER_RECORD] = l->record;
        if (l->statistics[0] != '\0')
            l->rank[i].parameter[PARAMETER_STATS] = l->statistics;
        if (l->is_plain) {
            l->rank[i].parameter[PARAMETER_NUM_AGGREGATORS] = "3";
            l->rank[i].parameter[PARAMETER_STRICT] = NULL;
        }
    }
}

static void draw_names(life *l)
{
    if (!one_in(l, 12))
        return;
    strcpy(l->folder, "/tmp/simulate.XXXXXX");
    if (mkdtemp(l->folder) == NULL)
        abort();
    if (one_in(l, 2))
        snprintf(l->record, sizeof l->record, "%s/record", l->folder);
    if (one_in(l, 2))
        snprintf(l->statistics, sizeof l->statistics, "%s/%sstatistics", l->folder,
                 l->seed % 3 == 0 ? "none/" : "");
    l->is_plain = l->record[0] != '\0' && !one_in(l, 3);
}

static void draw_fault(life *l)
{
    static const int most[FAULT_KINDS] = {
        [FAULT_WRITE] = 30,   [FAULT_READ] = 30,    [FAULT_LOCK] = 20,
        [FAULT_MEMORY] = 400, [FAULT_ARGUMENT] = 8, [FAULT_LOSS] = 600};
    l->fault =
        one_in(l, 3) && !l->is_plain ? (enum fault_kind)draw(l, 1, FAULT_KINDS - 1) : FAULT_NONE;
    l->victim = draw(l, 0, l->ranks - 1);
    l->until = draw(l, 1, most[l->fault] + 1);
}

void sim_draw(life *l, uint64_t seed)
{
    l->seed = l->state = seed;
    l->ranks = one_in(l, 10) ? draw(l, 1, MOST_RANKS) : draw(l, 1, 8);
    l->nodes = draw(l, 1, one_in(l, 3) ? 1 : l->ranks);
    l->by_node = one_in(l, 2);
    l->slow = one_in(l, 3) ? draw(l, 0, l->ranks - 1) : -1;
    l->base = one_in(l, 4) ? INT64_C(1) << 40 : 0;
    l->turn = one_in(l, 3) ? draw(l, 1, 6) : 0;
    l->steps = draw(l, 2, l->ranks > 16 ? 6 : MOST_STEPS);
    l->model_end = one_in(l, 2) ? SPACE : 0;
    l->end = l->base + l->model_end;
    for (int i = 0; i < l->ranks; i++)
        l->rank[i].life = l, l->rank[i].rank = i;
    draw_names(l);
    draw_parameters(l);
    draw_fault(l);
    for (int i = 0; i < l->steps; i++)
        draw_step(l, i);
}

/* ---- the front end of a rank ---- */

static double get_time(void *context)
{
    sim_rank *r = context;
    return r->life->time += 1e-6 * (double)draw(r->life, 1, 20);
}

static struct hwloc_topology *no_machine(void *context)
{
    (void)context;
    return NULL;
}

static void show(const char *text)
{
    (void)text;
}

static void log_line(void *context, int level, const char *format, va_list arguments)
{
    (void)context;
    (void)level;
    (void)format;
    (void)arguments;
}

static coll_hint_values get_hints(void *context)
{
    return ((const sim_rank *)context)->hints;
}

static void replace_hints(void *context, const coll_hint_values *then,
                          const coll_hint_values *new_values)
{
    sim_rank *r = context;
    if (memcmp(&r->hints, then, sizeof *then) == 0)
        r->hints = *new_values;
}

static void publish_hints(void *context, const coll_hint_values *published)
{
    (void)context;
    (void)published;
}

static void make_process(sim_rank *r)
{
    life *l = r->life;
    r->pool = (coll_pool)COLL_POOL_INIT;
    r->process = (coll_process){
        .context = r,
        .job = {.id = "simulation",
                .size = (size_t)l->ranks,
                .is_first = sim_job_rank(l, r->rank) == 0,
                .has_one_program = true,
                .folder = l->folder[0] != '\0' ? l->folder : NULL},
        .parameter = "parameter",
        .prefix = "",
        .mpi_setting = {"buffer", "aggregators"},
        .clock = get_time,
        .machine = no_machine,
        .show = show,
        .log = log_line,
        .pool = &r->pool,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
}

/* Now and then another component gets a handle before its first view. What is kept stays. */
static void pass_over(sim_rank *r, const coll_handle *handle)
{
    uint64_t state = r->life->step[r->step].seed;
    bool is_kept = coll_file_is_reusable(r->file);
    if (pick(&state, 0, 3) != 0)
        return;
    coll_file_open(r->file, handle);
    coll_file_close(r->file);
    if (coll_file_is_reusable(r->file) != is_kept)
        sim_fail(r->life, "rank %d: step %d loses what is kept of a file", r->rank, r->step);
}

/* Where there is no memory for a file, the others learn it when they set their first view. */
static void open_file(sim_rank *r)
{
    const coll_handle handle = {
        .context = r,
        .runtime = &r->runtime,
        .store = &r->store,
        .name = "file",
        .parameters = r->parameter,
        .get_hints = get_hints,
        .replace_hints = replace_hints,
        .publish_hints = publish_hints,
        .observer = {.context = r, .moved = sim_observe},
    };
    const coll_facts facts = {.fd = -1, .locks_file = r->life->seed % 5 == 0};
    if (r->file == NULL)
        r->file = coll_file_new(&r->process);
    if (r->file == NULL) {
        int64_t value[COLL_OPENING_VALUES];
        coll_nodes_refuse(value);
        (void)r->runtime.reduce(r, value, COLL_OPENING_VALUES, COLL_MAX);
        return;
    }
    pass_over(r, &handle);
    coll_file_open(r->file, &handle);
    coll_file_start(r->file, &facts);
}

/* One that opened with an error is not opened again. */
static void close_file(sim_rank *r)
{
    if (r->file == NULL)
        return;
    coll_file_close(r->file);
    if (coll_file_is_reusable(r->file))
        return;
    coll_file_free(r->file);
    r->file = NULL;
}

/* Now and then a rank has nothing left of the last handle. */
static void forget_file(sim_rank *r)
{
    uint64_t state = r->life->step[r->step].seed;
    if (pick(&state, 0, 2 * r->life->ranks) != r->rank)
        return;
    coll_file_free(r->file);
    r->file = NULL;
}

static void set_view(sim_rank *r)
{
    access_list period = {0};
    const sim_view *v = &r->own;
    r->own = sim_view_of(r->life, sim_step_of_view(r->life, r->step), r->rank);
    sim_memory_of(NULL);
    for (int b = 0; b < v->blocks; b++)
        if (access_append(&period, v->offset[b], v->length[b], period.bytes) != 0)
            abort();
    coll_view_set(&r->view, &period, v->extent);
    sim_memory_of(r);
    if (r->file != NULL)
        coll_file_note_view(r->file);
}

/* ---- an access ---- */

/* The memory of an access: one block, or blocks of 5 bytes with gaps of 3, of which every second
 * one lies behind the others. */
typedef struct sim_buffer {
    char byte[4 * MOST_BYTES];
    access_memory memory;
    int64_t bytes;
    bool gaps;
} sim_buffer;

static int64_t index_of(const sim_buffer *b, int64_t at)
{
    int64_t block = at / 5;
    if (!b->gaps)
        return at;
    return block / 2 * 8 + at % 5 + (block % 2) * 2 * MOST_BYTES;
}

static void fill_buffer(const sim_rank *r, sim_buffer *b)
{
    const sim_step *s = &r->life->step[r->step];
    memset(b->byte, FILLING, sizeof b->byte);
    for (int64_t i = 0; i < b->bytes && s->kind == STEP_WRITE; i++)
        b->byte[index_of(b, i)] = (char)sim_data(r->life, r->step, r->rank, i);
    for (int64_t i = 0, length; i < b->bytes; i += length) {
        length = !b->gaps ? b->bytes : b->bytes - i < 5 ? b->bytes - i : 5;
        if (access_append_memory(&b->memory.list, b->byte + index_of(b, i), (size_t)length) != 0)
            abort();
    }
}

/* What a read has to have left: bytes that are known, and nothing anywhere else. */
static void check_buffer(sim_rank *r, sim_buffer *b, const short *expected, int64_t moved)
{
    life *l = r->life;
    int64_t most = 0;
    bool is_known = l->model_end >= 0;
    for (int64_t i = 0; i < b->bytes; i++) {
        int64_t at = index_of(b, i);
        bool beyond = is_known && expected[i] == -2;
        most += !beyond;
        if (expected[i] >= 0 && (unsigned char)b->byte[at] != expected[i])
            sim_fail(l, "rank %d: byte %lld that it reads in step %d is %02x, not %02x", r->rank,
                     (long long)i, r->step, (unsigned char)b->byte[at], expected[i]);
        b->byte[at] = FILLING;
    }
    for (size_t i = 0; i < sizeof b->byte && l->failure == NULL; i++)
        if (b->byte[i] != FILLING)
            sim_fail(l, "rank %d: step %d changed memory between its blocks", r->rank, r->step);
    if (is_known && moved != most)
        sim_fail(l, "rank %d: step %d moved %lld bytes, not %lld", r->rank, r->step,
                 (long long)moved, (long long)most);
}

/* Of the model now: the byte that each byte of the stream is; -1: not known, -2: beyond the end. */
static void expect_bytes(const sim_rank *r, const sim_access *access, short *expected)
{
    const life *l = r->life;
    for (int64_t i = 0; i < access->bytes; i++) {
        int64_t at = sim_place(&r->own, access->first + i);
        expected[i] = l->model[at];
        if (l->model_end < 0 && at + l->base >= l->end)
            expected[i] = -1;
        if (l->model_end >= 0 && at >= l->model_end)
            expected[i] = -2;
    }
}

/* Parameters that cannot be used are an error. */
static bool is_strict(const life *l)
{
    const char *strict = l->rank[0].parameter[PARAMETER_STRICT];
    return strict != NULL && strcmp(strict, "true") == 0;
}

static void check_result(sim_rank *r, int rc)
{
    life *l = r->life;
    sim_step *s = &l->step[r->step];
    if (l->is_lost)
        return;
    if (!s->has_result)
        s->result = rc;
    s->has_result = true;
    if (rc != s->result)
        sim_fail(l, "rank %d: step %d ends with %d, and with %d on another rank", r->rank, r->step,
                 rc, s->result);
    if (rc != 0 && !l->has_fired && !s->has_cause && !is_strict(l))
        sim_fail(l, "rank %d: step %d ends with %d without a cause", r->rank, r->step, rc);
    if (rc == 0 && is_strict(l) && strstr(l->statistics, "/none/") != NULL)
        sim_fail(l, "step %d succeeds without the statistics", r->step);
}

static void access_file(sim_rank *r)
{
    life *l = r->life;
    sim_step *s = &l->step[r->step];
    static sim_buffer buffers[MOST_RANKS];
    static short expected[MOST_RANKS][MOST_BYTES];
    sim_buffer *b = &buffers[r->rank];
    sim_memory_of(NULL);
    const sim_access access = sim_access_of(l, r->step, r->rank);
    b->memory = (access_memory){.list = {NULL}};
    b->bytes = access.bytes;
    b->gaps = s->gaps;
    sim_model_steps(l, r->step); /* all accesses before it have a result */
    if (!s->has_begun)
        sim_watch_begin(l, r->step);
    s->has_begun = true;
    r->locks = 0;
    fill_buffer(r, b);
    expect_bytes(r, &access, expected[r->rank]);
    int64_t copies = r->own.size > 0 ? access.first / r->own.size : 0;
    const coll_position position = {l->base + r->own.begin + copies * r->own.extent,
                                    r->own.size > 0 ? access.first % r->own.size : 0};
    coll_call call = {
        .file = r->file,
        .write = s->kind == STEP_WRITE,
        .atomic = s->atomic,
        .blocking = s->blocking,
        .error = sim_fault(r, FAULT_ARGUMENT) ? -EINVAL : 0,
        .memory = b->memory,
        .view = &r->view,
        .position = position,
        .bytes = access.bytes,
    };
    sim_memory_of(r);
    int rc = r->file != NULL ? coll_call_run(&call) : CLASS_NO_MEMORY;
    sim_memory_of(NULL);
    access_release(&b->memory.list);
    check_result(r, rc);
    if (rc == 0 && !l->is_lost && s->kind == STEP_READ)
        check_buffer(r, b, expected[r->rank], call.moved);
    else if (rc == 0 && !l->is_lost && call.moved != access.bytes)
        sim_fail(l, "rank %d: step %d wrote %lld of %lld bytes", r->rank, r->step,
                 (long long)call.moved, (long long)access.bytes);
    if (r->rank == 0)
        sim_check_plan(l, r->step);
    if (++s->done == l->ranks) {
        sim_check_messages(l, r->step);
        sim_check_stripes(l, r->step);
    }
    if (s->done == l->ranks && s->must_fail && s->result == 0 && !l->is_lost)
        sim_fail(l, "an error of step %d was lost", r->step);
    sim_memory_of(r);
}

/* ---- all of it ---- */

/* The program's own barrier, after which the file is complete. */
static void wait_for_all(sim_rank *r)
{
    life *l = r->life;
    sim_step *s = &l->step[r->step];
    s->done++;
    l->idle = 0;
    r->where = "barrier";
    while (s->done < l->ranks && !l->is_lost)
        sim_yield(r);
    if (l->is_lost || s->is_complete)
        return;
    s->is_complete = true;
    sim_model_steps(l, r->step);
    sim_check_file(l);
}

static void set_hint(sim_rank *r)
{
    uint64_t state = r->life->step[r->step].seed;
    enum coll_hint hint = (enum coll_hint)pick(&state, 0, COLL_HINTS - 1);
    int64_t value =
        pick(&state, 0, 2) == 0 ? 0 : pick(&state, 1, hint >= COLL_HINT_CB_WRITE ? 2 : 100);
    bool on_one = pick(&state, 0, 5) == 0;
    if (!on_one || r->rank == r->life->ranks / 2)
        r->hints.of[hint] = value;
}

static void run_step(sim_rank *r)
{
    switch (r->life->step[r->step].kind) {
    case STEP_VIEW: set_view(r); break;
    case STEP_HINT: set_hint(r); break;
    case STEP_BARRIER: wait_for_all(r); break;
    case STEP_REOPEN:
        close_file(r);
        forget_file(r);
        open_file(r);
        set_view(r);
        break;
    default: access_file(r);
    }
}

void sim_rank_main(sim_rank *r)
{
    life *l = r->life;
    make_process(r);
    sim_runtime(r);
    sim_store(r);
    open_file(r);
    for (r->step = 0; r->step < l->steps; r->step++) {
        run_step(r);
        if (one_in(l, 3))
            sim_yield(r);
    }
    if (r->file != NULL)
        coll_file_close(r->file);
    coll_file_free(r->file);
    coll_record_finish(&r->process);
    coll_pool_release(&r->pool);
    sim_memory_of(NULL);
    coll_view_release(&r->view);
    sim_memory_of(r);
}

void sim_end(life *l)
{
    sim_memory_of(NULL);
    if (l->failure == NULL)
        sim_model_steps(l, l->steps);
    if (l->failure == NULL && !l->is_lost)
        sim_check_file(l);
    sim_network_end(l);
    int left = sim_memory_left();
    if (left > 0 && !l->is_lost) /* where messages that were given up may still arrive */
        sim_fail(l, "%d parts of memory are left", left);
    if (l->is_plain && l->failure == NULL)
        sim_check_record(l);
    if (l->record[0] != '\0')
        (void)unlink(l->record);
    if (l->statistics[0] != '\0')
        (void)unlink(l->statistics);
    if (l->folder[0] != '\0')
        (void)rmdir(l->folder);
}
