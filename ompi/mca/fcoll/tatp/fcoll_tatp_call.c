/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls on a file: what is accessed, then operation after operation, then the status.
 *
 * Views that go forward without overlap, which is all that MPI allows for writing, give one ordered
 * list; a view that overlaps itself gives more layers, and each rank takes part in as many
 * operations as the rank with most layers.
 *
 * The plan of an earlier call is reused when every rank accesses what it did then, moved by one
 * distance that is the same for all (the next time step, most often): then one reduction is all
 * that precedes the data.
 *
 * Nothing returns between two collective steps: every rank carries its own error to the next
 * agreement, where it becomes the error of all. What depends on the arguments and the file pointer
 * is done when the call is made; everything else may be done on a stack of its own, later. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_op.h"

#include <errno.h>
#include <stdlib.h>

typedef struct tatp_call tatp_call;

struct tatp_call {
    tatp_file *file;
    bool write;
    int error; /* of the arguments */
    access_memory memory;
    access_list accesses;
    access_list
        *layer; /* `layers` ordered lists; &accesses if that is ordered; NULL: not expanded */
    size_t layers;
    tatp_position position;
    int64_t bytes;
    coll_access access;
    int64_t moved;
    tatp_datarep *datarep; /* or NULL */
    tatp_request *request; /* of a non-blocking call */
};

/* NULL: there was no memory for it. */
static tatp_file *file_of(const ompio_file_t *fh)
{
    return ((const mca_fcoll_tatp_module_t *)fh->f_fcoll)->file;
}

/* What the call accesses in memory, and where in the view it begins; moves the file pointer past
 * it. Local; the error is kept. */
static void fill_call(tatp_call *call, ompio_file_t *fh, bool write, const void *buf, size_t count,
                      struct ompi_datatype_t *datatype, bool convert)
{
    call->file = file_of(fh);
    call->write = write;
    int rc = tatp_io_check_mode(fh, write);
    if (OMPI_SUCCESS == rc && convert)
        rc =
            tatp_datarep_begin(fh, write, buf, count, datatype, &call->memory.list, &call->datarep);
    else if (OMPI_SUCCESS == rc)
        rc = tatp_memory_layout(fh, buf, count, datatype, &call->memory.list);
    if (OMPI_SUCCESS == rc)
        rc = tatp_view_position(call->file->view, fh, &call->position);
    if (OMPI_SUCCESS == rc) {
        call->bytes = COMPAT_VIEW(fh)->f_view_size > 0 ? call->memory.list.bytes : 0;
        tatp_view_advance(fh, call->bytes);
    }
    call->error = rc;
}

/* What it accesses in the file, as ordered layers. Local. */
static int expand_call(tatp_call *call)
{
    if (NULL != call->layer)
        return OMPI_SUCCESS;
    int rc = tatp_view_access(call->file->view, call->position, call->bytes, &call->accesses);
    if (OMPI_SUCCESS != rc)
        return rc;
    if (!access_is_ordered(&call->accesses))
        return access_layers(&call->accesses, &call->layer, &call->layers);
    call->layer = &call->accesses;
    call->layers = 1;
    return OMPI_SUCCESS;
}

static void release_call(tatp_call *call)
{
    if (call->layer != &call->accesses) {
        for (size_t i = 0; i < call->layers; i++)
            access_release(&call->layer[i]);
        free(call->layer);
    }
    access_release(&call->memory.list);
    access_release(&call->accesses);
    tatp_datarep_free(call->datarep);
}

/* Runs an operation for each layer; the range of the first is agreed. */
static int run_layers(tatp_call *call, tatp_op *op, int64_t layers)
{
    static const access_list nothing;
    int rc = expand_call(call);
    bool is_planned = !op->independent;
    op->accesses = OMPI_SUCCESS == rc && call->layers > 0 ? call->layer : &nothing;
    rc = tatp_op_run(op, rc);
    if (OMPI_SUCCESS == rc && 1 == layers && op->hi > 0 && is_planned)
        tatp_op_remember_plan(op, &call->access);
    for (int64_t i = 1; i < layers && OMPI_SUCCESS == rc; i++) {
        op->accesses = (size_t)i < call->layers ? &call->layer[i] : &nothing;
        rc = tatp_op_agree_range(op);
        if (OMPI_SUCCESS == rc)
            rc = tatp_op_run(op, rc);
    }
    return rc;
}

/* What this rank needs before the first agreement: its access, and buffers for device memory and
 * for each plan that may be reused. */
static int prepare_call(tatp_call *call)
{
    tatp_file *file = call->file;
    coll_access *access = &call->access;
    tatp_file_take_hints(file);
    *access = (coll_access){
        .view = tatp_view_id(file->view),
        .offset = call->position.offset,
        .used = call->position.used,
        .bytes = call->bytes,
        .atomic = file->io.fh->f_atomicity,
        .settings = file->digest,
        .lock_unit = file->io.store.lock_unit,
    };
    int rc = call->error;
    if (OMPI_SUCCESS == rc)
        rc = tatp_device_find(&file->device, &call->memory);
    if (OMPI_SUCCESS != rc)
        return rc;
    if (!coll_schedule_recall(file->schedule, access))
        rc = expand_call(call);
    if (OMPI_SUCCESS == rc && !access->is_described)
        coll_access_describe(access, call->layer, call->layers);
    for (size_t slot = 0; slot < COLL_SLOTS && OMPI_SUCCESS == rc; slot++)
        if (coll_schedule_matches(file->schedule, slot, access))
            rc = coll_exchange_acquire(file->exchange[slot]);
    return rc;
}

static int reuse_plan(tatp_call *call, tatp_op *op, const coll_agreement *agreement)
{
    tatp_file *file = call->file;
    tatp_plan_view plan = tatp_plan_get(tatp_plans_at(file->plans, agreement->slot));
    double begin = MPI_Wtime();
    op->slot = agreement->slot;
    op->lo = plan.lo;
    op->hi = plan.hi;
    op->shift = agreement->shift;
    tatp_op_choose_by_trial(op, NULL == call->request);
    int rc = op->independent ? expand_call(call) : OMPI_SUCCESS;
    op->accesses = call->layer;
    tatp_op_remember_plan(op, &call->access);
    rc = tatp_op_transfer(op, rc);
    if (OMPI_SUCCESS == rc && NULL != op->trial)
        coll_schedule_time(file->schedule, op->slot, op->write, op->independent, op->end - begin);
    return rc;
}

static int run_anew(tatp_call *call, tatp_op *op, const coll_agreement *agreement)
{
    tatp_file *file = call->file;
    if (agreement->flush)
        tatp_op_reset_slots(file);
    op->slot = coll_schedule_oldest(file->schedule);
    op->lo = agreement->lo;
    op->hi = agreement->hi;
    return run_layers(call, op, agreement->layers);
}

/* Whether this rank expects a call without aggregators, as its own access and the last call let it,
 * and may write before the others are known to do the same. */
static bool expects_independent(const tatp_call *call)
{
    const tatp_file *file = call->file;
    const coll_access *access = &call->access;
    return file->was_independent[call->write] && !file->misjudged && 1 == access->layers &&
           !(call->write && file->io.store.lock_unit > 0) &&
           tatp_op_is_independent(file, call->write, access->atomic, &access->aggregation);
}

/* Transfers this rank's data before the first agreement, if that will be the way: where all ranks
 * do, one agreement is all that the call needs. Otherwise the call goes on as if nothing had
 * happened, and transfers them again. */
static int transfer_early(tatp_call *call, tatp_op *op)
{
    call->access.is_done = 0 == call->access.hi;
    if (!expects_independent(call))
        return OMPI_SUCCESS;
    int rc = expand_call(call);
    op->accesses = call->layer;
    if (OMPI_SUCCESS == rc)
        rc = tatp_op_transfer_early(op);
    call->access.is_done = OMPI_SUCCESS == rc;
    return rc;
}

static void choose_way(tatp_call *call, const coll_agreement *agreement, tatp_op *op)
{
    tatp_file *file = call->file;
    bool was_early = call->access.is_done && call->access.hi > 0;
    op->atomic = agreement->atomic;
    op->piece = agreement->aggregation.mean;
    op->independent =
        tatp_op_is_independent(file, call->write, op->atomic, &agreement->aggregation);
    op->is_done = op->independent && agreement->is_done;
    bool shares_locks = call->write && aggregation_shares_locks(&agreement->aggregation);
    op->may_be_independent = !op->atomic && 1 == agreement->layers && !shares_locks &&
                             tatp_op_chooses_way(&file->settings, call->write);
    file->was_independent[call->write] = op->independent;
    file->misjudged = file->misjudged || (was_early && !op->independent);
}

static int run_ops(tatp_call *call)
{
    tatp_file *file = call->file;
    tatp_op op = {.file = file, .write = call->write, .memory = &call->memory};
    coll_agreement agreement;
    double start = MPI_Wtime();
    (void)coll_message_bytes(file->group);
    int rc = prepare_call(call);
    if (OMPI_SUCCESS == rc)
        rc = transfer_early(call, &op);
    rc = coll_schedule_agree(file->schedule, file->group, &call->access, file->kept_bytes, rc,
                             &agreement);
    if (OMPI_SUCCESS == rc)
        rc = tatp_file_renew_settings(file, agreement.settings_differ, &agreement.reuse);
    if (OMPI_SUCCESS == rc)
        choose_way(call, &agreement, &op);
    op.time.st1 = MPI_Wtime() - start - op.time.st5;
    bool reuse = agreement.reuse && !op.independent;
    if (OMPI_SUCCESS == rc)
        rc = reuse ? reuse_plan(call, &op, &agreement) : run_anew(call, &op, &agreement);
    if (OMPI_SUCCESS == rc)
        tatp_file_publish_hints(file);
    coll_exchange_release(file->memory, file->group);
    call->moved = op.moved;
    return rc;
}

/* The same error on every rank, or success and status->_ucount. */
static int run_call(tatp_call *call, ompi_status_public_t *status)
{
    int rc = call->file->error;
    if (OMPI_SUCCESS == rc)
        rc = run_ops(call);
    if (OMPI_SUCCESS == rc && NULL != call->datarep)
        rc = tatp_datarep_end(call->datarep, call->moved);
    if (MPI_STATUS_IGNORE != status)
        status->_ucount = OMPI_SUCCESS == rc ? (size_t)call->moved : 0;
    return tatp_error_class(rc);
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, size_t count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    tatp_call call = {.write = write};
    if (NULL == file_of(fh))
        return tatp_error_class(-ENOMEM);
    tatp_requests_finish(file_of(fh)->comm);
    tatp_split_release(fh);
    fill_call(&call, fh, write, buf, count, datatype, false);
    int rc = run_call(&call, status);
    release_call(&call);
    return rc;
}

/* ---- non-blocking calls ---- */

static int run_request_call(void *call, ompi_status_public_t *status)
{
    return run_call(call, status);
}

static void release_request_call(void *call)
{
    release_call(call);
    free(call);
}

/* NULL: no memory. */
static tatp_call *new_request_call(void)
{
    tatp_call *call = calloc(1, sizeof *call);
    if (NULL == call)
        return NULL;
    call->request = tatp_request_new(run_request_call, release_request_call, call);
    if (NULL == call->request) {
        free(call);
        return NULL;
    }
    return call;
}

static void free_request_call(tatp_call *call)
{
    if (NULL != call)
        tatp_request_free(call->request);
}

bool tatp_calls_reserve(tatp_file *file)
{
    file->spare = new_request_call();
    return NULL != file->spare;
}

void tatp_calls_unreserve(tatp_file *file)
{
    free_request_call(file->spare);
    file->spare = NULL;
}

/* A rank has more calls in flight than memory. Because the others wait for its part, it takes part
 * at once, with that error, on which all ranks agree before data move between them. */
static int fail_without_request(tatp_file *file, bool write)
{
    tatp_call call = {.file = file, .write = write, .error = -ENOMEM};
    tatp_requests_finish(file->comm);
    return run_call(&call, MPI_STATUS_IGNORE);
}

int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, size_t count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    tatp_file *file = file_of(fh);
    tatp_split_release(fh); /* the request may be that of the handle */
    *request = &ompi_request_empty;
    if (NULL == file)
        return tatp_error_class(-ENOMEM);
    tatp_call *call = NULL != file->spare ? file->spare : new_request_call();
    if (NULL == call)
        return fail_without_request(file, write);
    fill_call(call, fh, write, buf, count, datatype, tatp_datarep_is_needed(fh, datatype));
    (void)tatp_calls_reserve(file);
    tatp_request_start(file->comm, fh->f_fh, call->request, request);
    return OMPI_SUCCESS;
}

void tatp_calls_release(void)
{
    tatp_requests_release();
}
