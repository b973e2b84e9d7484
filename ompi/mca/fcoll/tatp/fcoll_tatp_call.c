/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls on a file: what is accessed, then operation after operation, then the status.
 *
 * An operation moves one ordered access list of each rank. Views that go forward without overlap,
 * which is all that MPI allows for writing, give one ordered list; a view that overlaps itself
 * gives more layers, and each rank takes part in as many operations as the rank with most layers.
 *
 * The plan of the last call is reused when every rank accesses what it did then, moved by one
 * distance that is the same for all (the next time step, most often): then one reduction is all
 * that precedes the data.
 *
 * Nothing returns between two collective steps: every rank carries its own error to the next
 * agreement, where it becomes the error of all. What depends on the arguments and the file pointer
 * is done when the call is made; everything else may be done on a stack of its own, later. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_exchange.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats.h"

/* ---- an open file ---- */

typedef struct tatp_call tatp_call;

struct tatp_file {
    tatp_plan_settings settings;
    bool is_open; /* all ranks have agreed on `error` */
    int error;    /* of the opening */
    tatp_io io;
    tatp_comm *comm;
    tatp_view *view;
    tatp_nodes *nodes;
    tatp_plan *plan; /* of the last operation, and the exchange that was prepared for it */
    tatp_exchange *exchange;
    int64_t plan_ops; /* operations by this plan */
    tatp_record *record;
    tatp_stats *stats;
    tatp_call *spare; /* for the next non-blocking call: others wait for it even without memory */
};

static tatp_call *new_request_call(void);
static void free_request_call(tatp_call *call);

tatp_file *tatp_file_new(const ompi_process_name_t *group)
{
    tatp_file *file = calloc(1, sizeof *file);
    if (NULL == file)
        return NULL;
    file->comm = tatp_comm_new();
    file->view = tatp_view_new();
    file->nodes = tatp_nodes_new();
    file->plan = tatp_plan_new();
    file->exchange = tatp_exchange_new(group);
    file->record = tatp_record_new();
    file->stats = tatp_stats_new();
    file->spare = new_request_call();
    if (NULL != file->comm && NULL != file->view && NULL != file->nodes && NULL != file->plan &&
        NULL != file->exchange && NULL != file->record && NULL != file->stats &&
        NULL != file->spare)
        return file;
    tatp_file_free(file);
    return NULL;
}

void tatp_file_free(tatp_file *file)
{
    free_request_call(file->spare);
    tatp_stats_free(file->stats);
    tatp_record_free(file->record);
    tatp_exchange_free(file->exchange);
    tatp_plan_free(file->plan);
    tatp_nodes_free(file->nodes);
    tatp_view_free(file->view);
    tatp_comm_free(file->comm);
    free(file);
}

bool tatp_file_has_settings(const tatp_file *file, const tatp_plan_settings *settings)
{
    return 0 == memcmp(settings, &file->settings, sizeof *settings);
}

void tatp_file_open(tatp_file *file, ompio_file_t *fh, const tatp_plan_settings *settings)
{
    if (!tatp_file_has_settings(file, settings))
        tatp_plan_forbid_reuse(file->plan);
    file->settings = *settings;
    file->io = (tatp_io){fh, fh->f_fbtl};
    file->is_open = false;
}

static bool is_set(const char *path)
{
    return NULL != path && '\0' != path[0];
}

/* This rank's part of the opening. Rank 0 checks what the user asked for, before the first access.
 */
static int prepare_file(tatp_file *file)
{
    const ompio_file_t *fh = file->io.fh;
    int rc = tatp_comm_attach(file->comm, fh->f_comm);
    if (OMPI_SUCCESS == rc)
        rc = tatp_plan_prepare(file->plan, fh->f_size);
    if (OMPI_SUCCESS == rc)
        rc = tatp_stats_prepare(file->stats, fh->f_rank, fh->f_size);
    if (OMPI_SUCCESS == rc && 0 == fh->f_rank)
        rc = tatp_params_check();
    if (OMPI_SUCCESS == rc && 0 == fh->f_rank && is_set(tatp_params_get().record_file))
        rc = tatp_record_check(tatp_params_get().record_file);
    return rc;
}

/* The handle is closed while another component is selected. */
static void finish_requests(void *context)
{
    tatp_requests_finish(((const tatp_file *)context)->comm);
}

static void begin_record(tatp_file *file)
{
    const tatp_record_options options = {
        .path = tatp_params_get().record_file,
        .weight = tatp_params_get().record_weight,
        .comm = file->comm,
        .nodes = tatp_nodes_count(file->nodes),
        .closing = finish_requests,
        .context = file,
    };
    tatp_record_begin(file->record, file->io.fh, &options);
}

void tatp_file_set_view(tatp_file *file)
{
    tatp_requests_finish(file->comm);
    tatp_view_reset(file->view);
    if (!file->is_open) {
        file->error = tatp_nodes_init(file->nodes, file->comm, tatp_params_get().topology,
                                      prepare_file(file));
        file->is_open = true;
    }
    if (OMPI_SUCCESS == file->error && is_set(tatp_params_get().record_file))
        begin_record(file);
}

bool tatp_file_close(tatp_file *file)
{
    tatp_requests_finish(file->comm);
    tatp_record_end(file->record);
    return file->is_open && OMPI_SUCCESS == file->error;
}

void tatp_calls_release(void)
{
    tatp_requests_release();
    tatp_exchange_release_all();
}

/* ---- one operation: plan, requests, shuffle and file access, last agreement ---- */

typedef struct tatp_op {
    tatp_file *file;
    bool write;
    bool repeats;                /* by a plan that was used before */
    const access_list *memory;   /* bytes of the stream <-> addresses */
    const access_list *accesses; /* bytes of the stream <-> the file, ordered */
    int64_t lo, hi;              /* accessed range of the plan, over all ranks */
    int64_t shift;               /* byte o of the plan is byte o + shift of the file */
    tatp_times time;
    int64_t moved; /* bytes of this rank's buffer that were written or read */
} tatp_op;

/* Domains and their aggregators. rc: this rank's status so far. Collective; the error is that of
 * all ranks. */
static int make_plan(tatp_op *op, int rc)
{
    tatp_file *file = op->file;
    const char *stats = tatp_params_get().stats_file;
    const tatp_plan_input in = {
        .settings = &file->settings,
        .comm = file->comm,
        .nodes = file->nodes,
        .accesses = op->accesses,
        .lo = op->lo,
        .hi = op->hi,
        .all_entries = tatp_stats_enabled(stats),
        .keep_entries = tatp_stats_wants_plan(stats),
    };
    double start = MPI_Wtime();
    rc = tatp_plan_make(file->plan, &in, rc);
    file->plan_ops = 0;
    op->time.st2 = MPI_Wtime() - start;
    return rc;
}

/* As make_plan. */
static int prepare_exchange(tatp_op *op)
{
    tatp_file *file = op->file;
    tatp_plan_view plan = tatp_plan_get(file->plan);
    const tatp_exchange_layout layout = {
        .cycle_size = plan.cycle_size,
        .num_cycles = plan.num_cycles,
        .message_size = file->settings.cycles.message,
        .domains = plan.domains,
        .aggregator = plan.aggregator,
        .share = plan.share,
        .shares = plan.shares,
        .aggregates = plan.aggregates,
        .domain = plan.domain,
        .contributors = plan.contributors,
        .ordered = op->write && file->io.fh->f_atomicity,
        .use_shared_memory = tatp_params_get().shared_memory,
    };
    double start = MPI_Wtime();
    int rc =
        tatp_agree_error(file->comm, tatp_exchange_prepare(file->exchange, file->comm, &layout));
    op->time.st3 = MPI_Wtime() - start;
    return rc;
}

static int report_stats(const tatp_op *op, const exchange_result *moved, int64_t metadata)
{
    tatp_file *file = op->file;
    const tatp_stats_access access = {
        .path = tatp_params_get().stats_file,
        .file = file->io.fh->f_filename,
        .write = op->write,
        .time = op->time,
        .moved = moved->moved,
        .messages = moved->messages,
        .metadata = metadata,
        .plan_calls = file->plan_ops,
        .settings = &file->settings,
        .plan = file->plan,
        .nodes = file->nodes,
    };
    return tatp_stats_report(file->stats, file->comm, &access);
}

/* Tells the observers of an operation that was carried out. */
static int observe_op(const tatp_op *op, bool is_long, const exchange_result *moved)
{
    const tatp_record_access access = {op->accesses, op->lo + op->shift, op->hi + op->shift,
                                       op->repeats};
    int64_t metadata = tatp_message_bytes(op->file->comm);
    tatp_record_add(op->file->record, &access, is_long);
    return report_stats(op, moved, metadata);
}

/* Moves the data, by a plan and an exchange that are complete on all ranks. */
static int transfer_data(tatp_op *op)
{
    enum { ERROR, LONG, VALUES };
    tatp_file *file = op->file;
    exchange_run run = {
        .write = op->write,
        .memory = op->memory,
        .shift = op->shift,
        .probe = tatp_stats_probe(file->stats, tatp_params_get().stats_file,
                                  tatp_plan_get(file->plan).num_cycles),
    };
    exchange_result moved = {0};
    tatp_exchange_times times = {0};
    int rc = tatp_exchange_run(file->exchange, file->comm, &file->io, &run, &moved, &times);
    int64_t value[VALUES] = {tatp_error_class(rc), tatp_record_is_long(file->record)};
    op->time.st4 = times.shuffle;
    op->time.st5 = times.access;
    op->moved += moved.moved;
    file->plan_ops++;
    rc = tatp_agree_max(file->comm, value, VALUES);
    tatp_exchange_release(file->exchange);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[ERROR];
    return OMPI_SUCCESS == rc ? observe_op(op, value[LONG] > 0, &moved) : rc;
}

/* An operation with a plan of its own, which stays in the file. rc: this rank's status so far. The
 * error is that of all ranks. */
static int run_planned_op(tatp_op *op, int rc)
{
    tatp_exchange_reset(op->file->exchange);
    tatp_plan_reset(op->file->plan);
    if (0 == op->hi)
        return rc;
    rc = make_plan(op, rc);
    if (OMPI_SUCCESS == rc)
        rc = prepare_exchange(op);
    if (OMPI_SUCCESS == rc)
        rc = transfer_data(op);
    op->time = (tatp_times){0};
    return rc;
}

/* ---- one call ---- */

struct tatp_call {
    tatp_file *file;
    bool write;
    int error; /* of the arguments */
    access_list memory, accesses;
    access_list
        *layer; /* `layers` ordered lists; &accesses if that is ordered; NULL: not expanded */
    size_t layers;
    tatp_position position;
    int64_t bytes;
    int64_t moved;
    tatp_datarep *datarep; /* or NULL */
    tatp_request *request; /* of a non-blocking call */
};

/* OMPIO opens a file for more than it was asked for, so that the system would not object. */
static int check_mode(const ompio_file_t *fh, bool write)
{
    if (write && (fh->f_amode & MPI_MODE_RDONLY))
        return MPI_ERR_READ_ONLY;
    if (!write && (fh->f_amode & MPI_MODE_WRONLY))
        return MPI_ERR_ACCESS;
    return OMPI_SUCCESS;
}

/* What the call accesses in memory, and where in the view it begins; moves the file pointer past
 * it. Local; the error is kept. */
static void describe_call(tatp_call *call, ompio_file_t *fh, bool write, const void *buf, int count,
                          struct ompi_datatype_t *datatype, bool convert)
{
    call->file = ((mca_fcoll_tatp_module_t *)fh->f_fcoll)->file;
    call->write = write;
    int rc = check_mode(fh, write);
    if (OMPI_SUCCESS == rc && convert)
        rc = tatp_datarep_begin(fh, write, buf, count, datatype, &call->memory, &call->datarep);
    else if (OMPI_SUCCESS == rc)
        rc = tatp_memory_layout(fh, buf, (size_t)count, datatype, &call->memory);
    if (OMPI_SUCCESS == rc)
        rc = tatp_view_position(call->file->view, fh, &call->position);
    if (OMPI_SUCCESS == rc) {
        call->bytes = fh->f_view_size > 0 ? call->memory.bytes : 0;
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
        return tatp_from_errno(access_layers(&call->accesses, &call->layer, &call->layers));
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
    access_release(&call->memory);
    access_release(&call->accesses);
    tatp_datarep_free(call->datarep);
}

static tatp_plan_access describe_access(const tatp_call *call)
{
    return (tatp_plan_access){
        .view = tatp_view_id(call->file->view),
        .offset = call->position.offset,
        .used = call->position.used,
        .bytes = call->bytes,
        .atomic = call->file->io.fh->f_atomicity,
        .layer = call->layer,
        .layers = call->layers,
    };
}

/* The accessed range of a further layer over all ranks; hi is 0 if no rank has data. */
static int agree_range(tatp_op *op)
{
    int64_t value[] = {-access_lower(op->accesses), access_upper(op->accesses)};
    int rc = tatp_agree_max(op->file->comm, value, 2);
    op->lo = -value[0];
    op->hi = value[1];
    return rc;
}

/* Plans and runs an operation for each layer; the range of the first is agreed. */
static int run_layers(tatp_call *call, tatp_op *op, int64_t layers)
{
    static const access_list nothing;
    int rc = expand_call(call);
    op->accesses = OMPI_SUCCESS == rc && call->layers > 0 ? call->layer : &nothing;
    rc = run_planned_op(op, rc);
    if (OMPI_SUCCESS == rc && 1 == layers && op->hi > 0) {
        tatp_plan_access access = describe_access(call);
        tatp_plan_remember(call->file->plan, &access);
    }
    for (int64_t i = 1; i < layers && OMPI_SUCCESS == rc; i++) {
        op->accesses = (size_t)i < call->layers ? &call->layer[i] : &nothing;
        rc = agree_range(op);
        if (OMPI_SUCCESS == rc)
            rc = run_planned_op(op, rc);
    }
    return rc;
}

/* What this rank needs before the first agreement. *repeats: its access repeats the last one. */
static int prepare_call(tatp_call *call, bool *repeats)
{
    const tatp_file *file = call->file;
    tatp_plan_access access = describe_access(call);
    int rc = call->error;
    *repeats = OMPI_SUCCESS == rc && tatp_plan_repeats(file->plan, &access);
    if (*repeats)
        rc = tatp_exchange_acquire(file->exchange);
    bool needs_list = !*repeats || tatp_record_wants_list(file->record);
    return OMPI_SUCCESS == rc && needs_list ? expand_call(call) : rc;
}

static int run_ops(tatp_call *call)
{
    tatp_file *file = call->file;
    tatp_op op = {.file = file, .write = call->write, .memory = &call->memory};
    tatp_plan_agreement agreement;
    double start = MPI_Wtime();
    (void)tatp_message_bytes(file->comm);
    int rc = prepare_call(call, &op.repeats);
    tatp_plan_access access = describe_access(call);
    rc = tatp_plan_agree(file->plan, file->comm, &access, op.repeats, rc, &agreement);
    op.time.st1 = MPI_Wtime() - start;
    if (OMPI_SUCCESS == rc && agreement.reuse) {
        tatp_plan_view plan = tatp_plan_get(file->plan);
        op.lo = plan.lo;
        op.hi = plan.hi;
        op.shift = agreement.shift;
        op.accesses = call->layer;
        rc = transfer_data(&op);
    } else if (OMPI_SUCCESS == rc) {
        op.repeats = false;
        op.lo = agreement.lo;
        op.hi = agreement.hi;
        rc = run_layers(call, &op, agreement.layers);
    } else {
        tatp_exchange_release(file->exchange);
    }
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
    return rc;
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, int count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    tatp_call call = {.write = write};
    tatp_requests_finish(((mca_fcoll_tatp_module_t *)fh->f_fcoll)->file->comm);
    describe_call(&call, fh, write, buf, count, datatype, false);
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

/* The last resort of a rank that has more calls in flight than memory: because the others wait for
 * its part, it makes the call at once, and fails since it has no request to return. */
static int call_without_request(ompio_file_t *fh, bool write, const void *buf, int count,
                                struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    *request = &ompi_request_empty;
    int rc = tatp_collective(fh, write, buf, count, datatype, MPI_STATUS_IGNORE);
    return OMPI_SUCCESS != rc ? rc : OMPI_ERR_OUT_OF_RESOURCE;
}

int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, int count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    tatp_file *file = ((mca_fcoll_tatp_module_t *)fh->f_fcoll)->file;
    tatp_call *call = NULL != file->spare ? file->spare : new_request_call();
    if (NULL == call)
        return call_without_request(fh, write, buf, count, datatype, request);
    describe_call(call, fh, write, buf, count, datatype, tatp_datarep_is_needed(fh, datatype));
    file->spare = new_request_call();
    tatp_request_start(file->comm, fh->f_fh, call->request, request);
    return OMPI_SUCCESS;
}
