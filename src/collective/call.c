/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls on a file: what is accessed, then operation after operation, then the status.
 *
 * There is an operation for each layer of what is accessed, and each rank takes part in as many as
 * the rank with most layers.
 *
 * The plan of an earlier call is reused when every rank accesses what it did then, moved by one
 * distance that is the same for all. Then one reduction is all that precedes the data; or two where
 * data move from one stripe into the next, as each rank finds out alone.
 *
 * Nothing returns between two collective steps: every rank carries its own error to the next
 * agreement, where it becomes the error of all. */
#include "collective/op.h"

/* A call, while it runs. */
typedef struct running {
    coll_call *call;
    coll_position position;
    coll_layers layers;
    coll_access access;
} running;

/* Runs an operation for each layer; the range of the first is agreed. */
static int run_layers(running *r, coll_op *op, int64_t layers)
{
    int rc = coll_layers_expand(&r->layers, r->call->view, r->position, r->call->bytes);
    bool is_planned = coll_op_is_planned(op);
    op->accesses = coll_layers_at(&r->layers, 0);
    rc = coll_op_run(op, rc);
    if (rc == 0 && layers == 1 && op->hi > 0 && is_planned)
        coll_slots_remember(&r->call->file->slots, op->slot, &r->access);
    for (int64_t i = 1; i < layers && rc == 0; i++) {
        op->accesses = coll_layers_at(&r->layers, (size_t)i);
        rc = coll_op_agree_range(op);
        if (rc == 0)
            rc = coll_op_run(op, rc);
    }
    return rc;
}

/* What this rank needs before the first agreement: its access, and buffers for device memory and
 * for each plan that may be reused. */
static int prepare_call(running *r)
{
    coll_file *file = r->call->file;
    coll_access *access = &r->access;
    *access = (coll_access){
        .view = r->call->view->id,
        .offset = r->position.offset,
        .used = r->position.used,
        .bytes = r->call->bytes,
        .atomic = r->call->atomic,
        .settings = coll_settings_digest(file->facts.of),
        .lock_unit = file->handle.store->lock_unit,
    };
    int rc = r->call->error;
    if (rc == 0 && file->handle.device != NULL)
        rc = access_memory_stage(&r->call->memory, file->handle.device, &file->staging);
    if (rc != 0)
        return rc;
    if (!coll_slots_recall(&file->slots, access))
        rc = coll_layers_expand(&r->layers, r->call->view, r->position, r->call->bytes);
    if (rc == 0 && !access->is_described)
        coll_access_describe(access, &r->layers);
    for (size_t i = 0; i < COLL_SLOTS && rc == 0; i++)
        if (coll_slot_matches(&file->slots.slot[i], access))
            rc = coll_exchange_acquire(file->slots.slot[i].exchange);
    return rc;
}

static int reuse_plan(running *r, coll_op *op, const coll_agreement *agreement)
{
    coll_file *file = r->call->file;
    coll_slot *slot = &file->slots.slot[agreement->slot];
    const domain_layout *layout = &slot->plan.layout;
    int64_t beyond = layout->margin > 0 ? agreement->shift % layout->margin : 0;
    beyond += beyond < 0 ? layout->margin : 0;
    op->slot = slot;
    op->lo = layout->domains->lo;
    op->hi = layout->domains->hi - layout->margin;
    op->shift = agreement->shift - beyond;
    coll_op_settle_way(op);
    int rc = 0;
    if (op->way == COLL_INDEPENDENT)
        rc = coll_layers_expand(&r->layers, r->call->view, r->position, r->call->bytes);
    else if (layout->margin > 0 && beyond != coll_exchange_distance(slot->exchange))
        rc = coll_op_move(op, beyond);
    if (rc != 0 && op->way != COLL_INDEPENDENT)
        return rc;
    op->accesses = coll_layers_at(&r->layers, 0);
    coll_slots_remember(&file->slots, slot, &r->access);
    return coll_op_transfer(op, rc);
}

static int run_anew(running *r, coll_op *op, const coll_agreement *agreement)
{
    coll_file *file = r->call->file;
    if (agreement->flush)
        coll_slots_reset(&file->slots, &file->observers);
    op->slot =
        agreement->widens ? &file->slots.slot[agreement->slot] : coll_slots_oldest(&file->slots);
    op->widens = agreement->widens;
    op->lo = agreement->lo;
    op->hi = agreement->hi;
    int rc = run_layers(r, op, agreement->layers);
    coll_slots_count_bytes(&file->slots);
    return rc;
}

/* Whether this rank expects a call without aggregators, as its own access and the last call let it,
 * and may write before the others are known to do the same. */
static bool expects_independent(const running *r)
{
    const coll_file *file = r->call->file;
    const coll_access *access = &r->access;
    return file->was_independent[r->call->write] && !file->misjudged && access->layers == 1 &&
           !file->settings.of[COLL_ROOT_FLUSHES] &&
           !(r->call->write && file->handle.store->lock_unit > 0) &&
           coll_op_is_independent(file, r->call->write, access->atomic, &access->aggregation);
}

/* Transfers this rank's data before the first agreement, if that will be the way: where all ranks
 * do, one agreement is all that the call needs. Otherwise the call goes on as if nothing had
 * happened, and transfers them again. */
static int transfer_early(running *r, coll_op *op)
{
    r->access.is_done = r->access.hi == 0;
    if (!expects_independent(r))
        return 0;
    int rc = coll_layers_expand(&r->layers, r->call->view, r->position, r->call->bytes);
    op->accesses = coll_layers_at(&r->layers, 0);
    if (rc == 0)
        rc = coll_op_run_independent(op);
    r->access.is_done = rc == 0;
    return rc;
}

/* Whether a plan is good for nothing if its aggregators merge no pieces that are written. */
static bool has_to_merge(const running *r, const coll_agreement *agreement)
{
    return r->call->write && !agreement->atomic && agreement->layers == 1 &&
           !aggregation_shares_locks(&agreement->aggregation) &&
           coll_op_chooses_way(&r->call->file->settings.plan, true);
}

static coll_way choose_way(running *r, const coll_agreement *agreement)
{
    coll_file *file = r->call->file;
    bool write = r->call->write, was_early = r->access.is_done && r->access.hi > 0;
    bool is_independent =
        coll_op_is_independent(file, write, agreement->atomic, &agreement->aggregation);
    file->was_independent[write] = is_independent;
    file->misjudged = file->misjudged || (was_early && !(is_independent && agreement->is_done));
    if (is_independent)
        return agreement->is_done ? COLL_DONE : COLL_INDEPENDENT;
    return has_to_merge(r, agreement) ? COLL_MERGING : COLL_PLANNED;
}

static int run_ops(running *r)
{
    coll_file *file = r->call->file;
    coll_op op = {.call = r->call};
    coll_agreement agreement;
    op.since = coll_clock(&file->group);
    (void)coll_message_bytes(&file->group);
    int rc = coll_op_flush(file, prepare_call(r));
    if (rc == 0)
        rc = transfer_early(r, &op);
    rc = coll_slots_agree(&file->slots, &file->group, &r->access, rc, &agreement);
    coll_op_refresh(file);
    if (rc == 0)
        rc = coll_file_agree(file, agreement.settings_differ);
    if (rc == 0)
        op.way = choose_way(r, &agreement);
    op.atomic = agreement.atomic;
    op.piece = aggregation_piece(&agreement.aggregation);
    coll_op_end_stage(&op, &op.time.of[COLL_ST1]);
    op.time.of[COLL_ST1] -= op.time.of[COLL_ST5];
    bool reuse =
        agreement.reuse && coll_op_is_planned(&op) && file->slots.slot[agreement.slot].is_reusable;
    if (rc == 0)
        rc = reuse ? reuse_plan(r, &op, &agreement) : run_anew(r, &op, &agreement);
    coll_exchange_release(file->memory, &file->group);
    r->call->moved = op.moved;
    return rc;
}

int coll_call_run(coll_call *call)
{
    running r = {.call = call, .position = coll_view_normalize(call->view, call->position)};
    int rc = call->file->error;
    if (rc == 0)
        rc = run_ops(&r);
    coll_layers_release(&r.layers);
    return call->file->handle.runtime->error_class(rc);
}
