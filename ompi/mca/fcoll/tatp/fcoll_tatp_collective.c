/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective call: which bytes, then pass after pass, then the status.
 *
 * A pass moves ordered accesses. Views that go forward without overlap, which is all that MPI
 * allows for writing, are one ordered layer; a view that overlaps itself has more, and each rank
 * takes part in as many passes as the rank with most layers.
 *
 * The schedule of the call before serves again when every rank accesses what it did then, moved
 * by one distance that is the same for all (the next time step, most often): then one reduction
 * is all that goes before the data.
 *
 * Nothing returns between two collective steps: every rank carries its own error to the next
 * agreement, where it becomes everyone's. What depends on the arguments and the file pointer is
 * done where the call is made; everything else may be done on a stack of its own, later. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"

struct tatp_call {
    ompio_file_t *fh;
    tatp_module *module;
    bool write;
    int error; /* what was wrong with the arguments */
    access_list memory, file;
    bool expanded;      /* `file` and `layer` are known */
    access_list *layer; /* `layers` ordered lists; &file itself when it is ordered */
    size_t layers;
    tatp_start start;
    int64_t bytes;
    int64_t moved;
    char *converted;                  /* the user's data in the file's representation, or NULL */
    struct ompi_datatype_t *datatype; /* of the buffer that they are read into */
    opal_convertor_t convertor;
};

/* ---- which bytes ---- */

/* OMPIO opens a file for more than it was asked for, so that the system would not object. */
static int check_mode(const tatp_call *call)
{
    if (call->write && (call->fh->f_amode & MPI_MODE_RDONLY))
        return MPI_ERR_READ_ONLY;
    if (!call->write && (call->fh->f_amode & MPI_MODE_WRONLY))
        return MPI_ERR_ACCESS;
    return OMPI_SUCCESS;
}

/* Where the next access begins, past which the file pointer moves. */
static int take_place(tatp_call *call)
{
    int rc = tatp_view_start(call->fh, call->module, &call->start);
    if (OMPI_SUCCESS != rc)
        return rc;
    call->bytes = call->fh->f_view_size > 0 ? call->memory.bytes : 0;
    tatp_view_advance(call->fh, call->bytes);
    return OMPI_SUCCESS;
}

/* The buffer and the place in the view. Local; the error is kept. */
static void describe(tatp_call *call, ompio_file_t *fh, bool write, const void *buf, int count,
                     struct ompi_datatype_t *datatype)
{
    memset(call, 0, sizeof *call);
    call->fh = fh;
    call->module = (tatp_module *)fh->f_fcoll;
    call->write = write;
    call->error = check_mode(call);
    if (OMPI_SUCCESS == call->error)
        call->error = tatp_memory_layout(fh, buf, (size_t)count, datatype, &call->memory);
    if (OMPI_SUCCESS == call->error)
        call->error = take_place(call);
}

/* The bytes in the file, as ordered layers. Local. */
static int expand(tatp_call *call)
{
    if (call->expanded)
        return OMPI_SUCCESS;
    int rc = tatp_view_access(call->module, call->start, call->bytes, &call->file);
    if (OMPI_SUCCESS != rc)
        return rc;
    call->layer = &call->file;
    call->layers = 1;
    if (!access_is_ordered(&call->file))
        rc = tatp_from_errno(access_layers(&call->file, &call->layer, &call->layers));
    call->expanded = OMPI_SUCCESS == rc;
    return rc;
}

static void release(tatp_call *call)
{
    if (call->expanded && call->layer != &call->file) {
        for (size_t i = 0; i < call->layers; i++)
            access_release(&call->layer[i]);
        free(call->layer);
    }
    access_release(&call->memory);
    access_release(&call->file);
}

/* ---- other representations than the native one ---- */

/* OMPIO converts for calls that block only. */
static bool needs_conversion(const ompio_file_t *fh, const struct ompi_datatype_t *datatype)
{
    return !(fh->f_flags & OMPIO_DATAREP_NATIVE) && datatype != MPI_BYTE && datatype != MPI_CHAR;
}

static int prepare_convertor(tatp_call *call, const void *buf, int count,
                             struct ompi_datatype_t *datatype, size_t *bytes)
{
    opal_convertor_t *convertor = &call->convertor;
    OBJ_CONSTRUCT(convertor, opal_convertor_t);
    int rc =
        call->write
            ? opal_convertor_copy_and_prepare_for_send(call->fh->f_file_convertor, &datatype->super,
                                                       (size_t)count, buf,
                                                       CONVERTOR_SEND_CONVERSION, convertor)
            : opal_convertor_copy_and_prepare_for_recv(call->fh->f_file_convertor, &datatype->super,
                                                       (size_t)count, buf, 0, convertor);
    if (OPAL_SUCCESS == rc)
        opal_convertor_get_packed_size(convertor, bytes);
    return rc;
}

static int pack_converted(tatp_call *call, size_t bytes)
{
    struct iovec whole = {call->converted, bytes};
    uint32_t count = 1;
    size_t packed = bytes;
    if (opal_convertor_pack(&call->convertor, &whole, &count, &packed) < 0 || packed != bytes)
        return MPI_ERR_CONVERSION;
    return OMPI_SUCCESS;
}

/* Puts a buffer of the file's bytes in the place of the user's. The datatype may be freed by its
 * owner before the call is through. */
static int convert(tatp_call *call, const void *buf, int count, struct ompi_datatype_t *datatype)
{
    size_t bytes = 0;
    OBJ_RETAIN(datatype);
    call->datatype = datatype;
    int rc = prepare_convertor(call, buf, count, datatype, &bytes);
    if (OPAL_SUCCESS == rc) {
        call->converted = malloc(bytes + 1);
        rc = NULL == call->converted ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS == rc && call->write)
        rc = pack_converted(call, bytes);
    if (OMPI_SUCCESS == rc)
        rc = tatp_from_errno(access_append_memory(&call->memory, call->converted, bytes));
    return rc;
}

static void describe_converted(tatp_call *call, ompio_file_t *fh, bool write, const void *buf,
                               int count, struct ompi_datatype_t *datatype)
{
    describe(call, fh, write, NULL, 0, MPI_BYTE);
    if (OMPI_SUCCESS == call->error)
        call->error = convert(call, buf, count, datatype);
    if (OMPI_SUCCESS == call->error)
        call->error = take_place(call);
}

/* What was read, into the user's buffer. */
static int take_converted(tatp_call *call)
{
    size_t bytes = (size_t)call->moved;
    struct iovec read = {call->converted, bytes};
    uint32_t count = 1;
    if (NULL == call->converted || call->write || bytes == 0)
        return OMPI_SUCCESS;
    return opal_convertor_unpack(&call->convertor, &read, &count, &bytes) < 0 ? MPI_ERR_CONVERSION
                                                                              : OMPI_SUCCESS;
}

static void release_converted(tatp_call *call)
{
    if (NULL == call->datatype)
        return;
    opal_convertor_cleanup(&call->convertor);
    OBJ_DESTRUCT(&call->convertor);
    OBJ_RELEASE(call->datatype);
    free(call->converted);
}

/* ---- the first agreement ---- */

/* What all ranks say before anything else: whether the last schedule serves again, the same for all
 * and at one distance; the accessed range (ranks without data do not pull it to 0); how many
 * passes there are; whether any rank is in trouble. */
enum { FARTHEST, NEAREST, NEWEST, OLDEST, CHANGED, LOW, HIGH, PASSES, ERROR, VALUES };

/* Whether this rank accesses what it did when the schedule was made, but for a distance. */
static bool repeats(const tatp_call *call)
{
    const tatp_schedule *schedule = &call->module->schedule;
    return schedule->reusable && schedule->view == call->module->view &&
           schedule->bytes == call->bytes && !call->fh->f_atomicity &&
           (call->bytes == 0 || schedule->start.used == call->start.used);
}

static void say_range(int64_t *value, int64_t lo, int64_t hi)
{
    value[LOW] = hi > 0 ? -lo : -ACCESS_END;
    value[HIGH] = hi;
}

static void say_new(const tatp_call *call, int64_t *value)
{
    value[CHANGED] = 1;
    value[PASSES] = (int64_t)call->layers;
    if (call->layers > 0)
        say_range(value, access_lower(call->layer), access_upper(call->layer));
}

static void say_again(const tatp_call *call, int64_t *value)
{
    const tatp_schedule *schedule = &call->module->schedule;
    int64_t distance = call->start.offset - schedule->start.offset;
    value[PASSES] = 1;
    if (call->bytes == 0)
        return;
    value[FARTHEST] = distance;
    value[NEAREST] = -distance;
    say_range(value, schedule->own_lo + distance, schedule->own_hi + distance);
}

/* `rc` is what this rank brings along. The error is everyone's. */
static int agree_first(const tatp_call *call, bool again, int rc, int64_t *value)
{
    const tatp_schedule *schedule = &call->module->schedule;
    value[FARTHEST] = value[NEAREST] = -INT64_MAX;
    value[NEWEST] = schedule->id;
    value[OLDEST] = -schedule->id;
    value[CHANGED] = value[HIGH] = value[PASSES] = 0;
    value[LOW] = -ACCESS_END;
    value[ERROR] = tatp_error_class(rc);
    if (OMPI_SUCCESS == rc && again)
        say_again(call, value);
    else if (OMPI_SUCCESS == rc)
        say_new(call, value);
    rc = tatp_agree_max(call->fh, value, VALUES);
    return OMPI_SUCCESS != rc ? rc : (int)value[ERROR];
}

/* Where nothing has changed, every rank has the same schedule, whose period is known. */
static bool serves_again(const tatp_schedule *schedule, const int64_t *value)
{
    return !value[CHANGED] && value[FARTHEST] == -value[NEAREST] &&
           value[NEWEST] == -value[OLDEST] && value[FARTHEST] % schedule->period == 0;
}

/* The accessed range of a further layer over all ranks; hi is 0 when nobody accesses anything. An
 * error is everyone's. */
static int agree_range(tatp_pass *pass)
{
    int64_t value[] = {-ACCESS_END, access_upper(pass->file)};
    if (pass->file->count > 0)
        value[0] = -access_lower(pass->file);
    int rc = tatp_agree_max(pass->fh, value, 2);
    pass->schedule->lo = -value[0];
    pass->schedule->hi = value[1];
    return rc;
}

/* ---- a schedule ---- */

/* Domains, and this rank's share of each. Local. */
static int divide(tatp_pass *pass)
{
    tatp_schedule *schedule = pass->schedule;
    int rc = tatp_divide(pass->module, schedule);
    if (OMPI_SUCCESS != rc)
        return rc;
    return tatp_from_errno(
        domains_cut(&schedule->domains, pass->file, &schedule->share, &schedule->shares));
}

static void forget_domains(tatp_schedule *schedule)
{
    free(schedule->decision.aggregator);
    schedule->decision.aggregator = NULL;
    schedule->aggregates = false;
    schedule->expected = 0;
    domains_free_shares(schedule->share, schedule->shares);
    schedule->share = NULL;
    schedule->shares = 0;
    domains_release(&schedule->domains);
}

/* In place of even domains, where that is better. */
static int fit(tatp_pass *pass)
{
    tatp_units units;
    bool may_fit;
    int local = OMPI_SUCCESS;
    int rc = tatp_fit(pass, &units, &local);
    if (OMPI_SUCCESS != rc || units.unit == 0)
        return rc;
    forget_domains(pass->schedule);
    pass->schedule->fitted = true;
    pass->schedule->units = units;
    return tatp_decide(pass, OMPI_SUCCESS != local ? local : divide(pass), &may_fit);
}

/* Domains and who serves them. */
static int assign(tatp_pass *pass, int rc)
{
    double start = MPI_Wtime();
    bool may_fit;
    rc = tatp_decide(pass, OMPI_SUCCESS != rc ? rc : divide(pass), &may_fit);
    if (OMPI_SUCCESS == rc && may_fit)
        rc = fit(pass);
    if (OMPI_SUCCESS == rc)
        pass->schedule->cycle = tatp_window_size(pass->module, pass->schedule);
    pass->time.st2 += MPI_Wtime() - start;
    return rc;
}

/* Who contributes to this rank's domain. A failure is local. */
static int exchange(tatp_pass *pass)
{
    double start = MPI_Wtime();
    int rc = tatp_exchange_requests(pass);
    pass->time.st3 += MPI_Wtime() - start;
    return rc;
}

/* All memory for the data too, so that nothing can fail in the cycles but the file. */
static int make_schedule(tatp_pass *pass, int rc)
{
    rc = assign(pass, rc);
    if (OMPI_SUCCESS != rc)
        return rc;
    int local = exchange(pass);
    double start = MPI_Wtime();
    tatp_share_windows(pass);
    if (OMPI_SUCCESS == local)
        local = tatp_cycles_prepare(pass);
    rc = tatp_agree_error(pass->fh, local);
    pass->time.st3 += MPI_Wtime() - start;
    return rc;
}

void tatp_schedule_release(tatp_schedule *schedule)
{
    tatp_cycles_free(schedule->cycles);
    for (size_t i = 0; i < schedule->contributors; i++)
        access_release(&schedule->contributor[i].list);
    free(schedule->contributor);
    forget_domains(schedule);
    free(schedule->units.of);
    matrix_release(&schedule->requests);
    matrix_release(&schedule->even_requests);
    matrix_release(&schedule->blocks);
    memset(schedule, 0, sizeof *schedule);
}

/* ---- passes ---- */

/* The data, by a schedule that is complete on all ranks. */
static int transfer(tatp_pass *pass)
{
    enum { WORST, LONG, VALUES_AT_END };
    int64_t value[VALUES_AT_END] = {tatp_error_class(tatp_cycles_run(pass)),
                                    tatp_record_is_long(pass->module)};
    int rc = tatp_agree_max(pass->fh, value, VALUES_AT_END);
    tatp_cycles_put_back(pass->schedule->cycles);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[WORST];
    if (OMPI_SUCCESS == rc)
        tatp_record_pass(pass, value[LONG] > 0);
    if (OMPI_SUCCESS == rc)
        rc = tatp_stats_report(pass);
    return rc;
}

/* What a later call has to repeat for the schedule to serve it. */
static void remember(tatp_call *call, tatp_schedule *schedule)
{
    schedule->view = call->module->view;
    schedule->start = call->start;
    schedule->bytes = call->bytes;
    schedule->own_lo = call->layer->count > 0 ? access_lower(call->layer) : 0;
    schedule->own_hi = access_upper(call->layer);
    schedule->reusable = !call->fh->f_atomicity;
}

/* One layer, with a schedule of its own, which stays in the module. `rc` is what this rank brings
 * along. */
static int run_layer(tatp_pass *pass, int rc)
{
    if (pass->schedule->hi == 0)
        return rc;
    rc = make_schedule(pass, rc);
    if (OMPI_SUCCESS == rc)
        rc = transfer(pass);
    pass->time = (tatp_times){0};
    return rc;
}

/* The first layer's range has been agreed upon, and that there are `passes`. */
static int run_layers(tatp_call *call, tatp_pass *pass, int64_t lo, int64_t hi, int64_t passes)
{
    static const access_list nothing;
    tatp_schedule *schedule = pass->schedule;
    int rc = expand(call);
    tatp_schedule_release(schedule);
    schedule->lo = lo;
    schedule->hi = hi;
    pass->file = OMPI_SUCCESS == rc ? call->layer : &nothing;
    rc = run_layer(pass, rc);
    if (OMPI_SUCCESS == rc && passes == 1 && hi > 0)
        remember(call, schedule);
    for (int64_t i = 1; i < passes && OMPI_SUCCESS == rc; i++) {
        tatp_schedule_release(schedule);
        pass->file = (size_t)i < call->layers ? &call->layer[i] : &nothing;
        rc = agree_range(pass);
        if (OMPI_SUCCESS == rc)
            rc = run_layer(pass, rc);
    }
    return rc;
}

static int run(tatp_call *call)
{
    tatp_schedule *schedule = &call->module->schedule;
    tatp_pass pass = {.fh = call->fh,
                      .module = call->module,
                      .write = call->write,
                      .memory = &call->memory,
                      .schedule = schedule};
    double start = MPI_Wtime();
    int64_t value[VALUES];
    int rc = call->error;
    bool again = OMPI_SUCCESS == rc && repeats(call);
    if (OMPI_SUCCESS == rc)
        rc = again ? tatp_cycles_reserve(schedule->cycles) : expand(call);
    if (OMPI_SUCCESS == rc && again && tatp_record_wants(call->module))
        rc = expand(call);
    rc = agree_first(call, again, rc, value);
    pass.time.st1 = MPI_Wtime() - start;
    if (OMPI_SUCCESS == rc && serves_again(schedule, value)) {
        pass.again = true;
        pass.shift = value[FARTHEST];
        pass.file = call->layer;
        rc = transfer(&pass);
    } else if (OMPI_SUCCESS == rc) {
        rc = run_layers(call, &pass, -value[LOW], value[HIGH], value[PASSES]);
    } else if (again) {
        tatp_cycles_put_back(schedule->cycles);
    }
    call->moved = pass.moved;
    return rc;
}

/* ---- the call ---- */

int tatp_call_run(tatp_call *call, ompi_status_public_t *status)
{
    int rc = call->module->where.error;
    if (OMPI_SUCCESS == rc)
        rc = run(call);
    if (OMPI_SUCCESS == rc)
        rc = take_converted(call);
    if (status != MPI_STATUS_IGNORE)
        status->_ucount = OMPI_SUCCESS == rc ? (size_t)call->moved : 0;
    return rc;
}

tatp_call *tatp_call_new(void)
{
    return calloc(1, sizeof(tatp_call));
}

void tatp_call_free(tatp_call *call)
{
    if (NULL == call)
        return;
    release(call);
    release_converted(call);
    free(call);
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, int count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    tatp_call call;
    tatp_operations_finish((const tatp_module *)fh->f_fcoll);
    describe(&call, fh, write, buf, count, datatype);
    int rc = tatp_call_run(&call, status);
    release(&call);
    return rc;
}

/* The last resort of a rank that has more calls under way than memory: the others wait for its
 * part, so that it makes the call at once, and fails for having no request to give. */
static int make_at_once(ompio_file_t *fh, bool write, const void *buf, int count,
                        struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    *request = &ompi_request_empty;
    int rc = tatp_collective(fh, write, buf, count, datatype, MPI_STATUS_IGNORE);
    return OMPI_SUCCESS != rc ? rc : OMPI_ERR_OUT_OF_RESOURCE;
}

int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, int count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    tatp_module *module = (tatp_module *)fh->f_fcoll;
    tatp_operation *operation = NULL != module->spare ? module->spare : tatp_operation_new();
    if (NULL == operation)
        return make_at_once(fh, write, buf, count, datatype, request);
    if (needs_conversion(fh, datatype))
        describe_converted(tatp_operation_call(operation), fh, write, buf, count, datatype);
    else
        describe(tatp_operation_call(operation), fh, write, buf, count, datatype);
    module->spare = tatp_operation_new();
    tatp_operation_start(fh, operation, request);
    return OMPI_SUCCESS;
}
