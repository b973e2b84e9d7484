/* SPDX-License-Identifier: BSD-3-Clause */
/* Open files. The view, the mode and atomicity are the MPI's, which is asked for them. The file
 * pointer is here alone: ROMIO keeps an offset of the file in its place, which is none in a view
 * whose copies overlap each other. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/datatype.h"
#include "mpi/device.h"
#include "mpi/front.h"
#include "mpi/group.h"
#include "mpi/process.h"
#include "mpi/store.h"

struct front_file {
    front_file *next;
    MPI_File handle;
    int mode;
    char *name;
    front_group group;
    front_store store;
    coll_file *file;

    /* ---- the view, as the MPI has it ---- */

    int view_error; /* an errno value: it could not be read */
    bool is_native; /* its data representation */
    MPI_Offset displacement;
    int64_t etype, filetype; /* bytes */
    coll_view view;
    pthread_mutex_t pointer_lock;
    int64_t pointer; /* the individual file pointer, in etypes, while is_native */

    _Atomic int64_t counted[2]; /* bytes by calls that are not collective: read, and written */

    bool has_left;    /* accesses to the MPI */
    bool is_split;    /* between the functions of a split access ... */
    bool may_end;     /* also, as in ROMIO, if the first one fails, but for wrong arguments */
    MPI_Status split; /* ... whose status this is */
};

/* ---- the list of files ---- */

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static front_file *files;
static front_file *failing; /* their error handlers run, as they could not be closed */

static void add_file(front_file **list, front_file *f)
{
    pthread_mutex_lock(&files_lock);
    f->next = *list;
    *list = f;
    pthread_mutex_unlock(&files_lock);
}

static front_file *find_file(front_file **list, MPI_File handle, bool remove)
{
    pthread_mutex_lock(&files_lock);
    front_file **at = list;
    while (*at != NULL && (*at)->handle != handle)
        at = &(*at)->next;
    front_file *f = *at;
    if (f != NULL && remove)
        *at = f->next;
    pthread_mutex_unlock(&files_lock);
    return f;
}

static front_file *look_up(MPI_File handle)
{
    return find_file(&files, handle, false);
}

/* ---- hints ---- */

/* Out of an info object, which may be MPI_INFO_NULL. Rank 0 tells of values that are none. */
static coll_hint_values read_hints(const front_file *f, MPI_Info info)
{
    coll_hint_values hints = {{0}};
    char text[MPI_MAX_INFO_VAL + 1];
    coll_process *teller = f->group.runtime.rank == 0 ? front_process() : NULL;
    for (enum coll_hint i = 0; info != MPI_INFO_NULL && i < COLL_HINTS; i++) {
        int is_set = 0;
        mpi.Info_get(info, coll_hint_name(i), MPI_MAX_INFO_VAL, text, &is_set);
        if (is_set)
            hints.of[i] = coll_hint_read(teller, i, text);
    }
    return hints;
}

/* ---- the view ---- */

static int take_view(front_file *f, MPI_Datatype etype, MPI_Datatype filetype)
{
    const front_type_size size = front_type_measure(filetype);
    access_list period = {0};
    int rc = front_type_flatten(filetype, 0, &period);
    f->etype = front_type_measure(etype).bytes;
    f->filetype = size.bytes;
    if (rc == 0)
        coll_view_set(&f->view, &period, size.extent);
    else
        access_release(&period);
    return rc;
}

static void read_view(front_file *f)
{
    MPI_Datatype etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING + 1] = "";
    if (mpi.File_get_view(f->handle, &f->displacement, &etype, &filetype, representation) !=
        MPI_SUCCESS) {
        f->is_native = true; /* the error is that of the call, which the other ranks make */
        f->view_error = -EIO;
        return;
    }
    f->is_native = strcmp(representation, "native") == 0;
    f->view_error = f->is_native ? take_view(f, etype, filetype) : 0;
    front_type_free(etype);
    front_type_free(filetype);
    if (!f->is_native && f->group.runtime.rank == 0)
        front_log(1, "%s is left to the MPI: its view has the representation %s", f->name,
                  representation);
}

/* ---- opening and closing ---- */

static void free_file(front_file *f)
{
    if (f == NULL)
        return;
    coll_file_free(f->file);
    coll_view_release(&f->view);
    front_group_release(&f->group);
    (void)front_store_close(&f->store);
    free(f->name);
    free(f);
}

/* NULL if memory is exhausted. */
static front_file *new_file(const char *name, int mode, MPI_File handle)
{
    front_file *f = calloc(1, sizeof *f);
    MPI_Offset size = 0;
    if (f == NULL)
        return NULL;
    pthread_mutex_init(&f->pointer_lock, NULL);
    f->handle = handle;
    f->mode = mode;
    f->name = strdup(name);
    f->file = coll_file_new(front_process());
    if (mode & MPI_MODE_APPEND)
        mpi.File_get_size(handle, &size);
    f->pointer = size;
    f->store.fd = -1;
    if (f->name == NULL || f->file == NULL) {
        free_file(f);
        return NULL;
    }
    front_store_init(&f->store, f->name, mode);
    return f;
}

/* Why all ranks leave a file to the MPI, as far as each of them knows it. NULL if there is no
 * reason. */
static const char *find_reason(MPI_Comm comm, int mode)
{
    int ranks;
    mpi.Comm_size(comm, &ranks);
    if (ranks == 1)
        return "one rank has opened it";
    if (mode & MPI_MODE_SEQUENTIAL)
        return "its mode is sequential";
    if (!front_group_is_of_job(comm))
        return "processes of several jobs have opened it";
    return NULL;
}

static void log_reason(MPI_Comm comm, const char *name, const char *reason)
{
    int rank;
    mpi.Comm_rank(comm, &rank);
    if (rank == 0)
        front_log(1, "%s is left to the MPI: %s", name, reason);
}

bool front_may_serve(front_word comm_word, const char *name, int mode)
{
    MPI_Comm comm = (MPI_Comm)comm_word;
    int is_inter = 0;
    if (!front_process_is_ready() || name == NULL || comm == MPI_COMM_NULL ||
        mpi.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return false;
    const char *reason = find_reason(comm, mode);
    if (reason != NULL)
        log_reason(comm, name, reason);
    return reason == NULL;
}

/* Rank 0 alone opens it now. Returns an errno value. */
static int start_store(front_file *f)
{
    if (f->group.runtime.rank == 0)
        (void)front_store_open(&f->store);
    return f->store.error;
}

/* The others learn which file that is. Collective. */
static void share_store(front_file *f)
{
    const front_ranks *ranks = f->group.ranks;
    front_store_id *id = &f->store.id;
    mpi.Bcast(id, sizeof *id, MPI_BYTE, 0, ranks->comm);
    if (ranks->node[0] != front_process_node())
        id->device = 0;
}

static void start_file(front_file *f, MPI_Info info, double began)
{
    const coll_handle handle = {
        .runtime = &f->group.runtime,
        .store = &f->store.store,
        .name = f->name,
        .device = &front_device,
        .began = began,
    };
    const char *text[PARAMETERS];
    const coll_hint_values hints = read_hints(f, info);
    front_process_parameters(text);
    coll_facts facts = coll_facts_collect(text, &hints);
    facts.fd = f->store.fd;
    facts.is_asked_for = true;
    facts.locks_file = f->group.runtime.rank == 0 && !f->store.has_coherent_cache;
    coll_file_open(f->file, &handle);
    coll_file_start(f->file, &facts);
    read_view(f);
    add_file(&files, f);
}

/* NULL if there is no reason. Collective. */
static const char *serve_file(front_ranks *ranks, const char *name, int mode, MPI_Info info,
                              MPI_File handle, double began)
{
    front_file *f = new_file(name, mode, handle);
    int error = f == NULL ? ENOMEM : front_group_init(&f->group, ranks, front_process());
    if (error == 0)
        error = start_store(f);
    error = front_group_largest(ranks->comm, error);
    if (error == 0) {
        share_store(f);
        start_file(f, info, began);
        return NULL;
    }
    free_file(f);
    return error == EBUSY ? "an older file has its tags" : strerror(error);
}

double front_clock(void)
{
    return mpi.Wtime();
}

void front_open(front_word comm_word, const char *name, int mode, front_word info,
                front_word handle, double began)
{
    MPI_Comm comm = (MPI_Comm)comm_word;
    front_ranks *ranks = front_ranks_of(comm);
    const char *reason =
        ranks != NULL ? serve_file(ranks, name, mode, (MPI_Info)info, (MPI_File)handle, began)
                      : "the MPI has no communicator for it";
    if (reason != NULL)
        log_reason(comm, name, reason);
}

int front_flush(front_word handle)
{
    front_file *f = look_up((MPI_File)handle);
    if (f == NULL)
        return MPI_SUCCESS;
    front_requests_finish(&f->group.queue);
    return front_error_class(coll_file_report_loss(f->file, front_store_flush(&f->store)));
}

/* No rank frees what belongs to all of them before all come here. */
static int finish_file(front_file *f)
{
    front_requests_finish(&f->group.queue);
    coll_file_count_noncollective(f->file, (int64_t[2]){f->counted[false], f->counted[true]});
    return front_error_class(coll_file_report_loss(f->file, front_store_close(&f->store)));
}

bool front_close(front_word *handle, front_file **closing, int *error)
{
    const MPI_File file = (MPI_File)*handle;
    front_file *f = *closing = find_file(&files, file, true);
    *error = f != NULL ? finish_file(f) : MPI_SUCCESS;
    if (f == NULL)
        (void)find_file(&failing, file, true);
    if (*error == MPI_SUCCESS)
        return true;
    add_file(&failing, f);
    front_report(*handle, *error);
    const bool is_open = find_file(&failing, file, true) != NULL;
    if (!is_open)
        *handle = (front_word)MPI_FILE_NULL;
    return is_open;
}

void front_end_closing(front_file *f)
{
    if (f != NULL)
        coll_file_close(f->file);
    free_file(f);
}

/* ---- views and hints ---- */

front_file *front_find(front_word handle)
{
    front_file *f = look_up((MPI_File)handle);
    return f != NULL && f->is_native ? f : NULL;
}

void front_set_info(front_word handle, front_word info)
{
    front_file *f = look_up((MPI_File)handle);
    if (f == NULL)
        return;
    const coll_hint_values hints = read_hints(f, (MPI_Info)info);
    front_requests_finish(&f->group.queue);
    coll_file_set_hints(f->file, &hints);
}

void front_set_view(front_word handle, front_word info)
{
    front_file *f = look_up((MPI_File)handle);
    if (f == NULL)
        return;
    read_view(f);
    f->pointer = 0;
    front_set_info(handle, info);
}

void front_get_info(front_word handle, const void *info)
{
    const front_file *f = look_up((MPI_File)handle);
    coll_hint_values hints;
    char text[COLL_HINT_TEXT];
    if (f == NULL || !coll_file_get_hints(f->file, &hints))
        return;
    for (enum coll_hint i = 0; i < COLL_HINTS; i++)
        if (hints.of[i] > 0)
            mpi.Info_set(*(const MPI_Info *)info, coll_hint_name(i),
                         coll_hint_text(i, hints.of[i], text));
}

/* The C++ of MPICH throws where a function returns an error; MPI_File_call_errhandler would end the
 * job. */
static bool has_handler_of_cxx(MPI_File file)
{
    bool has = false;
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
    MPI_Errhandler handler;
    if (mpi.File_get_errhandler(file, &handler) == MPI_SUCCESS) {
        has = handler == MPIR_ERRORS_THROW_EXCEPTIONS;
        mpi.Errhandler_free(&handler);
    }
#endif
    (void)file;
    return has;
}

int front_report(front_word handle, int error)
{
    if (error != MPI_SUCCESS && !has_handler_of_cxx((MPI_File)handle))
        mpi.File_call_errhandler((MPI_File)handle, error);
    return error;
}

static int report(const front_file *f, int rc)
{
    return front_report((front_word)f->handle, rc);
}

/* ---- the file pointer ---- */

typedef struct pointer_move {
    int64_t before, after;
} pointer_move;

/* Past that much data, as far as the pointer can be moved; the access is refused where it cannot.
 */
static pointer_move move_pointer(front_file *f, int64_t count, MPI_Datatype type)
{
    int64_t bytes = 0, position;
    if (count <= 0 || f->filetype == 0 ||
        __builtin_mul_overflow(count, front_type_measure(type).bytes, &bytes) ||
        bytes % f->etype != 0)
        bytes = 0;
    pthread_mutex_lock(&f->pointer_lock);
    pointer_move move = {f->pointer, f->pointer};
    if (bytes > 0 && !__builtin_add_overflow(move.before, bytes / f->etype, &position))
        f->pointer = move.after = position;
    pthread_mutex_unlock(&f->pointer_lock);
    return move;
}

/* Unless another call has moved it since. */
static void correct_pointer(front_file *f, pointer_move move, int64_t position)
{
    pthread_mutex_lock(&f->pointer_lock);
    if (f->pointer == move.after)
        f->pointer = position;
    pthread_mutex_unlock(&f->pointer_lock);
}

int64_t front_position(front_file *f)
{
    return move_pointer(f, 0, MPI_DATATYPE_NULL).before;
}

int front_seek(front_file *f, int64_t offset, int whence)
{
    MPI_Offset from = 0;
    int64_t position;
    int rc = MPI_SUCCESS;
    if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        return report(f, MPI_ERR_ARG);
    if (whence == MPI_SEEK_END)
        rc = mpi.File_seek(f->handle, 0, whence);
    if (whence == MPI_SEEK_END && rc == MPI_SUCCESS)
        rc = mpi.File_get_position(f->handle, &from);
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&f->pointer_lock);
    if (whence == MPI_SEEK_CUR)
        from = f->pointer;
    const bool is_valid = !__builtin_add_overflow(from, offset, &position) && position >= 0;
    if (is_valid)
        f->pointer = position;
    pthread_mutex_unlock(&f->pointer_lock);
    return is_valid ? MPI_SUCCESS : report(f, MPI_ERR_ARG);
}

/* ---- access ---- */

/* No function tells, but messages of it are refused. */
static bool is_committed(const front_file *f, MPI_Datatype type)
{
    char from = 0, to;
    int position = 0;
    return mpi.Pack(&from, 0, type, &to, sizeof to, &position, f->group.ranks->comm) == MPI_SUCCESS;
}

static bool has_whole_etypes(const front_file *f, int64_t count, MPI_Datatype type)
{
    int64_t bytes;
    return f->etype == 0 || __builtin_mul_overflow(count, front_type_measure(type).bytes, &bytes) ||
           bytes % f->etype == 0;
}

/* What ROMIO refuses, by its classes and in its order. */
static int check_arguments(const front_file *f, const front_access *access, int64_t count,
                           MPI_Datatype type)
{
    if (count < 0)
        return MPI_ERR_COUNT;
    if (type == MPI_DATATYPE_NULL || !is_committed(f, type))
        return MPI_ERR_TYPE;
    if (access->at_offset && access->offset < 0)
        return MPI_ERR_ARG;
    if (!has_whole_etypes(f, count, type))
        return MPI_ERR_IO;
    if (access->write && f->mode & MPI_MODE_RDONLY)
        return MPI_ERR_READ_ONLY;
    return !access->write && f->mode & MPI_MODE_WRONLY ? MPI_ERR_ACCESS : MPI_SUCCESS;
}

/* Where the access begins that is so many etypes into the view. */
static int find_position(const front_file *f, int64_t etypes, coll_position *position)
{
    int64_t at, skipped, size = f->view.period.bytes;
    if (__builtin_mul_overflow(etypes, f->etype, &at))
        return MPI_ERR_IO;
    int64_t copies = size > 0 ? at / size : 0;
    if (__builtin_mul_overflow(copies, f->view.extent, &skipped) ||
        __builtin_add_overflow(skipped, f->displacement, &position->offset))
        return MPI_ERR_IO;
    position->used = at - copies * size;
    *position = coll_view_normalize(&f->view, *position);
    return 0;
}

/* Local; the error is kept. Returns the offset. */
static int64_t fill_call(front_file *f, coll_call *call, const front_access *access,
                         const void *buffer, int64_t count, MPI_Datatype type)
{
    int64_t offset = access->offset;
    int atomic = 0;
    *call =
        (coll_call){.file = f->file, .write = access->write, .blocking = true, .view = &f->view};
    mpi.File_get_atomicity(f->handle, &atomic);
    call->atomic = atomic;
    int rc = check_arguments(f, access, count, type);
    if (rc == 0)
        rc = f->store.error == 0 ? f->view_error : -ENOTSUP;
    if (rc == 0)
        rc = front_type_buffer(buffer, count, type, &call->memory.list);
    if (!access->at_offset && (rc == 0 || rc == -ENOTSUP))
        offset = move_pointer(f, count, type).before;
    if (rc == 0)
        rc = find_position(f, offset, &call->position);
    if (rc == 0)
        call->bytes = f->filetype > 0 ? call->memory.list.bytes : 0;
    call->error = rc;
    return offset;
}

/* No error: the MPI is to carry it out, on all ranks. */
enum { LEFT = -1 };

static int leave_access(front_file *f)
{
    const int rank = f->group.runtime.rank, error = f->store.error;
    if (rank == 0 && !f->has_left)
        front_log(1,
                  "%s: accesses by datatypes of an unknown kind, or while a rank cannot open it, "
                  "are left to the MPI",
                  f->name);
    if (error != 0 && !f->has_left)
        front_log(1, "%s: rank %d cannot open it: %s", f->name, rank, strerror(error));
    f->has_left = true;
    return LEFT;
}

/* LEFT if nothing is wrong on any rank but that it does not know a datatype. Collective. */
static int run_call(front_file *f, coll_call *call)
{
    f->store.is_atomic = call->atomic;
    int rc = front_error_class(coll_call_run(call));
    access_release(&call->memory.list);
    if (rc != MPI_ERR_UNSUPPORTED_OPERATION)
        return rc;
    int64_t worst = call->error == -ENOTSUP ? 0 : front_error_class(call->error);
    rc = f->group.runtime.reduce(&f->group, &worst, 1, COLL_MAX);
    if (rc == 0)
        rc = (int)worst;
    return rc == 0 ? leave_access(f) : front_error_class(rc);
}

int front_transfer(front_file *f, const front_access *access, const void *buffer, int64_t count,
                   front_word datatype, void *status)
{
    coll_call call;
    front_requests_finish(&f->group.queue);
    int64_t offset = fill_call(f, &call, access, buffer, count, (MPI_Datatype)datatype);
    int rc = run_call(f, &call);
    if (rc == LEFT)
        return access->perform(access->is_profiling, (front_word)f->handle, offset, buffer, count,
                               datatype, status);
    if (status != MPI_STATUS_IGNORE) {
        mpi.Status_set_elements_x(status, MPI_BYTE, rc == 0 ? call.moved : 0);
        mpi.Status_set_cancelled(status, 0);
    }
    return report(f, rc);
}

/* ---- non-blocking access ---- */

typedef struct started_call {
    front_request request;
    front_file *file;
    coll_call call;
    front_access access;
    const void *buffer;
    int64_t count;
    MPI_Datatype type; /* a copy, as the program may free its own */
} started_call;

/* Returns the error, and sets the bytes. */
static int leave_call(const started_call *c, int64_t *moved)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Count bytes = 0;
    int rc =
        c->access.perform(c->access.is_profiling, (front_word)c->file->handle, c->access.offset,
                          c->buffer, c->count, (front_word)c->type, &request);
    rc = front_group_wait(&c->file->group, rc, &request, &status);
    if (rc == MPI_SUCCESS)
        mpi.Get_elements_x(&status, MPI_BYTE, &bytes);
    *moved = bytes;
    return front_error_class(rc);
}

static void run_started(fiber_call *call)
{
    started_call *c = (started_call *)call;
    front_request *request = &c->request;
    request->error = run_call(c->file, &c->call);
    request->moved = request->error == MPI_SUCCESS ? c->call.moved : 0;
    if (request->error == LEFT)
        request->error = leave_call(c, &request->moved);
    if (c->type != MPI_DATATYPE_NULL)
        mpi.Type_free(&c->type);
}

int front_start(front_file *f, const front_access *access, const void *buffer, int64_t count,
                front_word datatype, void *request)
{
    const MPI_Datatype type = (MPI_Datatype)datatype;
    started_call *c = front_request_new(sizeof *c, request);
    if (c == NULL) { /* the other ranks wait for this one's part */
        coll_call none = {.file = f->file, .write = access->write, .view = &f->view};
        none.error = -ENOMEM;
        front_requests_finish(&f->group.queue);
        return report(f, run_call(f, &none));
    }
    c->access = *access;
    c->access.offset = fill_call(f, &c->call, access, buffer, count, type);
    c->call.blocking = false;
    c->request.file = f->handle;
    c->file = f;
    c->buffer = buffer;
    c->count = count;
    c->type = MPI_DATATYPE_NULL;
    if ((c->call.error == 0 || c->call.error == -ENOTSUP) &&
        (c->type = front_type_copy(type)) == MPI_DATATYPE_NULL)
        c->call.error = -ENOMEM;
    front_request_start(&f->group.queue, &c->request, run_started);
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
    if (look_up(failure.file) != NULL)
        front_report((front_word)failure.file, failure.error);
    if (rc != MPI_SUCCESS)
        return rc;
    return count == FRONT_ONE ? failure.error : MPI_ERR_IN_STATUS;
}

void front_finish(front_word handle)
{
    const front_file *f = look_up((MPI_File)handle);
    if (f != NULL)
        front_requests_finish(&f->group.queue);
}

/* ---- split access ---- */

int front_begin(front_file *f, const front_access *access, const void *buffer, int64_t count,
                front_word datatype)
{
    if (f->is_split)
        return report(f, MPI_ERR_IO);
    f->may_end = true;
    int rc = front_transfer(f, access, buffer, count, datatype, &f->split);
    f->is_split = rc == MPI_SUCCESS;
    f->may_end = rc != MPI_ERR_COUNT && rc != MPI_ERR_TYPE && rc != MPI_ERR_ARG;
    return rc;
}

int front_end(front_file *f, void *status)
{
    if (!f->may_end)
        return report(f, MPI_ERR_IO);
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
static int64_t find_end(const front_file *f, pointer_move move, const MPI_Status *status)
{
#ifdef OPEN_MPI
    (void)f;
    (void)status;
    return move.after;
#else
    MPI_Count bytes = 0;
    mpi.Get_elements_x(status, MPI_BYTE, &bytes);
    return move.after > move.before ? move.before + bytes / f->etype : move.before;
#endif
}

/* An error handler of the program may have closed the file. */
int front_access_alone(front_file *f, const front_access *access, bool starts, const void *buffer,
                       int64_t count, front_word datatype, void *result)
{
    MPI_Status own;
    const MPI_File handle = f->handle;
    const MPI_Datatype type = (MPI_Datatype)datatype;
    const bool is_refused = check_arguments(f, access, count, type) != MPI_SUCCESS;
    const pointer_move move = move_pointer(f, is_refused ? 0 : count, type);
    if (!starts && result == MPI_STATUS_IGNORE)
        result = &own;
    int rc = access->perform(access->is_profiling, (front_word)handle, move.before, buffer, count,
                             datatype, result);
    if (rc == MPI_SUCCESS && !starts)
        correct_pointer(f, move, find_end(f, move, result));
    else if (rc != MPI_SUCCESS && look_up(handle) == f)
        correct_pointer(f, move, move.before);
    return rc;
}
