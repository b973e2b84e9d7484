/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation: plan, requests, shuffle and file access, last agreement. */
#include "collective/op.h"

static const domain_layout *layout_of(const coll_op *op)
{
    return &op->slot->plan.layout;
}

void coll_op_end_stage(coll_op *op, double *stage)
{
    double now = coll_clock(&op->call->file->group);
    *stage += now - op->since;
    op->since = now;
}

/* Makes domains and chooses aggregators. rc: this rank's status so far. The error is that of all
 * ranks. Collective. */
static int make_plan(coll_op *op, int rc)
{
    coll_file *file = op->call->file;
    const coll_plan_input in = {
        .settings = &file->settings.plan,
        .group = &file->group,
        .nodes = &file->nodes,
        .accesses = op->accesses,
        .lo = op->lo,
        .hi = op->hi,
        .widens = op->widens,
        .piece = op->piece,
        .stream = &file->stream,
        .wishes = file->wishes,
    };
    rc = coll_plan_make(&op->slot->plan, &in, rc);
    op->makes_plan = rc == 0;
    coll_op_end_stage(op, &op->time.of[COLL_ST2]);
    return rc;
}

void coll_op_settle_way(coll_op *op)
{
    if (op->way == COLL_MERGING)
        op->way = op->slot->merges_nothing ? COLL_INDEPENDENT : COLL_PLANNED;
}

static enum coll_exchange_kind kind_of_exchange(const coll_op *op)
{
    if (op->call->write && op->atomic)
        return COLL_EXCHANGE_ORDERED;
    return op->call->file->settings.of[PARAMETER_SHARED_MEMORY] ? COLL_EXCHANGE_SHARED
                                                                : COLL_EXCHANGE_BY_MESSAGES;
}

/* Has the errors and steps of make_plan. */
static int prepare_exchange(coll_op *op)
{
    enum { ERROR, MERGES, VALUES };
    coll_file *file = op->call->file;
    coll_exchange *prepared = op->slot->exchange;
    int rc = coll_exchange_prepare(prepared, &file->group, layout_of(op), kind_of_exchange(op));
    if (rc == 0)
        rc = layout_of(op)->error;
    int64_t value[VALUES] = {[MERGES] = coll_exchange_merges(prepared, file->handle.store)};
    rc = coll_agree_max(&file->group, value, VALUES, rc);
    op->slot->merges_nothing = !value[MERGES];
    if (rc == 0)
        coll_op_settle_way(op);
    coll_op_end_stage(op, &op->time.of[COLL_ST3]);
    return rc;
}

int coll_op_move(coll_op *op, int64_t distance)
{
    coll_file *file = op->call->file;
    int rc = coll_exchange_move(op->slot->exchange, layout_of(op), distance);
    rc = coll_agree_error(&file->group, rc);
    if (rc != 0)
        coll_slot_reset(op->slot, &file->observers);
    coll_op_end_stage(op, &op->time.of[COLL_ST3]);
    return rc;
}

/* Tells the observers of an operation that was carried out. */
static void observe_op(const coll_op *op)
{
    coll_file *file = op->call->file;
    bool is_planned = coll_op_is_planned(op);
    file->moved += op->result.moved;
    const coll_observed access = {
        .group = &file->group,
        .nodes = &file->nodes,
        .settings = &file->settings.plan,
        .file = file->handle.name,
        .write = op->call->write,
        .makes_plan = op->makes_plan,
        .list = op->accesses,
        .lo = op->lo,
        .hi = op->hi,
        .plan = is_planned ? &op->slot->plan : NULL,
        .time = op->time,
        .moved = op->result.moved,
        .messages = op->result.messages,
        .device = access_staging_take_use(file->staging),
        .metadata = coll_message_bytes(&file->group),
        .plan_calls = is_planned ? op->slot->ops : 0,
    };
    if (op->makes_plan)
        coll_observers_plan(&file->observers, &access, op->slot->observed);
    coll_observers_move(&file->observers, &access, op->slot->observed);
}

/* rc: the error of what has moved the data. */
static int complete_copies(const coll_op *op, int rc)
{
    int copied = access_memory_complete(&op->call->memory, op->call->write);
    return rc == 0 ? copied : rc;
}

/* Moves the data by a plan and an exchange that are complete on all ranks. */
static int run_exchange(coll_op *op)
{
    coll_file *file = op->call->file;
    const domain_layout *layout = layout_of(op);
    const exchange_run run = {
        .write = op->call->write,
        .memory = &op->call->memory,
        .shift = op->shift,
        .probe = coll_observers_start(&file->observers, layout),
    };
    coll_exchange_times times = {0};
    int rc = coll_exchange_run(op->slot->exchange, &file->group, file->handle.store, run,
                               &op->result, &times);
    op->time.of[COLL_ST4] = times.shuffle;
    op->time.of[COLL_ST5] += times.access;
    op->slot->ops++;
    file->aggregators = (int64_t)layout->domains->count;
    return complete_copies(op, rc);
}

int coll_op_run_independent(coll_op *op)
{
    coll_file *file = op->call->file;
    const coll_independent_run run = {
        .write = op->call->write,
        .memory = &op->call->memory,
        .accesses = op->accesses,
        .buffer = file->buffer,
    };
    coll_independent_result result;
    int rc = coll_independent_execute(&file->group, file->handle.store, &run, &result);
    op->result.moved = result.moved;
    op->time.of[COLL_ST5] = result.seconds;
    return complete_copies(op, rc);
}

int coll_op_flush(const coll_file *file, int rc)
{
    const coll_store *store = file->handle.store;
    int flushed = file->settings.of[COLL_ROOT_FLUSHES] ? store->flush(store->access.context) : 0;
    return rc == 0 ? flushed : rc;
}

void coll_op_refresh(const coll_file *file)
{
    const coll_store *store = file->handle.store;
    if (file->settings.of[COLL_ROOT_FLUSHES])
        store->refresh(store->access.context);
}

/* Moves the data, and agrees on errors. */
static int move_data(coll_op *op, int rc)
{
    coll_file *file = op->call->file;
    op->result = (exchange_result){0};
    if (rc == 0)
        rc = op->way == COLL_INDEPENDENT ? coll_op_run_independent(op) : run_exchange(op);
    rc = coll_agree_error(&file->group, coll_op_flush(file, rc));
    coll_op_refresh(file);
    return rc;
}

int coll_op_transfer(coll_op *op, int rc)
{
    coll_file *file = op->call->file;
    if (op->way != COLL_DONE)
        rc = move_data(op, rc);
    op->since = coll_clock(&file->group);
    op->moved += op->result.moved;
    coll_exchange_release(file->memory, &file->group);
    if (rc == 0)
        observe_op(op);
    return rc;
}

/* Makes a plan instead of the one in the slot, and prepares an exchange. rc: this rank's status so
 * far. The error is that of all ranks. */
static int plan_op(coll_op *op, int rc)
{
    coll_slot_reset(op->slot, &op->call->file->observers);
    if (op->hi > 0)
        rc = make_plan(op, rc);
    if (op->hi > 0 && rc == 0)
        rc = prepare_exchange(op);
    return rc;
}

int coll_op_run(coll_op *op, int rc)
{
    if (coll_op_is_planned(op))
        rc = plan_op(op, rc);
    if (op->hi > 0 && (rc == 0 || !coll_op_is_planned(op)))
        rc = coll_op_transfer(op, rc);
    op->time = (coll_times){0};
    op->makes_plan = false;
    return rc;
}

/* ---- with aggregators, or without ---- */

static int64_t aggregation_of(const coll_plan_settings *settings, bool write)
{
    return write ? settings->write_aggregation : settings->read_aggregation;
}

bool coll_op_chooses_way(const coll_plan_settings *settings, bool write)
{
    return aggregation_of(settings, write) == AGGREGATION_AUTOMATIC &&
           settings->division.aggregators == 0;
}

bool coll_op_is_independent(const coll_file *file, bool write, bool atomic,
                            const aggregation_access *access)
{
    const coll_plan_settings *settings = &file->settings.plan;
    if (atomic)
        return false;
    return aggregation_of(settings, write) == AGGREGATION_NEVER ||
           (coll_op_chooses_way(settings, write) && !aggregation_pays(access, write));
}

int coll_op_agree_range(coll_op *op)
{
    enum { ERROR, LOW, HIGH, VALUES };
    int64_t value[VALUES] = {
        [LOW] = -access_lower(op->accesses), [HIGH] = access_upper(op->accesses)};
    int rc = coll_agree_max(&op->call->file->group, value, VALUES, 0);
    op->lo = -value[LOW];
    op->hi = value[HIGH];
    return rc;
}
