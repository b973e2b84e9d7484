/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file of Open MPI, for src/collective. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_file.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"

tatp_file *tatp_file_new(void)
{
    tatp_file *file = calloc(1, sizeof *file);
    if (NULL == file)
        return NULL;
    file->file = coll_file_new(tatp_process());
    if (NULL != file->file)
        return file;
    free(file);
    return NULL;
}

void tatp_file_free(tatp_file *file)
{
    coll_file_free(file->file);
    coll_view_release(&file->view.view);
    free(file);
}

/* ---- what src/collective asks for ---- */

static int count_access(void *context, const coll_observed *access, void **state)
{
    (void)context;
    (void)state;
    tatp_pvars_add(access);
    return 0;
}

/* ---- opening and closing ---- */

void tatp_file_open(tatp_file *file, ompio_file_t *fh)
{
    const coll_handle handle = {
        .runtime = &file->comm.runtime,
        .store = &file->io.store,
        .name = fh->f_filename,
        .device = &tatp_device,
        .observer = {.moved = count_access},
    };
    tatp_io_open(&file->io, fh);
    coll_file_open(file->file, &handle);
    tatp_device_tell();
}

void tatp_file_refuse(const ompio_file_t *fh)
{
    int64_t value[COLL_OPENING_VALUES];
    coll_file_refuse(value);
    (void)tatp_reduce_max(fh->f_comm, value, COLL_OPENING_VALUES);
}

/* What OMPIO finds out while it opens the file is known with the first view. */
void tatp_file_set_view(tatp_file *file)
{
    ompio_file_t *fh = file->io.fh;
    tatp_requests_finish(&file->comm);
    file->view.is_decoded = false;
    if (!coll_file_has_started(file->file)) {
        tatp_comm_attach(&file->comm, fh->f_comm);
        const coll_hint_values hints = tatp_hints_take(&file->hints);
        const coll_facts facts = tatp_params_facts(fh, &hints);
        if (0 == fh->f_rank && '\0' != tatp_params_text(PARAMETER_RECORD)[0])
            tatp_process_records();
        coll_file_start(file->file, &facts);
    }
    tatp_hints_apply(&file->hints, file->file);
    tatp_hints_publish(&file->hints, file->file);
}

void tatp_file_count_noncollective(tatp_file *file)
{
    coll_file_count_noncollective(file->file,
                                  (int64_t[2]){file->io.counted[false], file->io.counted[true]});
}

bool tatp_file_close(tatp_file *file)
{
    tatp_requests_finish(&file->comm);
    tatp_io_close(&file->io);
    coll_file_close(file->file);
    return coll_file_is_reusable(file->file);
}

/* OMPIO waits for a split call, and keeps its request after an error. */
void tatp_split_release(ompio_file_t *fh)
{
    if (!fh->f_split_coll_in_use && NULL != fh->f_split_coll_req &&
        MPI_REQUEST_NULL != fh->f_split_coll_req)
        (void)ompi_request_free(&fh->f_split_coll_req);
}
