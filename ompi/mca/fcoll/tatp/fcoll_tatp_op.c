/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation: plan, requests, shuffle and file access, last agreement. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_op.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"

/* Domains and their aggregators. rc: this rank's status so far. Collective; the error is that of
 * all ranks. */
static int make_plan(tatp_op *op, int rc)
{
    tatp_file *file = op->file;
    const tatp_plan_input in = {
        .settings = &file->settings,
        .group = file->group,
        .nodes = file->nodes,
        .accesses = op->accesses,
        .lo = op->lo,
        .hi = op->hi,
        .all_entries = tatp_stats_are_on(file->stats),
        .keep_entries = tatp_stats_want_plan(file->stats),
    };
    double start = MPI_Wtime();
    rc = tatp_plans_make(file->plans, op->slot, &in, rc);
    file->plan_ops[op->slot] = 0;
    op->makes_plan = OMPI_SUCCESS == rc;
    op->time.st2 += MPI_Wtime() - start;
    return rc;
}

/* Whether a write, by a plan, is independent because no aggregator would merge pieces. */
static bool merges_nothing(const tatp_op *op)
{
    return op->write && op->may_be_independent && op->file->merges_nothing[op->slot];
}

/* As make_plan. Where no aggregator would merge pieces that are written, there is no exchange. */
static int prepare_exchange(tatp_op *op)
{
    enum { ERROR, MERGES, VALUES };
    tatp_file *file = op->file;
    coll_exchange *prepared = file->exchange[op->slot];
    tatp_plan_view plan = tatp_plan_get(tatp_plans_at(file->plans, op->slot));
    const coll_exchange_layout layout = {
        .cycle_size = plan.cycle_size,
        .num_cycles = plan.num_cycles,
        .message_size = plan.message_size,
        .piece = op->piece,
        .domains = plan.domains,
        .aggregator = plan.aggregator,
        .share = plan.share,
        .shares = plan.shares,
        .aggregates = plan.aggregates,
        .domain = plan.domain,
        .contributors = plan.contributors,
        .ordered = op->write && op->atomic,
        .use_shared_memory = file->agreed.of[PARAMETER_SHARED_MEMORY],
    };
    double start = MPI_Wtime();
    int rc = coll_exchange_prepare(prepared, file->group, &layout);
    int64_t value[VALUES] = {tatp_error_class(rc), coll_exchange_merges(prepared, &file->io.store)};
    rc = coll_agree_max(file->group, value, VALUES);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[ERROR];
    file->merges_nothing[op->slot] = !value[MERGES];
    op->independent = OMPI_SUCCESS == rc && merges_nothing(op);
    op->time.st3 = MPI_Wtime() - start;
    return rc;
}

/* NULL: none, as of an independent operation. */
static tatp_plan *plan_of(const tatp_op *op)
{
    return op->independent ? NULL : tatp_plans_at(op->file->plans, op->slot);
}

/* To the recorder, what trials choose in this run goes by aggregators: a record depends on accesses
 * and settings only. */
static void record_op(const tatp_op *op)
{
    tatp_file *file = op->file;
    const tatp_record_access access = {
        .list = op->accesses,
        .lo = op->lo,
        .hi = op->hi,
        .division = &file->settings.division,
    };
    if (op->makes_plan && file->records)
        tatp_record_plan(file->record, op->slot, file->group, &access);
    if (!op->independent || NULL != op->trial)
        tatp_record_count(file->record, op->slot);
}

/* Tells the observers of an operation that was carried out. */
static int observe_op(const tatp_op *op)
{
    tatp_file *file = op->file;
    const tatp_stats_access access = {
        .file = file->io.fh->f_filename,
        .write = op->write,
        .time = op->time,
        .moved = op->result.moved,
        .messages = op->result.messages,
        .device = tatp_device_take_use(file->device),
        .metadata = coll_message_bytes(file->group),
        .makes_plan = op->makes_plan,
        .plan_calls = op->independent ? 0 : file->plan_ops[op->slot],
        .settings = &file->settings,
        .plan = plan_of(op),
        .nodes = file->nodes,
    };
    record_op(op);
    tatp_pvars_add(&access);
    return tatp_stats_report(file->stats, file->group, &access);
}

/* rc: the error of what has moved the data. */
static int complete_copies(const tatp_op *op, int rc)
{
    int copied = access_memory_complete(op->memory, op->write);
    return OMPI_SUCCESS == rc ? copied : rc;
}

/* Moves the data by a plan and an exchange that are complete on all ranks. */
static int run_exchange(tatp_op *op)
{
    tatp_file *file = op->file;
    tatp_plan_view plan = tatp_plan_get(tatp_plans_at(file->plans, op->slot));
    exchange_run run = {
        .write = op->write,
        .memory = op->memory,
        .shift = op->shift,
        .probe = tatp_stats_probe(file->stats, plan.num_cycles),
    };
    coll_exchange_times times = {0};
    int rc = coll_exchange_run(file->exchange[op->slot], file->group, &file->io.store, &run,
                               &op->result, &times);
    op->time.st4 = times.shuffle;
    op->time.st5 += times.access;
    file->plan_ops[op->slot]++;
    file->aggregators = (int64_t)plan.domains->count;
    return complete_copies(op, rc);
}

/* *gave_up: it was a trial, and takes too long. */
static int run_independent(tatp_op *op, bool *gave_up)
{
    const coll_independent_run run = {
        .write = op->write,
        .memory = op->memory,
        .accesses = op->accesses,
        .limit = NULL != op->trial ? trial_limit(op->trial) : 0,
    };
    coll_independent_result result;
    int rc = coll_independent_execute(op->file->independent, op->file->group, &op->file->io.store,
                                      &run, &result);
    op->result.moved = result.moved;
    *gave_up = result.gave_up;
    op->time.st5 = result.seconds;
    return complete_copies(op, rc);
}

int tatp_op_transfer_early(tatp_op *op)
{
    bool gave_up;
    return run_independent(op, &gave_up);
}

/* Moves the data and agrees on errors, unless that is done; does it again by the plan where any
 * rank gave up. */
int tatp_op_transfer(tatp_op *op, int rc)
{
    enum { ERROR, GAVE_UP, VALUES };
    tatp_file *file = op->file;
    bool gave_up = false;
    if (!op->is_done) {
        op->result = (exchange_result){0};
        if (OMPI_SUCCESS == rc)
            rc = op->independent ? run_independent(op, &gave_up) : run_exchange(op);
        int64_t value[VALUES] = {tatp_error_class(rc), gave_up};
        rc = coll_agree_max(file->group, value, VALUES);
        op->end = MPI_Wtime();
        if (OMPI_SUCCESS == rc)
            rc = (int)value[ERROR];
        gave_up = value[GAVE_UP];
    }
    if (OMPI_SUCCESS == rc && gave_up) {
        op->independent = false;
        return tatp_op_transfer(op, rc);
    }
    op->moved += op->result.moved;
    coll_exchange_release(file->memory, file->group);
    return OMPI_SUCCESS == rc ? observe_op(op) : rc;
}

static void reset_slot(tatp_file *file, size_t slot)
{
    coll_exchange_reset(file->exchange[slot]);
    tatp_plans_reset(file->plans, slot);
    tatp_record_reset(file->record, slot);
    coll_schedule_forget(file->schedule, slot);
}

void tatp_op_reset_slots(tatp_file *file)
{
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        reset_slot(file, slot);
    file->kept_bytes = 0;
}

static void count_kept_bytes(tatp_file *file)
{
    file->kept_bytes = 0;
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        file->kept_bytes +=
            tatp_plans_bytes(file->plans, slot) + coll_exchange_bytes(file->exchange[slot]);
}

/* Makes a plan in place of the one in the slot, and prepares an exchange. rc: this rank's status so
 * far. The error is that of all ranks. */
static int plan_op(tatp_op *op, int rc)
{
    reset_slot(op->file, op->slot);
    if (op->hi > 0)
        rc = make_plan(op, rc);
    if (op->hi > 0 && OMPI_SUCCESS == rc)
        rc = prepare_exchange(op);
    count_kept_bytes(op->file);
    return rc;
}

/* An operation with a new plan, or without one. rc and the error: as plan_op. */
int tatp_op_run(tatp_op *op, int rc)
{
    if (!op->independent)
        rc = plan_op(op, rc);
    if (op->hi > 0 && (OMPI_SUCCESS == rc || op->independent))
        rc = tatp_op_transfer(op, rc);
    op->time = (tatp_times){0};
    op->makes_plan = false;
    return rc;
}

/* ---- with aggregators, or without ---- */

static int64_t aggregation_of(const tatp_plan_settings *settings, bool write)
{
    return write ? settings->write_aggregation : settings->read_aggregation;
}

bool tatp_op_chooses_way(const tatp_plan_settings *settings, bool write)
{
    return AGGREGATION_AUTOMATIC == aggregation_of(settings, write) &&
           0 == settings->division.aggregators;
}

bool tatp_op_is_independent(const tatp_file *file, bool write, bool atomic,
                            const aggregation_access *access)
{
    const tatp_plan_settings *settings = &file->settings;
    if (atomic)
        return false;
    return AGGREGATION_NEVER == aggregation_of(settings, write) ||
           (tatp_op_chooses_way(settings, write) && !aggregation_pays(access, write));
}

int tatp_op_agree_range(tatp_op *op)
{
    int64_t value[] = {-access_lower(op->accesses), access_upper(op->accesses)};
    int rc = coll_agree_max(op->file->group, value, 2);
    op->lo = -value[0];
    op->hi = value[1];
    return rc;
}

void tatp_op_remember_plan(const tatp_op *op, const coll_access *access)
{
    const tatp_plan_view plan = tatp_plan_get(tatp_plans_at(op->file->plans, op->slot));
    coll_schedule_remember(op->file->schedule, op->slot, access, plan.id, plan.period);
}

void tatp_op_choose_by_trial(tatp_op *op, bool blocking)
{
    op->independent = merges_nothing(op);
    if (!op->may_be_independent || op->independent || !blocking)
        return;
    op->trial = coll_schedule_trial(op->file->schedule, op->slot, op->write);
    op->independent = TRIAL_AGGREGATORS != trial_next(op->trial);
}
