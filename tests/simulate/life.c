/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in a life, and what each rank does in it. */
#include "life.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collective/file.h"

/* In place of rows_most_domains: so few that there are nodes with more. */
size_t __wrap_rows_most_domains(size_t nodes, size_t domains);
size_t __wrap_rows_most_domains(size_t nodes, size_t domains)
{
    return 1 + (nodes + domains) % 4;
}

/* ---- drawing ---- */

/* What an earlier step did, further on, as in the next turn of some variables. */
static void repeat_turn(life *l, int i)
{
    sim_step *s = &l->step[i];
    const sim_step *earlier = i >= l->turn ? s - l->turn : s;
    bool repeats =
        earlier->kind == STEP_VIEW || earlier->kind == STEP_WRITE || earlier->kind == STEP_READ;
    if (!repeats || earlier == s || sim_one_in(l, 20))
        return;
    *s = *earlier;
    s->copies += sim_draw(l, 0, 4);
}

static void draw_step(life *l, int i)
{
    static const enum step_kind kinds[] = {STEP_VIEW,  STEP_WRITE,  STEP_WRITE,
                                           STEP_WRITE, STEP_READ,   STEP_READ,
                                           STEP_HINT,  STEP_REOPEN, STEP_BARRIER};
    sim_step *s = &l->step[i], *before = i > 0 ? s - 1 : NULL;
    *s = (sim_step){.kind = i == 0 ? STEP_VIEW : kinds[sim_draw(l, 0, 8)],
                    .seed = next_random(&l->state)};
    s->seed >>= 8;
    s->deal = sim_draw(l, 0, l->is_plain ? DEAL_SHARED - 1 : DEALS - 1);
    if (l->ranks > 12 && s->seed % 4 == 0)
        s->deal = DEAL_BYTES;
    s->overlaps_self = sim_one_in(l, 3);
    s->atomic = sim_one_in(l, 6);
    s->gaps = sim_one_in(l, 3);
    /* The same access at another place, as of the next time step. */
    bool is_access = s->kind == STEP_WRITE || s->kind == STEP_READ;
    if (is_access && before != NULL && before->kind == s->kind && !sim_one_in(l, 4)) {
        s->seed = before->seed;
        s->copies = before->copies + sim_draw(l, 0, 4);
        s->atomic = before->atomic;
    }
    repeat_turn(l, i);
    /* No rank writes bytes twice. */
    if (s->kind == STEP_WRITE) {
        const sim_step *view = &l->step[sim_step_of_view(l, i)];
        s->atomic |= view->deal == DEAL_SHARED && !sim_one_in(l, 4);
        if (view->deal == DEAL_SHARED && view->overlaps_self)
            s->kind = STEP_READ;
    }
}

static const char *any(life *l, const char *const *texts)
{
    int count = 0;
    while (texts[count] != NULL)
        count++;
    return texts[sim_draw(l, 0, count - 1)];
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
        if (sim_one_in(l, 40) && values[p][0] != NULL)
            l->rank[sim_draw(l, 0, l->ranks - 1)].parameter[p] = any(l, values[p]);
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
    if (!sim_one_in(l, 12))
        return;
    strcpy(l->folder, "/tmp/simulate.XXXXXX");
    if (mkdtemp(l->folder) == NULL)
        abort();
    if (sim_one_in(l, 2))
        snprintf(l->record, sizeof l->record, "%s/record", l->folder);
    if (sim_one_in(l, 2))
        snprintf(l->statistics, sizeof l->statistics, "%s/%sstatistics", l->folder,
                 l->seed % 3 == 0 ? "none/" : "");
    l->is_plain = l->record[0] != '\0' && !sim_one_in(l, 3);
}

static void draw_fault(life *l, sim_fault *fault)
{
    static const int most[FAULT_KINDS] = {
        [FAULT_SEND] = 40,    [FAULT_RECEIVE] = 40, [FAULT_WRITE] = 30,   [FAULT_READ] = 30,
        [FAULT_LOCK] = 20,    [FAULT_FLUSH] = 10,   [FAULT_MESSAGE] = 40, [FAULT_MEMORY] = 400,
        [FAULT_ARGUMENT] = 8, [FAULT_LOSS] = 600,   [FAULT_OFTEN] = 40};
    enum fault_kind kind = (enum fault_kind)sim_draw(l, 0, FAULT_KINDS - 1);
    *fault = (sim_fault){kind, (int)sim_draw(l, 0, l->ranks - 1), sim_draw(l, 0, most[kind])};
}

/* Mostly one. */
static void draw_faults(life *l)
{
    if (l->is_plain || !sim_one_in(l, 2))
        return;
    l->faults = sim_one_in(l, 2) ? 1 : (int)sim_draw(l, 1, MOST_FAULTS);
    for (int i = 0; i < l->faults; i++)
        draw_fault(l, &l->fault[i]);
}

static bool memory_fails(sim_account *account)
{
    char *rank = (char *)account - offsetof(sim_rank, account);
    return sim_has_fault((sim_rank *)(void *)rank, FAULT_MEMORY);
}

static void draw_ranks(life *l, bool is_small)
{
    l->ranks = sim_one_in(l, 10) ? (int)sim_draw(l, 1, MOST_RANKS) : (int)sim_draw(l, 1, 8);
    if (is_small)
        l->ranks = (int)sim_draw(l, 2, 3);
    l->nodes = (int)sim_draw(l, 1, sim_one_in(l, 3) ? 1 : l->ranks);
    l->by_node = sim_one_in(l, 2);
    for (int i = 0; i < l->ranks; i++) {
        l->rank[i].life = l;
        l->rank[i].port = (net_port){&l->net, i};
        l->node_of_rank[i] = (size_t)(l->by_node ? i % l->nodes : i * l->nodes / l->ranks);
        l->rank[i].account.fails = memory_fails;
        l->rank[i].rank = i;
        l->rank[i].where = "";
    }
    /* More steps than ranks take that only share memory, for all cycles of a file that has failed.
     */
    l->order = (sim_order){.patience = 100000, .always_eager = 8};
    sim_draw_order(l);
}

void sim_draw_order(life *l)
{
    sim_order_draw(&l->order, &l->net, l->ranks, &l->state);
    l->net.node_of_rank = l->node_of_rank;
    l->net.order.call = sim_call;
}

life *sim_draw_life(uint64_t seed, bool is_small)
{
    static life all;
    life *l = &all;
    memset(l, 0, sizeof *l);
    l->seed = l->state = seed;
    draw_ranks(l, is_small);
    l->short_share = sim_one_in(l, 2) ? 0 : sim_draw(l, 1, 8);
    l->turn = sim_one_in(l, 3) ? (int)sim_draw(l, 1, 6) : 0;
    l->steps = (int)sim_draw(l, 2, l->ranks > 16 || is_small ? 6 : MOST_STEPS);
    sim_begin_file(l, sim_one_in(l, 2) ? SPACE : 0);
    l->locks_file = l->seed % 5 == 0;
    l->has_caches = !is_small && l->nodes > 1 && l->seed % 2 == 0;
    sim_begin_caches(l);
    if (!is_small)
        draw_names(l);
    /* What is far behind is not recorded. */
    l->base = sim_one_in(l, 4) ? INT64_C(1) << sim_draw(l, 0, l->is_plain ? 58 : 61) : 0;
    draw_parameters(l);
    if (!is_small)
        draw_faults(l);
    for (int i = 0; i < l->steps; i++) {
        draw_step(l, i);
        l->step[i].overlaps_self &= !is_small;
    }
    return l;
}

/* ---- the front end of a rank ---- */

/* Rank 0, whose parameters apply, brings the same as when it last opened the file. */
static void check_settings(const sim_rank *r, const coll_facts *facts)
{
    life *l = r->life;
    for (int i = 0; i < r->step; i++)
        if (l->step[i].kind == STEP_HINT)
            return;
    if (r->rank == 0 && l->net.lost < 0 && coll_file_is_reusable(r->file) &&
        !coll_file_has_settings(r->file, facts))
        sim_fail(l, "step %d: plans of a file do not fit the same file", r->step);
}

/* A closed file of the same ranks, if there is one. */
static void take_file(sim_rank *r, const coll_handle *handle, const coll_facts *facts)
{
    int *kept = &r->kept[r->name];
    r->file = coll_files_open(&r->process, &(coll_ranks){{(uint64_t)r->name}}, handle, facts);
    bool is_kept = r->file != NULL && coll_file_is_reusable(r->file);
    if (is_kept != (*kept > 0))
        sim_fail(r->life, "rank %d: step %d opens another file than was kept", r->rank, r->step);
    *kept -= is_kept;
}

static void close_file(sim_rank *r, coll_file *file, int name)
{
    if (file == NULL)
        return;
    r->kept[name] += coll_file_is_reusable(file);
    coll_files_close(&r->process, file);
}

/* Now and then another component gets a handle before its first view. Where there is no memory for
 * a file, the others learn it when they set their first view. */
static void open_file(sim_rank *r)
{
    const coll_handle handle = {
        .runtime = &r->runtime,
        .store = &r->store,
        .name = "file",
        .observer = {.context = r, .moved = sim_observe},
    };
    uint64_t state = r->life->step[r->step].seed;
    coll_facts facts = coll_facts_collect(r->parameter, &r->hints);
    facts.fd = -1;
    facts.locks_file = r->life->locks_file;
    r->name = pick(&state, 0, 5) == 0;
    take_file(r, &handle, &facts);
    if (r->file != NULL && pick(&state, 0, 3) == 0) {
        close_file(r, r->file, r->name);
        take_file(r, &handle, &facts);
    }
    if (r->file == NULL) {
        int64_t value[COLL_OPENING_VALUES];
        coll_file_refuse(value);
        (void)r->runtime.reduce(r, value, COLL_OPENING_VALUES, COLL_MAX);
        return;
    }
    check_settings(r, &facts);
    coll_file_start(r->file, &facts);
}

/* Now and then a rank has nothing left of earlier files, and some close the last file only when the
 * next is open, as threads may, so that the ranks have kept different ones. */
static void reopen_file(sim_rank *r)
{
    coll_file *last = r->file;
    const int name = r->name, ranks = r->life->ranks;
    uint64_t state = r->life->step[r->step].seed;
    bool forgets = pick(&state, 0, 2 * ranks) == r->rank,
         overlaps = pick(&state, 0, 2 * ranks) < r->rank;
    if (!overlaps)
        close_file(r, last, name);
    if (forgets) {
        coll_files_release(&r->process);
        memset(r->kept, 0, sizeof r->kept);
    }
    open_file(r);
    if (overlaps)
        close_file(r, last, name);
    sim_memory_of(NULL);
    coll_view_release(&r->view);
    sim_memory_of(&r->account);
    r->view = (coll_view){.extent = 0};
}

static void set_view(sim_rank *r)
{
    access_list period = {0};
    const sim_view v = sim_view_of(r->life, sim_step_of_view(r->life, r->step), r->rank);
    sim_memory_of(NULL);
    for (int b = 0; b < v.blocks; b++)
        if (access_append(&period, v.offset[b], v.length[b], period.bytes) != 0)
            abort();
    coll_view_set(&r->view, &period, v.extent);
    sim_memory_of(&r->account);
}

/* ---- an access ---- */

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
    if (l->net.lost >= 0)
        return;
    if (!s->has_result)
        s->result = rc;
    s->has_result = true;
    if (rc != s->result)
        sim_fail(l, "rank %d: step %d ends with %d, and with %d on another rank", r->rank, r->step,
                 rc, s->result);
    if (rc != 0 && l->fired == 0 && !s->has_cause && !is_strict(l))
        sim_fail(l, "rank %d: step %d ends with %d without a cause", r->rank, r->step, rc);
    if (rc == 0 && is_strict(l) && strstr(l->statistics, "/none/") != NULL)
        sim_fail(l, "step %d succeeds without the statistics", r->step);
}

/* All ranks have made it. */
static void check_access(life *l, int step)
{
    const sim_step *s = &l->step[step];
    sim_check_messages(l, step);
    sim_check_stripes(l, step);
    if (s->must_fail && s->result == 0 && l->net.lost < 0)
        sim_fail(l, "an error of step %d was lost", step);
}

static void access_file(sim_rank *r)
{
    life *l = r->life;
    sim_step *s = &l->step[r->step];
    sim_memory_of(NULL);
    sim_begin_access(r);
    const sim_access access = sim_access_of(l, r->step, r->rank);
    const sim_view *v = &access.view;
    int64_t copies = v->size > 0 ? access.first / v->size : 0;
    coll_call call = {
        .file = r->file,
        .write = s->kind == STEP_WRITE,
        .atomic = s->atomic,
        .error = sim_has_fault(r, FAULT_ARGUMENT) ? -EINVAL : 0,
        .memory = r->memory,
        .view = &r->view,
        .position = {l->base + v->begin + copies * v->extent,
                     v->size > 0 ? access.first % v->size : 0},
        .bytes = access.bytes,
    };
    sim_memory_of(&r->account);
    int rc = call.file != NULL ? coll_call_run(&call) : CLASS_NO_MEMORY;
    sim_memory_of(NULL);
    access_release(&r->memory.list);
    check_result(r, rc);
    if (l->net.lost < 0 && (rc == 0 || call.write || !r->has_read_alone))
        sim_check_memory(r, rc != 0, call.moved);
    if (r->rank == 0)
        sim_check_plan(l, r->step);
    if (++s->done == l->ranks)
        check_access(l, r->step);
    sim_memory_of(&r->account);
}

/* ---- all of it ---- */

/* The program's own barrier, after which the file is complete. */
static void wait_for_all(sim_rank *r)
{
    life *l = r->life;
    sim_step *s = &l->step[r->step];
    s->done++;
    sim_happened(&l->order);
    while (s->done < l->ranks && l->net.lost < 0)
        net_yield(&l->net, r->rank);
    if (l->net.lost < 0 && !s->is_complete)
        sim_check_file(l, r->step);
    s->is_complete = true;
}

/* No program takes a hint of an open file back: 0 counts when the file is opened again. */
static void set_hint(sim_rank *r)
{
    coll_hint_values hints = {{0}};
    uint64_t state = r->life->step[r->step].seed;
    enum coll_hint hint = (enum coll_hint)pick(&state, 0, COLL_HINTS - 1);
    int64_t value =
        pick(&state, 0, 2) == 0 ? 0 : pick(&state, 1, hint >= COLL_HINT_CB_WRITE ? 2 : 100);
    bool on_one = pick(&state, 0, 5) == 0;
    if (on_one && r->rank != r->life->ranks / 2)
        return;
    hints.of[hint] = r->hints.of[hint] = value;
    if (r->file != NULL)
        coll_file_set_hints(r->file, &hints);
}

static void run_step(sim_rank *r)
{
    switch (r->life->step[r->step].kind) {
    case STEP_VIEW: set_view(r); break;
    case STEP_HINT: set_hint(r); break;
    case STEP_BARRIER: wait_for_all(r); break;
    case STEP_REOPEN:
        reopen_file(r);
        set_view(r);
        break;
    default: access_file(r);
    }
}

static void live(void *context, int rank)
{
    life *l = context;
    sim_rank *r = &l->rank[rank];
    sim_front(r);
    r->store = sim_store(r);
    open_file(r);
    for (r->step = 0; r->step < l->steps; r->step++) {
        run_step(r);
        if (sim_one_in(l, 3))
            net_yield(&l->net, rank);
    }
    close_file(r, r->file, r->name);
    coll_files_release(&r->process);
    coll_record_finish(&r->process);
    sim_memory_of(NULL);
    coll_view_release(&r->view);
    sim_memory_of(&r->account);
}

static void end_life(life *l)
{
    bool is_lost = l->net.lost >= 0;
    if (l->net.failure == NULL && !is_lost)
        sim_check_file(l, l->steps);
    int requests = net_end(&l->net);
    size_t left = sim_memory_left();
    sim_order_release(&l->order);
    if (requests > 0 && !is_lost)
        sim_fail(l, "%d messages and requests are left", requests);
    if (left > 0 && !is_lost) /* where messages that were given up may still arrive */
        sim_fail(l, "%zu parts of memory are left", left);
    if (l->is_plain && l->net.failure == NULL)
        sim_check_record(l);
    if (l->record[0] != '\0')
        (void)unlink(l->record);
    if (l->statistics[0] != '\0')
        (void)unlink(l->statistics);
    if (l->folder[0] != '\0')
        (void)rmdir(l->folder);
}

/* ---- what was simulated ---- */

enum { WRITES, READS, ERRORS, LOSSES, FAULTS, REUSE, FITTING, STRIPES, RECORDS };
const char *const sim_feature[] = {
    "writes",  "reads",   "errors", "losses", "faults", "plans reused", "plans fitted to stripes",
    "stripes", "records", NULL};

void sim_find_features(const life *l, bool *has)
{
    has[LOSSES] = l->net.lost >= 0;
    has[FAULTS] = l->fired > 0;
    has[RECORDS] = l->has_record;
    for (int i = 0; i < l->steps; i++) {
        const sim_step *s = &l->step[i];
        has[WRITES] |= s->kind == STEP_WRITE && s->has_result && s->result == 0;
        has[READS] |= s->kind == STEP_READ && s->has_result && s->result == 0;
        has[ERRORS] |= s->has_result && s->result != 0;
        has[REUSE] |= s->reuses_plan;
        has[FITTING] |= s->fits_plan;
        has[STRIPES] |= s->is_striped;
    }
}

static void describe(const life *l)
{
    static const char *const kinds[] = {"view", "write", "read", "hint", "reopen", "barrier"};
    printf("# %d ranks on %d nodes\n", l->ranks, l->nodes);
    for (int i = 0; i < l->faults; i++)
        printf("# fault %d on rank %d after %" PRId64 "\n", (int)l->fault[i].kind, l->fault[i].rank,
               l->fault[i].nth);
    for (int i = 0; i < l->steps; i++)
        printf("# step %d: %s, deal %d, copies %" PRId64 ", atomic %d, result %d, ranks done %d\n",
               i, kinds[l->step[i].kind], (int)l->step[i].deal, l->step[i].copies,
               l->step[i].atomic, l->step[i].result, l->step[i].done);
    for (int p = 0; p < PARAMETERS; p++)
        if (l->rank[0].parameter[p] != NULL && l->rank[0].parameter[p][0] != '\0')
            printf("# %s = %s\n", parameter_table[p].name, l->rank[0].parameter[p]);
    for (int i = 0; i < l->ranks; i++)
        printf("# rank %d: step %d, %s\n", i, l->rank[i].step, l->rank[i].where);
}

/* ---- the run ---- */

static void resume(void *context, int rank)
{
    sim_memory_of(rank < 0 ? NULL : &((life *)context)->rank[rank].account);
}

bool sim_run(life *l)
{
    l->net.context = l;
    l->net.main = live;
    l->net.resume = resume;
    net_run(&l->net);
    if (l->order.is_traced)
        describe(l);
    end_life(l);
    if (l->order.is_traced)
        sim_print_trace(&l->order);
    return l->net.failure == NULL;
}
