/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of an open file: which file system it is on, and questions to it, in threads of their
 * own. */
#define _GNU_SOURCE /* O_PATH */
#include "storage/internal.h"

#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
    storage_speed speed;
    int (*query)(int fd, storage_range range, storage_layout **layout, matrix_error *error);
    /* NULL: an open file keeps its layout. */
    int (*set)(int fd, const file_striping *striping, matrix_error *error);
} file_systems[] = {
    {0x0BD00BD0, STORAGE_FAST, lustre_query, NULL},
    {0x19830326, STORAGE_FAST, beegfs_query, NULL},
    {0x00C36400, STORAGE_FAST, ceph_query, ceph_set_striping},
    {0x65735546, STORAGE_SLOW, ceph_query_fuse, ceph_set_striping},
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

storage_speed storage_get_speed(int fd)
{
    struct statfs system;
    const struct file_system *known = fstatfs(fd, &system) == 0 ? find_file_system(&system) : NULL;
    return known != NULL ? known->speed : STORAGE_SILENT;
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

/* ---- in a thread of its own ---- */

/* Belongs to both threads; the last one frees it. */
struct storage_question {
    const struct file_system *of;
    int (*run)(storage_question *q);
    int fd; /* its own: the caller may close the file */
    storage_range range;
    file_striping striping;
    struct timespec begun;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool is_finished, is_dropped;
    int rc;
    storage_layout *layout;
    matrix_error error;
};

static storage_question *new_question(int (*run)(storage_question *q))
{
    pthread_condattr_t monotonic;
    storage_question *q = calloc(1, sizeof *q);
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

static void free_question(storage_question *q)
{
    pthread_cond_destroy(&q->finished);
    pthread_mutex_destroy(&q->lock);
    storage_free(q->layout);
    if (q->fd >= 0)
        close(q->fd);
    free(q);
}

static void *run_question(void *context)
{
    storage_question *q = context;
    int rc = q->run(q);
    pthread_mutex_lock(&q->lock);
    bool is_dropped = q->is_dropped;
    q->rc = rc;
    q->is_finished = true;
    pthread_cond_signal(&q->finished);
    pthread_mutex_unlock(&q->lock);
    if (is_dropped)
        free_question(q);
    return NULL;
}

static int start_thread(storage_question *q, matrix_error *error)
{
    pthread_t thread;
    clock_gettime(CLOCK_MONOTONIC, &q->begun);
    int rc = base_start_thread(&thread, run_question, q);
    if (rc == 0)
        pthread_detach(thread);
    else
        matrix_refuse(error, 0, "no thread: %s", strerror(rc));
    return -rc;
}

static int run_query(storage_question *q)
{
    return q->of->query(q->fd, q->range, &q->layout, &q->error);
}

static int run_set_striping(storage_question *q)
{
    return q->of->set(q->fd, &q->striping, &q->error);
}

/* A file of FUSE, whose path and attributes are enough, by O_PATH: when any other descriptor of it
 * is closed, the process loses its locks of the file. */
static int copy_descriptor(const storage_question *q, int fd)
{
    char path[STORAGE_FD_PATH];
    if (q->of->speed == STORAGE_FAST || q->run != run_query)
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    storage_path_of_fd(fd, path);
    return open(path, O_PATH | O_CLOEXEC);
}

/* Takes the question over. */
static int start_question(storage_question *q, int fd, storage_question **started,
                          matrix_error *error)
{
    q->fd = copy_descriptor(q, fd);
    int rc = q->fd >= 0 ? start_thread(q, error) : storage_fail(error, "the descriptor");
    if (rc == 0)
        *started = q;
    else
        free_question(q);
    return rc;
}

/* Whether it has finished in time. If not, it is dropped. */
static bool wait_for_thread(storage_question *q, int milliseconds)
{
    struct timespec until = q->begun;
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
    q->is_dropped = !is_finished;
    pthread_mutex_unlock(&q->lock);
    return is_finished;
}

/* ---- questions ---- */

int storage_ask(int fd, int64_t from, int64_t to, storage_question **question, matrix_error *error)
{
    struct stat status;
    const struct file_system *known;
    int rc = identify(fd, &known, &status, error);
    storage_question *q = rc == 0 ? new_question(run_query) : NULL;
    if (q == NULL)
        return rc == 0 ? -ENOMEM : rc;
    q->of = known;
    q->range = (storage_range){from, to};
    return start_question(q, fd, question, error);
}

int storage_answer(storage_question *question, int milliseconds, storage_layout **layout,
                   matrix_error *error)
{
    if (!wait_for_thread(question, milliseconds)) {
        matrix_refuse(error, 0, "no answer within %d ms", milliseconds);
        return -ETIMEDOUT;
    }
    int rc = question->rc;
    if (rc == 0) {
        *layout = question->layout;
        question->layout = NULL;
    } else {
        *error = question->error;
    }
    free_question(question);
    return rc;
}

void storage_drop(storage_question *question)
{
    if (question == NULL)
        return;
    pthread_mutex_lock(&question->lock);
    bool is_finished = question->is_finished;
    question->is_dropped = true;
    pthread_mutex_unlock(&question->lock);
    if (is_finished)
        free_question(question);
}

int storage_query(int fd, int64_t from, int64_t to, int milliseconds, storage_layout **layout,
                  matrix_error *error)
{
    storage_question *question;
    int rc = storage_ask(fd, from, to, &question, error);
    return rc == 0 ? storage_answer(question, milliseconds, layout, error) : rc;
}

/* ---- setting ---- */

static int identify_settable(int fd, const struct file_system **known, matrix_error *error)
{
    struct stat status;
    int rc = identify(fd, known, &status, error);
    if (rc != 0)
        return rc;
    if ((*known)->set == NULL) {
        matrix_refuse(error, 0, "a file system on which an open file keeps its layout");
        return -ENOTSUP;
    }
    if (status.st_size > 0) {
        matrix_refuse(error, 0, "the file has data");
        return -ENOTEMPTY;
    }
    return 0;
}

int storage_set_striping(int fd, const file_striping *striping, int milliseconds,
                         matrix_error *error)
{
    storage_layout *none;
    const struct file_system *known;
    int rc = identify_settable(fd, &known, error);
    storage_question *q = rc == 0 ? new_question(run_set_striping) : NULL;
    if (q == NULL)
        return rc == 0 ? -ENOMEM : rc;
    q->of = known;
    q->striping = *striping;
    rc = start_question(q, fd, &q, error);
    return rc == 0 ? storage_answer(q, milliseconds, &none, error) : rc;
}
