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
 * agreement, where it becomes everyone's. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

typedef struct collective_call {
    ompio_file_t *fh;
    tatp_module *module;
    bool write;
    access_list memory, file;
    access_list *layer; /* `layers` ordered lists; &file itself when it is ordered */
    size_t layers;
    tatp_start start;
    int64_t bytes;
    int64_t moved;
} collective_call;

/* ---- which bytes ---- */

/* OMPIO opens a file for more than it was asked for, so that the system would not object. */
static int check_mode(const collective_call *call)
{
    if (call->write && (call->fh->f_amode & MPI_MODE_RDONLY))
        return MPI_ERR_READ_ONLY;
    if (!call->write && (call->fh->f_amode & MPI_MODE_WRONLY))
        return MPI_ERR_ACCESS;
    return OMPI_SUCCESS;
}

/* The buffer and the place in the view. Local. */
static int describe(collective_call *call, const void *buf, int count,
                    struct ompi_datatype_t *datatype)
{
    int rc = check_mode(call);
    if (rc == OMPI_SUCCESS)
        rc = tatp_memory_layout(call->fh, buf, (size_t)count, datatype, &call->memory);
    if (rc == OMPI_SUCCESS)
        rc = tatp_view_start(call->fh, call->module, &call->start);
    if (rc != OMPI_SUCCESS)
        return rc;
    call->bytes = call->fh->f_view_size > 0 ? call->memory.bytes : 0;
    tatp_view_advance(call->fh, call->bytes);
    return OMPI_SUCCESS;
}

/* The bytes in the file, as ordered layers. Local. */
static int expand(collective_call *call)
{
    int rc = tatp_view_access(call->module, call->start, call->bytes, &call->file);
    if (rc != OMPI_SUCCESS)
        return rc;
    call->layer = &call->file;
    call->layers = 1;
    if (!access_is_ordered(&call->file))
        rc = tatp_from_errno(access_layers(&call->file, &call->layer, &call->layers));
    return rc;
}

static void release(collective_call *call)
{
    if (call->layer != &call->file) {
        for (size_t i = 0; i < call->layers; i++)
            access_release(&call->layer[i]);
        free(call->layer);
    }
    access_release(&call->memory);
    access_release(&call->file);
}

/* ---- agreements ---- */

/* The accessed range over all ranks, how many passes there are, and whether any rank is in
 * trouble: one reduction. Ranks without data do not pull the range to 0. */
static int agree_range(tatp_pass *pass, int rc, int64_t *passes)
{
    enum { LOW, HIGH, PASSES, ERROR, VALUES };
    tatp_schedule *schedule = pass->schedule;
    int64_t value[VALUES];
    value[LOW] = pass->file->count ? -access_lower(pass->file) : -ACCESS_END;
    value[HIGH] = access_upper(pass->file);
    value[PASSES] = *passes;
    value[ERROR] = tatp_error_class(rc);
    rc = tatp_agree_max(pass->fh, value, VALUES);
    if (rc != OMPI_SUCCESS)
        return rc;
    schedule->lo = -value[LOW];
    schedule->hi = value[HIGH];
    *passes = value[PASSES];
    return (int)value[ERROR];
}

/* Whether this rank accesses what it did when the schedule was made, but for a distance. */
static bool repeats(const collective_call *call, const tatp_schedule *schedule)
{
    return schedule->reusable && schedule->view == call->module->view &&
           schedule->bytes == call->bytes &&
           (call->bytes == 0 || schedule->start.used == call->start.used);
}

/* Whether the schedule serves again, on all ranks alike and the same for all, and at which
 * distance. */
static int agree_repetition(const collective_call *call, int rc, bool *again, int64_t *shift)
{
    enum { FARTHEST, NEAREST, NEWEST, OLDEST, CHANGED, ERROR, VALUES };
    const tatp_schedule *schedule = &call->module->schedule;
    int64_t distance = call->start.offset - schedule->start.offset;
    int64_t value[VALUES] = {-INT64_MAX,    -INT64_MAX,
                             schedule->id,  -schedule->id,
                             !repeats(call, schedule), tatp_error_class(rc)};
    if (call->bytes > 0) {
        value[FARTHEST] = distance;
        value[NEAREST] = -distance;
    }
    rc = tatp_agree_max(call->fh, value, VALUES);
    if (rc != OMPI_SUCCESS)
        return rc;
    *again = !value[CHANGED] && value[FARTHEST] == -value[NEAREST] &&
             value[NEWEST] == -value[OLDEST];
    *shift = value[FARTHEST];
    return (int)value[ERROR];
}

/* ---- a schedule ---- */

/* Domains, and this rank's share of each. Local. */
static int divide(tatp_pass *pass)
{
    tatp_schedule *schedule = pass->schedule;
    int64_t bytes = schedule->hi - schedule->lo;
    size_t count = tatp_domain_count(pass->module, bytes);
    int rc = domains_even(&schedule->domains, schedule->lo, schedule->hi, count,
                          tatp_domain_alignment(pass->module, bytes, count));
    if (rc == 0)
        rc = domains_cut(&schedule->domains, pass->file, &schedule->share, &schedule->shares);
    if (rc == 0)
        schedule->cycle = tatp_cycle_size(pass->module, &schedule->domains);
    return tatp_from_errno(rc);
}

/* Domains and who serves them. */
static int assign(tatp_pass *pass)
{
    double start = MPI_Wtime();
    int rc = tatp_decide(pass, divide(pass));
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

int tatp_prepare_requests(tatp_pass *pass, int rc, int64_t *passes)
{
    double start = MPI_Wtime();
    rc = agree_range(pass, rc, passes);
    pass->time.st1 += MPI_Wtime() - start;
    if (rc != OMPI_SUCCESS || pass->schedule->hi == 0)
        return rc;
    rc = assign(pass);
    return rc != OMPI_SUCCESS ? rc : tatp_agree_error(pass->fh, exchange(pass));
}

void tatp_schedule_release(tatp_schedule *schedule)
{
    for (size_t i = 0; i < schedule->contributors; i++)
        access_release(&schedule->contributor[i].list);
    free(schedule->contributor);
    free(schedule->decision.aggregator);
    domains_free_shares(schedule->share, schedule->shares);
    domains_release(&schedule->domains);
    memset(schedule, 0, sizeof *schedule);
}

/* ---- passes ---- */

/* All memory for the data, so that nothing can fail in the cycles but the file. */
static int prepare_cycles(tatp_pass *pass, tatp_cycles **cycles)
{
    double start = MPI_Wtime();
    int rc = tatp_agree_error(pass->fh, tatp_cycles_prepare(pass, cycles));
    pass->time.st3 += MPI_Wtime() - start;
    return rc;
}

/* The data, by a schedule that is complete on all ranks. */
static int transfer(tatp_pass *pass)
{
    tatp_cycles *cycles = NULL;
    int rc = prepare_cycles(pass, &cycles);
    if (rc == OMPI_SUCCESS)
        rc = tatp_agree_error(pass->fh, tatp_cycles_run(cycles));
    tatp_cycles_free(cycles);
    if (rc == OMPI_SUCCESS && tatp_records())
        rc = tatp_record_pass(pass);
    if (rc == OMPI_SUCCESS)
        rc = tatp_stats_report(pass);
    return rc;
}

/* One layer, with a schedule of its own, which stays in the module. */
static int run_layer(collective_call *call, tatp_pass *pass, int rc, int64_t *passes)
{
    tatp_schedule_release(pass->schedule);
    rc = tatp_prepare_requests(pass, rc, passes);
    if (rc != OMPI_SUCCESS || pass->schedule->hi == 0)
        return rc;
    tatp_share_windows(pass);
    rc = transfer(pass);
    pass->schedule->view = call->module->view;
    pass->schedule->start = call->start;
    pass->schedule->bytes = call->bytes;
    pass->schedule->reusable = rc == OMPI_SUCCESS && *passes == 1;
    return rc;
}

static int run_layers(collective_call *call, tatp_pass *pass, int rc)
{
    static const access_list nothing;
    if (rc == OMPI_SUCCESS)
        rc = expand(call);
    int64_t passes = (int64_t)call->layers;
    for (int64_t i = 0; i < passes || i == 0; i++) {
        pass->file = rc == OMPI_SUCCESS && (size_t)i < call->layers ? &call->layer[i] : &nothing;
        rc = run_layer(call, pass, rc, &passes);
        if (rc != OMPI_SUCCESS)
            return rc;
        pass->time = (tatp_times){0};
    }
    return OMPI_SUCCESS;
}

/* `rc` is what describe() said. */
static int run(collective_call *call, int rc)
{
    tatp_pass pass = {.fh = call->fh, .module = call->module, .write = call->write,
                      .memory = &call->memory, .schedule = &call->module->schedule};
    double start = MPI_Wtime();
    bool again = false;
    int64_t shift = 0;
    rc = agree_repetition(call, rc, &again, &shift);
    pass.time.st1 = MPI_Wtime() - start;
    if (rc != OMPI_SUCCESS)
        return rc;
    if (again) {
        pass.shift = shift;
        rc = transfer(&pass);
    } else {
        rc = run_layers(call, &pass, OMPI_SUCCESS);
    }
    call->moved = pass.moved;
    return rc;
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, int count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    collective_call call = {.fh = fh, .module = (tatp_module *)fh->f_fcoll, .write = write};
    int rc = tatp_where(fh, call.module);
    if (rc == OMPI_SUCCESS)
        rc = run(&call, describe(&call, buf, count, datatype));
    if (status != MPI_STATUS_IGNORE)
        status->_ucount = rc == OMPI_SUCCESS ? (size_t)call.moved : 0;
    release(&call);
    return rc;
}
