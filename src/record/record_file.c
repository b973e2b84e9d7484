/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "record/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void record_addition_release(record_addition *addition)
{
    matrix_builder_clear(&addition->view);
    view_file_release(&addition->profile);
    memset(addition, 0, sizeof *addition);
}

void record_file_release(record_file *file)
{
    view_file_release(&file->record);
    memset(file, 0, sizeof *file);
}

/* ---- comments ---- */

/* Reads the lines that write_comments writes; modifies the text. Returns whether they are of this
 * run. */
static bool parse_comments(char *comments, const char *run, record_totals *totals)
{
    bool same_run = false;
    char *rest = NULL;
    for (char *line = strtok_r(comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "run: ", 5) == 0)
            same_run = strcmp(line + 5, run) == 0;
        (void)sscanf(line, "files: %" SCNd64, &totals->files);
        (void)sscanf(line, "accesses: %" SCNd64, &totals->accesses);
        (void)sscanf(line, "bytes: %" SCNd64, &totals->bytes);
        (void)sscanf(line, "independent: %" SCNd64, &totals->independent);
        (void)sscanf(line, "missed: %" SCNd64, &totals->missed);
    }
    return same_run;
}

static int write_comments(const record_origin *origin, const record_totals *totals, char **comments)
{
    int length = asprintf(comments,
                          "view matrix of fcoll/tatp, format 3\n"
                          "program: %s\nrun: %s\nranks: %zu\nweight: %s\nfiles: %" PRId64
                          "\naccesses: %" PRId64 "\nbytes: %" PRId64 "\nindependent: %" PRId64
                          "\nmissed: %" PRId64 "\n",
                          origin->program, origin->run, origin->ranks,
                          origin->weight == ACCESS_WEIGHT_BYTES ? "bytes" : "count", totals->files,
                          totals->accesses, totals->bytes, totals->independent, totals->missed);
    if (length < 0)
        *comments = NULL;
    return length < 0 ? -ENOMEM : 0;
}

/* ---- atomic replacement ---- */

/* Writes, and closes fd. */
static int write_record(int fd, const view_file *record)
{
    FILE *stream = fdopen(fd, "w");
    if (stream == NULL) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    int rc = view_file_write(stream, record);
    if (rc == 0 && fsync(fd) != 0)
        rc = -errno;
    if (fclose(stream) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

/* Creates a file beside `path`, with the mode that the umask gives. Returns its descriptor; the
 * caller frees *name. */
static int open_beside(const char *path, char **name)
{
    if (asprintf(name, "%s.XXXXXX", path) < 0) {
        *name = NULL;
        return -ENOMEM;
    }
    int fd = mkstemp(*name);
    if (fd >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        (void)fchmod(fd, 0666 & ~mask);
        return fd;
    }
    int rc = -errno;
    free(*name);
    *name = NULL;
    return rc;
}

static int replace_record(const char *path, const view_file *record)
{
    char *name;
    int fd = open_beside(path, &name);
    if (fd < 0)
        return fd;
    int rc = write_record(fd, record);
    if (rc == 0 && rename(name, path) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(name);
    free(name);
    return rc;
}

int record_file_check(const char *path)
{
    struct stat status;
    char *name;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return -EISDIR;
    int fd = open_beside(path, &name);
    if (fd < 0)
        return fd;
    close(fd);
    unlink(name);
    free(name);
    return 0;
}

/* ---- the lock file ---- */

/* Locks the open file: 1; 0 if it is not the one of that name any more, because the process that
 * held the lock removed it: others lock a new one. */
static int lock_named_file(int fd, const char *name)
{
    struct stat held, named;
    if (flock(fd, LOCK_EX) != 0 || fstat(fd, &held) != 0)
        return errno == EINTR ? 0 : -errno;
    if (stat(name, &named) != 0)
        return errno == ENOENT || errno == EINTR ? 0 : -errno;
    return held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/* Waits for the lock. Returns the descriptor that holds it. */
static int acquire_lock_file(const char *name)
{
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return -errno;
        int locked = lock_named_file(fd, name);
        if (locked > 0)
            return fd;
        close(fd);
        if (locked < 0)
            return locked;
    }
}

/* ---- adding, with the lock held ---- */

static bool is_as_written(const record_file *file, const char *path)
{
    struct stat now;
    const struct stat *then = &file->status;
    return file->known && stat(path, &now) == 0 && now.st_dev == then->st_dev &&
           now.st_ino == then->st_ino && now.st_size == then->st_size &&
           now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

/* Reads the record if there is one of this run. */
static int read_record(record_file *file, const char *path, const char *run)
{
    matrix_error error;
    char *comments = NULL;
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return 0;
    int rc = matrix_read_comments(stream, &comments);
    if (rc == 0 && parse_comments(comments, run, &file->totals)) {
        rewind(stream);
        rc = view_file_read(stream, &file->record, &error);
    } else {
        file->totals = (record_totals){0};
    }
    free(comments);
    fclose(stream);
    return rc;
}

static int merge_addition(record_file *file, record_addition *addition)
{
    view_file more = addition->profile;
    int rc = addition->view.rows > 0 ? matrix_builder_finish(&addition->view, &more.view) : 0;
    if (rc == 0)
        rc = view_file_add(&file->record, &more);
    matrix_release(&more.view);
    file->totals.files += addition->totals.files;
    file->totals.accesses += addition->totals.accesses;
    file->totals.bytes += addition->totals.bytes;
    file->totals.independent += addition->totals.independent;
    file->totals.missed += addition->totals.missed;
    return rc;
}

static int update_record(record_file *file, const char *path, const record_origin *origin,
                         record_addition *addition)
{
    int rc = 0;
    if (!is_as_written(file, path)) {
        record_file_release(file);
        rc = read_record(file, path, origin->run);
    }
    if (rc == 0)
        rc = merge_addition(file, addition);
    free(file->record.comments);
    file->record.comments = NULL;
    if (rc == 0)
        rc = write_comments(origin, &file->totals, &file->record.comments);
    if (rc == 0)
        rc = replace_record(path, &file->record);
    file->known = rc == 0 && stat(path, &file->status) == 0;
    if (!file->known)
        record_file_release(file);
    return rc;
}

int record_file_add(record_file *file, const char *path, const record_origin *origin,
                    record_addition *addition)
{
    char *lock;
    if (asprintf(&lock, "%s.lock", path) < 0)
        return -ENOMEM;
    int fd = acquire_lock_file(lock), rc = fd;
    if (fd >= 0) {
        rc = update_record(file, path, origin, addition);
        unlink(lock);
        close(fd);
    }
    free(lock);
    return rc;
}
