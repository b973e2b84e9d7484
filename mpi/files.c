/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/datatype.h"
#include "mpi/device.h"
#include "mpi/process.h"

/* ---- the list of files ---- */

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static front_file *files;
static front_file *failing; /* their error handlers run, as they could not be closed */

static void add_served_file(front_file **list, front_file *f)
{
    pthread_mutex_lock(&files_lock);
    f->next = *list;
    *list = f;
    pthread_mutex_unlock(&files_lock);
}

static front_file *find_served_file(front_file **list, MPI_File handle, bool remove)
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

front_file *front_file_of(MPI_File handle)
{
    return find_served_file(&files, handle, false);
}

front_file *front_find(front_word handle)
{
    front_file *f = front_file_of((MPI_File)handle);
    return f != NULL && f->view.is_native ? f : NULL;
}

/* ---- errors ---- */

int front_report(front_word handle, int error)
{
    const MPI_File file = (MPI_File)handle;
    bool throws = false;
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
    /* the C++ of MPICH, where a function returns an error; else the error ends the job */
    MPI_Errhandler handler;
    if (error != MPI_SUCCESS && mpi.File_get_errhandler(file, &handler) == MPI_SUCCESS) {
        throws = handler == MPIR_ERRORS_THROW_EXCEPTIONS;
        mpi.Errhandler_free(&handler);
    }
#endif
    if (error != MPI_SUCCESS && !throws)
        mpi.File_call_errhandler(file, error);
    return error;
}

/* ---- opening ---- */

void front_end_closing(front_file *f)
{
    if (f == NULL)
        return;
    if (f->file != NULL)
        coll_files_close(front_process(), f->file);
    coll_view_release(&f->view.bytes);
    front_group_release(&f->group);
    (void)front_store_close(&f->store);
    free(f->name);
    free(f);
}

/* NULL if memory is exhausted. */
static front_file *new_served_file(const char *name, int mode, MPI_File handle)
{
    front_file *f = calloc(1, sizeof *f);
    MPI_Offset size = 0;
    if (f == NULL)
        return NULL;
    *f = (front_file){.handle = handle, .mode = mode, .name = strdup(name), .store.fd = -1};
    if (mode & MPI_MODE_APPEND)
        mpi.File_get_size(handle, &size);
    f->view.pointer = size;
    if (f->name == NULL) {
        front_end_closing(f);
        return NULL;
    }
    front_store_init(&f->store, f->name, mode);
    return f;
}

/* Returns false: the library does not serve it. */
static bool leave_file(MPI_Comm comm, const char *name, const char *reason)
{
    int rank;
    mpi.Comm_rank(comm, &rank);
    if (rank == 0)
        front_log(1, "%s is left to the MPI: %s", name, reason);
    return false;
}

__attribute__((visibility("default"))) _Thread_local bool tatp_mpiio_leaves_file;

bool front_may_serve(front_word comm_word, const char *name, int mode)
{
    MPI_Comm comm = (MPI_Comm)comm_word;
    int is_inter = 0, ranks;
    tatp_mpiio_leaves_file = false;
    if (!front_process_is_ready() || name == NULL || comm == MPI_COMM_NULL ||
        mpi.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return false;
    mpi.Comm_size(comm, &ranks);
    if (ranks == 1)
        return leave_file(comm, name, "one rank has opened it");
    if (mode & MPI_MODE_SEQUENTIAL)
        return leave_file(comm, name, "its mode is sequential");
    return front_group_is_of_job(comm) ||
           leave_file(comm, name, "processes of several jobs have opened it");
}

/* The others learn which file rank 0 has opened. Collective. */
static void share_store_id(front_file *f)
{
    const front_ranks *ranks = f->group.ranks;
    front_store_id *id = &f->store.id;
    mpi.Bcast(id, sizeof *id, MPI_BYTE, 0, ranks->comm);
    if (ranks->node[0] != front_process_node())
        id->device = 0;
}

/* text: of the parameters. */
static coll_facts collect_facts(const front_ranks *ranks, const front_store *store, MPI_Info info,
                                const char *text[PARAMETERS])
{
    const coll_hint_values hints = front_hints_read(info, ranks->rank);
    front_process_parameters(text);
    coll_facts facts = coll_facts_collect(text, &hints);
    facts.fd = store->fd;
    facts.is_asked_for = true;
    facts.locks_file = ranks->rank == 0 && !store->has_coherent_cache;
    return facts;
}

static int open_served_file(front_file *f, const coll_facts *facts, double began)
{
    const coll_handle handle = {
        .runtime = &f->group.runtime,
        .store = &f->store.store,
        .name = f->name,
        .device = &front_device,
        .began = began,
    };
    f->file = coll_files_open(front_process(), &f->group.ranks->names, &handle, facts);
    return f->file == NULL ? MPI_ERR_NO_MEM : 0;
}

static void start_served_file(front_file *f, const coll_facts *facts)
{
    share_store_id(f);
    coll_file_start(f->file, facts);
    front_view_read(&f->view, f->handle, f->name, f->group.runtime.rank);
    add_served_file(&files, f);
}

/* NULL, or why not, as rank 0 knows it. Collective. */
static const char *serve_file(front_ranks *ranks, const char *name, int mode, MPI_Info info,
                              MPI_File handle, double began)
{
    front_file *f = new_served_file(name, mode, handle);
    const char *text[PARAMETERS], *reason;
    coll_facts facts;
    int rc = f == NULL ? MPI_ERR_NO_MEM : front_group_init(&f->group, ranks, front_process());
    if (rc == 0 && ranks->rank == 0 && front_store_open(&f->store) != 0)
        rc = MPI_ERR_UNSUPPORTED_OPERATION;
    if (rc == 0) {
        facts = collect_facts(ranks, &f->store, info, text);
        rc = open_served_file(f, &facts, began);
    }
    rc = front_group_largest(ranks->comm, rc);
    if (rc == 0) {
        start_served_file(f, &facts);
        return NULL;
    }
    if (f != NULL && f->store.failure != NULL)
        reason = f->store.failure;
    else
        reason = rc == MPI_ERR_NO_MEM ? "memory is exhausted" : "an older file has its tags";
    front_end_closing(f);
    return reason;
}

void front_open(front_word comm_word, const char *name, int mode, front_word info,
                front_word handle, double began)
{
    MPI_Comm comm = (MPI_Comm)comm_word;
    front_ranks *ranks = tatp_mpiio_leaves_file ? NULL : front_ranks_of(comm);
    const char *reason =
        ranks != NULL ? serve_file(ranks, name, mode, (MPI_Info)info, (MPI_File)handle, began)
        : tatp_mpiio_leaves_file ? "fcoll/tatp serves it"
                                 : "the MPI has no communicator for it";
    if (reason != NULL)
        (void)leave_file(comm, name, reason);
}

/* ---- flushing and closing ---- */

void front_finish(front_word handle)
{
    const front_file *f = front_file_of((MPI_File)handle);
    if (f != NULL)
        front_requests_finish(&f->group.queue);
}

int front_flush(front_word handle)
{
    front_file *f = front_file_of((MPI_File)handle);
    if (f == NULL)
        return MPI_SUCCESS;
    front_requests_finish(&f->group.queue);
    return front_error_class(coll_file_report_loss(f->file, front_store_flush(&f->store)));
}

/* No rank frees what belongs to all of them before all come here. */
static int finish_served_file(front_file *f)
{
    front_requests_finish(&f->group.queue);
    coll_file_count_noncollective(f->file, (int64_t[2]){f->counted[false], f->counted[true]});
    return front_error_class(coll_file_report_loss(f->file, front_store_close(&f->store)));
}

bool front_close(front_word *handle, front_file **closing, int *error)
{
    const MPI_File file = (MPI_File)*handle;
    front_file *f = *closing = find_served_file(&files, file, true);
    *error = f != NULL ? finish_served_file(f) : MPI_SUCCESS;
    if (f == NULL)
        (void)find_served_file(&failing, file, true);
    if (*error == MPI_SUCCESS)
        return true;
    add_served_file(&failing, f);
    front_report(*handle, *error);
    const bool is_open = find_served_file(&failing, file, true) != NULL;
    if (!is_open)
        *handle = (front_word)MPI_FILE_NULL;
    return is_open;
}

/* ---- view and hints ---- */

#ifdef OPEN_MPI
static MPI_Datatype empty;

static void make_empty(void)
{
    mpi.Type_contiguous(0, MPI_BYTE, &empty);
    mpi.Type_commit(&empty);
}

front_word front_choose_type(front_word handle, front_word filetype)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (front_file_of((MPI_File)handle) == NULL || (MPI_Datatype)filetype == MPI_DATATYPE_NULL ||
        front_type_measure((MPI_Datatype)filetype).bytes != 0)
        return filetype;
    pthread_once(&once, make_empty);
    return (front_word)empty;
}
#else
front_word front_choose_type(front_word handle, front_word filetype)
{
    (void)handle;
    return filetype;
}
#endif

void front_set_info(front_word handle, front_word info)
{
    front_file *f = front_file_of((MPI_File)handle);
    if (f == NULL)
        return;
    const coll_hint_values hints = front_hints_read((MPI_Info)info, f->group.runtime.rank);
    front_requests_finish(&f->group.queue);
    coll_file_set_hints(f->file, &hints);
}

void front_set_view(front_word handle, front_word info)
{
    front_file *f = front_file_of((MPI_File)handle);
    if (f == NULL)
        return;
    front_view_read(&f->view, f->handle, f->name, f->group.runtime.rank);
    f->view.pointer = 0;
    front_set_info(handle, info);
}

void front_get_info(front_word handle, const void *info)
{
    const front_file *f = front_file_of((MPI_File)handle);
    coll_hint_values hints;
    if (f != NULL && coll_file_get_hints(f->file, &hints))
        front_hints_write(*(const MPI_Info *)info, &hints);
}
