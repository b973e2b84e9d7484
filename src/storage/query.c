/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of an open file: which file system it is on, and a limit for the time that it takes to
 * answer. */
#include "storage/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* ---- which file system ---- */

/* Numbers of statfs. */
static const struct file_system {
    unsigned long type;
    int (*query)(int fd, storage_range range, storage_layout **layout, matrix_error *error);
    /* NULL: an open file keeps its layout. */
    int (*set)(int fd, const file_striping *striping, matrix_error *error);
} file_systems[] = {
    {0x0BD00BD0, lustre_query, NULL},
    {0x19830326, beegfs_query, NULL},
    {0x00C36400, ceph_query, ceph_set_striping},
    {0x65735546, ceph_query_fuse, ceph_set_striping},
};

/* NULL: none of them. */
static const struct file_system *find_file_system(const struct statfs *system)
{
    unsigned long type = (unsigned long)system->f_type & 0xffffffff;
    for (size_t k = 0; k < sizeof file_systems / sizeof *file_systems; k++)
        if (file_systems[k].type == type)
            return &file_systems[k];
    return NULL;
}

bool storage_is_supported(int fd)
{
    struct statfs system;
    return fstatfs(fd, &system) == 0 && find_file_system(&system) != NULL;
}

static int identify(int fd, const struct file_system **known, struct stat *status,
                    matrix_error *error)
{
    struct statfs system;
    if (fstat(fd, status) != 0 || fstatfs(fd, &system) != 0)
        return storage_fail(error, "statfs");
    *known = find_file_system(&system);
    if (S_ISREG(status->st_mode) && *known != NULL)
        return 0;
    if (!S_ISREG(status->st_mode))
        matrix_refuse(error, 0, "not a regular file");
    else
        matrix_refuse(error, 0, "a file system (type 0x%lx) that does not say where data are",
                      (unsigned long)system.f_type & 0xffffffff);
    return -ENOTSUP;
}

static int query_file(int fd, storage_range range, storage_layout **layout, matrix_error *error)
{
    const struct file_system *known;
    struct stat status;
    int rc = identify(fd, &known, &status, error);
    return rc == 0 ? known->query(fd, range, layout, error) : rc;
}

static int set_striping(int fd, const file_striping *striping, matrix_error *error)
{
    const struct file_system *known;
    struct stat status;
    int rc = identify(fd, &known, &status, error);
    if (rc != 0)
        return rc;
    if (known->set == NULL) {
        matrix_refuse(error, 0, "a file system on which an open file keeps its layout");
        return -ENOTSUP;
    }
    if (status.st_size > 0) {
        matrix_refuse(error, 0, "the file has data");
        return -ENOTEMPTY;
    }
    return known->set(fd, striping, error);
}

/* ---- within a time ---- */

/* Belongs to both threads; the last one frees it. */
typedef struct query query;
struct query {
    int (*run)(query *q);
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int fd; /* its own: a late thread shall not ask about a file that the caller opens later */
    storage_range range;
    file_striping striping;
    bool is_finished, is_late;
    int rc;
    storage_layout *layout;
    matrix_error error;
};

static query *new_query(int (*run)(query *q))
{
    pthread_condattr_t monotonic;
    query *q = calloc(1, sizeof *q);
    if (q == NULL)
        return NULL;
    q->run = run;
    q->fd = -1;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return q;
}

static void free_query(query *q)
{
    pthread_cond_destroy(&q->finished);
    pthread_mutex_destroy(&q->lock);
    storage_free(q->layout);
    if (q->fd >= 0)
        close(q->fd);
    free(q);
}

static void *run_query(void *context)
{
    query *q = context;
    int rc = q->run(q);
    pthread_mutex_lock(&q->lock);
    bool is_late = q->is_late;
    q->rc = rc;
    q->is_finished = true;
    pthread_cond_signal(&q->finished);
    pthread_mutex_unlock(&q->lock);
    if (is_late)
        free_query(q);
    return NULL;
}

/* The program's signals are not for this thread. */
static int start_query(query *q)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, run_query, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_detach(thread);
    return -rc;
}

/* Whether it has finished. If not, the thread frees it. */
static bool wait_for_query(query *q, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += milliseconds % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&q->lock);
    int rc = 0;
    while (!q->is_finished && rc == 0)
        rc = pthread_cond_timedwait(&q->finished, &q->lock, &until);
    bool is_finished = q->is_finished;
    q->is_late = !is_finished;
    pthread_mutex_unlock(&q->lock);
    return is_finished;
}

/* Whether it has finished, and the caller frees it. If not, the thread does. */
static bool run_within(query *q, int milliseconds)
{
    int rc = start_query(q);
    if (rc == 0)
        return wait_for_query(q, milliseconds);
    matrix_refuse(&q->error, 0, "no thread: %s", strerror(-rc));
    q->rc = rc;
    return true;
}

static int run_query_file(query *q)
{
    return query_file(q->fd, q->range, &q->layout, &q->error);
}

static int run_set_striping(query *q)
{
    return set_striping(q->fd, &q->striping, &q->error);
}

/* Runs it with the file, and frees it. *layout: the answer, if there is one. */
static int run_with_file(query *q, int fd, int milliseconds, storage_layout **layout,
                         matrix_error *error)
{
    q->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (q->fd < 0) {
        q->rc = storage_fail(&q->error, "fcntl");
    } else if (!run_within(q, milliseconds)) {
        matrix_refuse(error, 0, "no answer within %d ms", milliseconds);
        return -ETIMEDOUT;
    }
    int rc = q->rc;
    if (rc == 0) {
        *layout = q->layout;
        q->layout = NULL;
    } else {
        *error = q->error;
    }
    free_query(q);
    return rc;
}

int storage_query(int fd, int64_t from, int64_t to, int milliseconds, storage_layout **layout,
                  matrix_error *error)
{
    query *q = new_query(run_query_file);
    if (q == NULL)
        return -ENOMEM;
    q->range = (storage_range){from, to};
    return run_with_file(q, fd, milliseconds, layout, error);
}

int storage_set_striping(int fd, const file_striping *striping, int milliseconds,
                         matrix_error *error)
{
    storage_layout *none;
    query *q = new_query(run_set_striping);
    if (q == NULL)
        return -ENOMEM;
    q->striping = *striping;
    return run_with_file(q, fd, milliseconds, &none, error);
}

static int run_disconnect(query *q)
{
    (void)q;
    ceph_disconnect();
    return 0;
}

void storage_disconnect(int milliseconds)
{
    query *q = ceph_is_connected() ? new_query(run_disconnect) : NULL;
    if (q != NULL && run_within(q, milliseconds))
        free_query(q);
}
