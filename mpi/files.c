/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/files.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- opening ---- */

static void free_served_file(front_file *f)
{
    if (f == NULL)
        return;
    coll_file_free(f->file);
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
    f->handle = handle;
    f->mode = mode;
    f->name = strdup(name);
    f->file = coll_file_new(front_process());
    if (mode & MPI_MODE_APPEND)
        mpi.File_get_size(handle, &size);
    f->view.pointer = size;
    f->store.fd = -1;
    if (f->name == NULL || f->file == NULL) {
        free_served_file(f);
        return NULL;
    }
    front_store_init(&f->store, f->name, mode);
    return f;
}

/* Why all ranks leave a file to the MPI, as far as each of them knows it. NULL if there is no
 * reason. */
static const char *find_reason_to_leave(MPI_Comm comm, int mode)
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

static void log_left_file(MPI_Comm comm, const char *name, const char *reason)
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
    const char *reason = find_reason_to_leave(comm, mode);
    if (reason != NULL)
        log_left_file(comm, name, reason);
    return reason == NULL;
}

/* Rank 0 alone opens it now. Returns an errno value. */
static int open_first_store(front_file *f)
{
    if (f->group.runtime.rank == 0)
        (void)front_store_open(&f->store);
    return f->store.error;
}

/* The others learn which file that is. Collective. */
static void share_store_id(front_file *f)
{
    const front_ranks *ranks = f->group.ranks;
    front_store_id *id = &f->store.id;
    mpi.Bcast(id, sizeof *id, MPI_BYTE, 0, ranks->comm);
    if (ranks->node[0] != front_process_node())
        id->device = 0;
}

static void start_served_file(front_file *f, MPI_Info info, double began)
{
    const coll_handle handle = {
        .runtime = &f->group.runtime,
        .store = &f->store.store,
        .name = f->name,
        .device = &front_device,
        .began = began,
    };
    const char *text[PARAMETERS];
    const coll_hint_values hints = front_hints_read(info, f->group.runtime.rank);
    front_process_parameters(text);
    coll_facts facts = coll_facts_collect(text, &hints);
    facts.fd = f->store.fd;
    facts.is_asked_for = true;
    facts.locks_file = f->group.runtime.rank == 0 && !f->store.has_coherent_cache;
    coll_file_open(f->file, &handle);
    coll_file_start(f->file, &facts);
    front_view_read(&f->view, f->handle, f->name, f->group.runtime.rank);
    add_served_file(&files, f);
}

/* NULL if there is no reason. Collective. */
static const char *serve_file(front_ranks *ranks, const char *name, int mode, MPI_Info info,
                              MPI_File handle, double began)
{
    front_file *f = new_served_file(name, mode, handle);
    int error = f == NULL ? ENOMEM : front_group_init(&f->group, ranks, front_process());
    if (error == 0)
        error = open_first_store(f);
    error = front_group_largest(ranks->comm, error);
    if (error == 0) {
        share_store_id(f);
        start_served_file(f, info, began);
        return NULL;
    }
    free_served_file(f);
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
        log_left_file(comm, name, reason);
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

void front_end_closing(front_file *f)
{
    if (f != NULL)
        coll_file_close(f->file);
    free_served_file(f);
}

/* ---- view and hints ---- */

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
