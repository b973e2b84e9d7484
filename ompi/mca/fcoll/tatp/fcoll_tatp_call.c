/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls on a file. What depends on the arguments and the file pointer is done when the
 * call is made; everything else may be done on a stack of its own, later. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_file.h"

#include <errno.h>
#include <stdlib.h>

typedef struct tatp_call {
    coll_call call;
    tatp_file *file;
    tatp_datarep *datarep; /* or NULL */
    tatp_request *request; /* of a non-blocking call */
} tatp_call;

static tatp_file *file_of(const ompio_file_t *fh)
{
    return (tatp_file *)fh->f_fcoll;
}

/* Sets what the call accesses in memory, and where in the view it begins; moves the file pointer
 * past it. The error is kept. Local. */
static void fill_call(tatp_call *call, ompio_file_t *fh, bool write, const tatp_buffer *buffer,
                      bool convert)
{
    tatp_file *file = file_of(fh);
    coll_call *part = &call->call;
    access_list *memory = &part->memory.list;
    call->file = file;
    *part = (coll_call){
        .file = file->file,
        .write = write,
        .atomic = fh->f_atomicity,
        .view = &file->view.view,
    };
    int rc = tatp_io_check_mode(fh, write);
    if (0 == rc && convert)
        rc = tatp_datarep_begin(fh, write, buffer, memory, &call->datarep);
    else if (0 == rc)
        rc = tatp_memory_layout(fh, buffer, memory);
    if (0 == rc)
        rc = tatp_view_position(&file->view, fh, &part->position);
    if (0 == rc) {
        part->bytes = COMPAT_VIEW(fh)->f_view_size > 0 ? memory->bytes : 0;
        tatp_view_advance(fh, part->bytes);
    }
    part->error = rc;
}

static void release_call(tatp_call *call)
{
    access_release(&call->call.memory.list);
    tatp_datarep_free(call->datarep);
}

/* Returns the same error on every rank, or success and status->_ucount. */
static int run_call(tatp_call *call, ompi_status_public_t *status)
{
    tatp_hints_apply(&call->file->hints, call->file->file);
    int rc = coll_call_run(&call->call);
    if (0 == rc)
        tatp_hints_publish(&call->file->hints, call->file->file);
    int64_t moved = call->call.moved;
    if (0 == rc && NULL != call->datarep)
        rc = tatp_datarep_end(call->datarep, moved);
    if (MPI_STATUS_IGNORE != status)
        status->_ucount = 0 == rc ? (size_t)moved : 0;
    return tatp_error_class(rc);
}

/* OMPIO waits for a split call, and keeps its request after an error. */
void tatp_split_release(ompio_file_t *fh)
{
    if (!fh->f_split_coll_in_use && NULL != fh->f_split_coll_req &&
        MPI_REQUEST_NULL != fh->f_split_coll_req)
        (void)ompi_request_free(&fh->f_split_coll_req);
}

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, size_t count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    tatp_call call = {.datarep = NULL};
    if (NULL == file_of(fh)->file)
        return tatp_error_class(-ENOMEM);
    tatp_requests_finish(&file_of(fh)->comm);
    tatp_split_release(fh);
    fill_call(&call, fh, write, &(tatp_buffer){buf, count, datatype}, false);
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

/* NULL if memory is exhausted. */
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

bool tatp_calls_reserve(tatp_file *file)
{
    file->spare = new_request_call();
    return NULL != file->spare;
}

void tatp_calls_unreserve(tatp_file *file)
{
    if (NULL != file->spare)
        tatp_request_free(file->spare->request);
    file->spare = NULL;
}

/* A rank has more calls in flight than memory. Because the others wait for its part, it takes part
 * at once, with that error, on which all ranks agree before data move between them. */
static int fail_without_request(tatp_file *file, bool write)
{
    tatp_call call = {.file = file,
                      .call = {
                          .file = file->file,
                          .write = write,
                          .view = &file->view.view,
                          .error = -ENOMEM,
                      }};
    tatp_requests_finish(&file->comm);
    return run_call(&call, MPI_STATUS_IGNORE);
}

int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, size_t count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    tatp_file *file = file_of(fh);
    tatp_split_release(fh); /* the request may be that of the handle */
    *request = &ompi_request_empty;
    if (NULL == file->file)
        return tatp_error_class(-ENOMEM);
    tatp_call *call = NULL != file->spare ? file->spare : new_request_call();
    if (NULL == call)
        return fail_without_request(file, write);
    fill_call(call, fh, write, &(tatp_buffer){buf, count, datatype},
              tatp_datarep_is_needed(fh, datatype));
    (void)tatp_calls_reserve(file);
    tatp_request_start(&file->comm, fh->f_fh, call->request, request);
    return OMPI_SUCCESS;
}
