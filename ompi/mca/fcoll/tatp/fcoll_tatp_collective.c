/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective call: which bytes, then pass after pass, then the status.
 *
 * A pass moves ordered accesses. Views that go forward without overlap, which is all that MPI
 * allows for writing, are one ordered layer; a view that overlaps itself has more, and each rank
 * takes part in as many passes as the rank with most layers.
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
    int64_t moved;
} collective_call;

/* What this rank's part of the call is. Local. */
static int describe(collective_call *call, const void *buf, int count, struct ompi_datatype_t *datatype)
{
    int rc = tatp_memory_layout(call->fh, buf, (size_t)count, datatype, &call->memory);
    if (rc == OMPI_SUCCESS)
        rc = tatp_view_take(call->fh, call->module, (size_t)call->memory.bytes, &call->file);
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

/* The accessed range over all ranks, how many passes there are, and whether any rank is in
 * trouble: one reduction. Ranks without data do not pull the range to 0. */
static int agree_range(tatp_pass *pass, int rc, int64_t *passes)
{
    enum { LOW, HIGH, PASSES, ERROR, VALUES };
    int64_t value[VALUES];
    value[LOW] = pass->file->count ? -access_lower(pass->file) : -ACCESS_END;
    value[HIGH] = access_upper(pass->file);
    value[PASSES] = *passes;
    value[ERROR] = tatp_error_class(rc);
    rc = tatp_agree_max(pass->fh, value, VALUES);
    if (rc != OMPI_SUCCESS)
        return rc;
    pass->lo = -value[LOW];
    pass->hi = value[HIGH];
    *passes = value[PASSES];
    return (int)value[ERROR];
}

/* Domains, and this rank's share of each. Local. */
static int divide(tatp_pass *pass)
{
    int64_t bytes = pass->hi - pass->lo;
    size_t count = tatp_domain_count(pass->fh, &pass->module->where, bytes);
    int rc = domains_even(&pass->domains, pass->lo, pass->hi, count,
                          tatp_domain_alignment(pass->fh, bytes, count));
    if (rc == 0)
        rc = domains_cut(&pass->domains, pass->file, &pass->share, &pass->shares);
    if (rc == 0)
        pass->cycle = tatp_cycle_size(pass->fh, &pass->domains);
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

int tatp_prepare_requests(tatp_pass *pass, int rc)
{
    int64_t passes = 1;
    rc = agree_range(pass, rc, &passes);
    if (rc != OMPI_SUCCESS || pass->hi == 0)
        return rc;
    rc = assign(pass);
    if (rc == OMPI_SUCCESS)
        rc = tatp_agree_error(pass->fh, tatp_exchange_requests(pass));
    return rc;
}

/* Requests and all memory for the data, so that nothing can fail in the cycles but the file. */
static int prepare(tatp_pass *pass, tatp_cycles **cycles)
{
    double start = MPI_Wtime();
    int rc = tatp_exchange_requests(pass);
    if (rc == OMPI_SUCCESS)
        rc = tatp_cycles_prepare(pass, cycles);
    rc = tatp_agree_error(pass->fh, rc);
    pass->time.st3 += MPI_Wtime() - start;
    return rc;
}

static int transfer(tatp_pass *pass)
{
    tatp_cycles *cycles = NULL;
    int rc = prepare(pass, &cycles);
    if (rc == OMPI_SUCCESS)
        rc = tatp_agree_error(pass->fh, tatp_cycles_run(cycles));
    tatp_cycles_free(cycles);
    return rc;
}

void tatp_pass_release(tatp_pass *pass)
{
    for (size_t i = 0; i < pass->contributors; i++)
        access_release(&pass->contributor[i].list);
    free(pass->contributor);
    free(pass->decision.aggregator);
    domains_free_shares(pass->share, pass->shares);
    domains_release(&pass->domains);
}

static int run_pass(tatp_pass *pass)
{
    int rc = assign(pass);
    if (rc == OMPI_SUCCESS)
        rc = transfer(pass);
    if (rc == OMPI_SUCCESS && tatp_records())
        rc = tatp_record_pass(pass);
    if (rc == OMPI_SUCCESS)
        rc = tatp_stats_report(pass);
    return rc;
}

/* `rc` is what describe() said. */
static int run_passes(collective_call *call, int rc)
{
    static const access_list nothing;
    int64_t passes = (int64_t)call->layers;
    for (int64_t i = 0; i < passes || i == 0; i++) {
        tatp_pass pass = {.fh = call->fh, .module = call->module, .write = call->write,
                          .memory = &call->memory, .file = &nothing};
        double start = MPI_Wtime();
        if (rc == OMPI_SUCCESS && (size_t)i < call->layers)
            pass.file = &call->layer[i];
        rc = agree_range(&pass, rc, &passes);
        pass.time.st1 = MPI_Wtime() - start;
        if (rc == OMPI_SUCCESS && pass.hi > 0)
            rc = run_pass(&pass);
        call->moved += pass.moved;
        tatp_pass_release(&pass);
        if (rc != OMPI_SUCCESS)
            return rc;
    }
    return OMPI_SUCCESS;
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, int count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    collective_call call = {.fh = fh, .module = (tatp_module *)fh->f_fcoll, .write = write};
    int rc = tatp_where(fh, call.module);
    if (rc == OMPI_SUCCESS)
        rc = run_passes(&call, describe(&call, buf, count, datatype));
    if (status != MPI_STATUS_IGNORE)
        status->_ucount = rc == OMPI_SUCCESS ? (size_t)call.moved : 0;
    release(&call);
    return rc;
}
