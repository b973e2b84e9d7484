/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to open files: collective, non-blocking and split ones, which src/collective carries
 * out, and those of one rank, which the MPI carries out. */
#include "mpi/datatype.h"
#include "mpi/files.h"
#include "mpi/process.h"

/* ---- the file pointer ---- */

int64_t front_position(front_file *f)
{
    return f->view.pointer;
}

int front_seek(front_file *f, int64_t offset, int whence)
{
    MPI_Offset end = 0;
    int rc = MPI_SUCCESS;
    if (whence == MPI_SEEK_END)
        rc = mpi.File_seek(f->handle, 0, whence);
    if (whence == MPI_SEEK_END && rc == MPI_SUCCESS)
        rc = mpi.File_get_position(f->handle, &end);
    return rc != MPI_SUCCESS ? rc
                             : front_report((front_word)f->handle,
                                            front_pointer_seek(&f->view, offset, whence, end));
}

/* ---- a collective access ---- */

/* No function tells, but messages of it are refused. */
static bool is_committed_type(const front_file *f, MPI_Datatype type)
{
    char from = 0, to;
    int position = 0;
    return mpi.Pack(&from, 0, type, &to, sizeof to, &position, f->group.ranks->comm) == MPI_SUCCESS;
}

/* Refuses what ROMIO refuses, with its classes and in its order. */
static int check_access(const front_file *f, const front_access *access)
{
    const MPI_Datatype type = (MPI_Datatype)access->datatype;
    if (access->count < 0)
        return MPI_ERR_COUNT;
    if (type == MPI_DATATYPE_NULL || !is_committed_type(f, type))
        return MPI_ERR_TYPE;
    if (access->at_offset && access->offset < 0)
        return MPI_ERR_ARG;
    if (front_view_etypes(&f->view, access->count, type) < 0)
        return MPI_ERR_IO;
    if (access->write && f->mode & MPI_MODE_RDONLY)
        return MPI_ERR_READ_ONLY;
    return !access->write && f->mode & MPI_MODE_WRONLY ? MPI_ERR_ACCESS : MPI_SUCCESS;
}

/* The error is kept. It is MPI_ERR_UNSUPPORTED_OPERATION for a valid call that the library cannot
 * carry out. Local. */
static void describe_call(front_file *f, coll_call *call, front_access *access)
{
    const MPI_Datatype type = (MPI_Datatype)access->datatype;
    int atomic = 0;
    *call = (coll_call){.file = f->file, .write = access->write, .view = &f->view.bytes};
    mpi.File_get_atomicity(f->handle, &atomic);
    call->atomic = atomic;
    int rc = check_access(f, access);
    if (rc == 0)
        rc = f->store.failure == NULL ? f->view.error : MPI_ERR_UNSUPPORTED_OPERATION;
    if (rc == 0)
        rc = front_type_buffer(access->buffer, access->count, type, &call->memory.list);
    if (!access->at_offset && (rc == 0 || rc == MPI_ERR_UNSUPPORTED_OPERATION))
        access->offset = front_pointer_move(&f->view, access->count, type).before;
    if (rc == 0)
        rc = front_view_find(&f->view, access->offset, &call->position);
    if (rc == 0)
        call->bytes = f->view.filetype > 0 ? call->memory.list.bytes : 0;
    call->error = rc;
}

static void log_left_calls(front_file *f)
{
    const int rank = f->group.runtime.rank;
    if (rank == 0 && !f->has_left)
        front_log(1,
                  "%s: accesses by datatypes of an unknown kind, or while a rank cannot open it, "
                  "are left to the MPI",
                  f->name);
    if (f->store.failure != NULL && !f->has_left)
        front_log(1, "%s: rank %d cannot open it: %s", f->name, rank, f->store.failure);
    f->has_left = true;
}

/* Carries it out, and sets the error. False: the MPI is to do that, on all ranks, as no rank has
 * another error than MPI_ERR_UNSUPPORTED_OPERATION. Collective. */
static bool run_described_call(front_file *f, coll_call *call, int *error)
{
    f->store.is_atomic = call->atomic;
    *error = front_error_class(coll_call_run(call));
    access_release(&call->memory.list);
    if (*error != MPI_ERR_UNSUPPORTED_OPERATION)
        return true;
    int64_t worst = call->error == MPI_ERR_UNSUPPORTED_OPERATION ? MPI_SUCCESS : call->error;
    int rc = f->group.runtime.reduce(&f->group, &worst, 1, COLL_MAX);
    *error = front_error_class(rc != MPI_SUCCESS ? rc : (int)worst);
    if (*error == MPI_SUCCESS)
        log_left_calls(f);
    return *error != MPI_SUCCESS;
}

/* The error handler has been called only where the MPI has carried it out. */
static int carry_out(front_file *f, front_access *access, void *status, bool *is_left)
{
    coll_call call;
    int error;
    front_requests_finish(&f->group.queue);
    describe_call(f, &call, access);
    *is_left = !run_described_call(f, &call, &error);
    if (*is_left)
        return access->perform(access, (front_word)f->handle, status);
    if (status != MPI_STATUS_IGNORE) {
        mpi.Status_set_elements_x(status, MPI_BYTE, error == MPI_SUCCESS ? call.moved : 0);
        mpi.Status_set_cancelled(status, 0);
    }
    return error;
}

int front_transfer(front_file *f, front_access *access, void *status)
{
    bool is_left;
    const int rc = carry_out(f, access, status, &is_left);
    return is_left ? rc : front_report((front_word)f->handle, rc);
}

/* ---- non-blocking access ---- */

typedef struct started_call {
    front_request request;
    front_file *file;
    coll_call call;
    front_access access;
    MPI_Datatype type; /* a copy, as the program may free its own */
} started_call;

/* Returns the error, and sets the bytes. */
static int perform_started_call(const started_call *c, int64_t *moved)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Count bytes = 0;
    int rc = c->access.perform(&c->access, (front_word)c->file->handle, &request);
    rc = front_group_wait(&c->file->group, rc, &request, &status);
    if (rc == MPI_SUCCESS)
        mpi.Get_elements_x(&status, MPI_BYTE, &bytes);
    *moved = bytes;
    return front_error_class(rc);
}

static void run_started_call(fiber_call *call)
{
    started_call *c = (started_call *)call;
    front_request *request = &c->request;
    if (run_described_call(c->file, &c->call, &request->error))
        request->moved = request->error == MPI_SUCCESS ? c->call.moved : 0;
    else
        request->error = perform_started_call(c, &request->moved);
    if (c->type != MPI_DATATYPE_NULL)
        mpi.Type_free(&c->type);
}

int front_start(front_file *f, front_access *access, void *request)
{
    started_call *c = front_request_new(sizeof *c, request);
    if (c == NULL) { /* the other ranks wait for this one's part */
        coll_call none = {.file = f->file, .write = access->write, .view = &f->view.bytes};
        int error = none.error = MPI_ERR_NO_MEM;
        front_requests_finish(&f->group.queue);
        (void)run_described_call(f, &none, &error);
        return front_report((front_word)f->handle, error);
    }
    describe_call(f, &c->call, access);
    c->request.file = f->handle;
    c->file = f;
    c->access = *access;
    c->type = MPI_DATATYPE_NULL;
    if ((c->call.error == 0 || c->call.error == MPI_ERR_UNSUPPORTED_OPERATION) &&
        (c->type = front_type_copy((MPI_Datatype)access->datatype)) == MPI_DATATYPE_NULL)
        c->call.error = MPI_ERR_NO_MEM;
    c->access.datatype = (front_word)c->type;
    front_request_start(&f->group.queue, &c->request, run_started_call);
    return MPI_SUCCESS;
}

int front_completed(int rc, const int *flag, int count, void *statuses)
{
    front_failure failure;
    MPI_Status *status = statuses;
    if (!front_request_take_failure(flag, &failure))
        return rc;
    for (int i = 0; i < count && status != MPI_STATUSES_IGNORE; i++)
        if (status[i].MPI_SOURCE == failure.mark)
            status[i].MPI_ERROR = status[i].MPI_TAG;
        else if (rc == MPI_SUCCESS)
            status[i].MPI_ERROR = MPI_SUCCESS;
    if (front_file_of(failure.file) != NULL)
        front_report((front_word)failure.file, failure.error);
    if (rc != MPI_SUCCESS)
        return rc;
    return count == FRONT_ONE ? failure.error : MPI_ERR_IN_STATUS;
}

/* ---- split access ---- */

int front_begin(front_file *f, front_access *access)
{
    if (f->is_split)
        return front_report((front_word)f->handle, MPI_ERR_IO);
    bool is_left;
    f->may_end = true;
    int rc = carry_out(f, access, &f->split, &is_left);
    if (rc != MPI_SUCCESS && is_left)
        return rc; /* the error handler may have closed the file */
    f->is_split = rc == MPI_SUCCESS;
    f->may_end = rc != MPI_ERR_COUNT && rc != MPI_ERR_TYPE && rc != MPI_ERR_ARG;
    return front_report((front_word)f->handle, rc);
}

int front_end(front_file *f, void *status)
{
    if (!f->may_end)
        return front_report((front_word)f->handle, MPI_ERR_IO);
    f->is_split = f->may_end = false;
    if (status != MPI_STATUS_IGNORE)
        *(MPI_Status *)status = f->split;
    return MPI_SUCCESS;
}

/* ---- access by one rank ---- */

void front_count(front_file *f, bool write, int64_t count, front_word datatype)
{
    const MPI_Datatype type = (MPI_Datatype)datatype;
    MPI_Count size;
    int64_t bytes;
    if (f != NULL && count > 0 && type != MPI_DATATYPE_NULL &&
        mpi.Type_size_x(type, &size) == MPI_SUCCESS && !__builtin_mul_overflow(count, size, &bytes))
        atomic_fetch_add_explicit(&f->counted[write], bytes, memory_order_relaxed);
}

/* MPICH moves the pointer past what it has accessed, and Open MPI past what was asked for. */
static int64_t find_end_of_access(const front_file *f, front_move move, const MPI_Status *status)
{
#ifdef OPEN_MPI
    (void)f;
    (void)status;
    return move.after;
#else
    MPI_Count bytes = 0;
    mpi.Get_elements_x(status, MPI_BYTE, &bytes);
    return move.after > move.before ? move.before + bytes / f->view.etype : move.before;
#endif
}

/* An error handler of the program may have closed the file. */
int front_access_alone(front_file *f, front_access *access, bool starts, void *result)
{
    MPI_Status own;
    const MPI_File handle = f->handle;
    const int64_t count = check_access(f, access) == MPI_SUCCESS ? access->count : 0;
    const front_move move = front_pointer_move(&f->view, count, (MPI_Datatype)access->datatype);
    if (!starts && result == MPI_STATUS_IGNORE)
        result = &own;
    access->offset = move.before;
    int rc = access->perform(access, (front_word)handle, result);
    if (rc == MPI_SUCCESS && !starts)
        front_pointer_correct(&f->view, move, find_end_of_access(f, move, result));
    else if (rc != MPI_SUCCESS && front_file_of(handle) == f)
        front_pointer_correct(&f->view, move, move.before);
    return rc;
}
