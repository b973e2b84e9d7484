/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* F_OFD_SETLK, asprintf */
#include "record/record_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "record/record_header.h"

#define PERMISSIONS 0666

/* Versions of others that may appear while one process waits. */
#define MOST_VERSIONS 10000

/* ---- kinds of files ---- */

/* 1: the name is still this file's; 0: it was renamed or removed. NFS may answer by name with what
 * it knew before, but not by a descriptor with a new lock: no links, or a stale handle. */
static int is_present(int fd, const char *name)
{
    struct stat held, named;
    if (fstat(fd, &held) != 0)
        return errno == ESTALE ? 0 : -errno;
    if (lstat(name, &named) != 0)
        return errno == ENOENT ? 0 : -errno;
    return held.st_nlink > 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/* 1: locked; 0: another process holds the lock. */
static int try_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (TEMP_FAILURE_RETRY(fcntl(fd, F_OFD_SETLK, &whole)) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -errno;
}

/* Ends after an error: an empty file that no process has locked is what this one has made. */
static void close_next(int fd, const char *name)
{
    struct stat status;
    if (try_lock(fd) > 0 && is_present(fd, name) > 0 && lstat(name, &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_size == 0)
        (void)unlink(name);
    close(fd);
}

/* The kind is checked before as well, because to open a device may have effects. */
int record_store_open(const char *name)
{
    struct stat status;
    int rc = lstat(name, &status) == 0 ? base_check_kind(&status) : -errno;
    if (rc != 0)
        return rc;
    int fd = (int)TEMP_FAILURE_RETRY(
        open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd < 0)
        return -errno;
    rc = fstat(fd, &status) == 0 ? base_check_kind(&status) : -errno;
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* fd: of FILE.new or FILE~, or why it is not open. */
static int judge_beside(int fd)
{
    return fd == -EISDIR || fd == -EINVAL || fd == -ELOOP ? -ENOTUNIQ : fd;
}

/* A target that is missing is made, as by any program that writes to a link. */
static char *resolve_link(const char *link)
{
    char *target = realpath(link, NULL);
    if (target != NULL || errno != ENOENT)
        return target;
    int fd = (int)TEMP_FAILURE_RETRY(
        open(link, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, PERMISSIONS));
    if (fd < 0)
        return NULL;
    close(fd);
    return realpath(link, NULL);
}

/* Only ENOENT means that there is no file. */
static int resolve(const char *path, char **file)
{
    struct stat status;
    bool is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    if (is_link && base_check_owner(path, &status) != 0)
        return -EPERM;
    *file = is_link ? resolve_link(path) : strdup(path);
    if (*file == NULL)
        return -errno;
    if (lstat(*file, &status) == 0)
        return base_check_kind(&status);
    return errno == ENOENT ? 0 : -errno;
}

/* ---- the lock of the next version ---- */

/* 1: locked; 0: it has another name by now, or none. By polling: a blocking call has no time limit.
 */
static int wait_for_lock(int fd, const char *name)
{
    long pause = 1000000, waited = 0; /* nanoseconds */
    for (;;) {
        int locked = try_lock(fd);
        int present = locked < 0 ? locked : is_present(fd, name);
        if (present <= 0 || locked > 0)
            return present;
        if (waited >= RECORD_STORE_SECONDS * 1000000000L)
            return -ETIMEDOUT;
        nanosleep(&(struct timespec){0, pause}, NULL);
        waited += pause;
        pause = pause < 50000000 ? 2 * pause : pause;
    }
}

/* Returns the descriptor of the locked file. */
static int lock_next(const char *name)
{
    for (int version = 0; version < MOST_VERSIONS; version++) {
        int fd = judge_beside(base_open_own(name, O_RDWR | O_NOFOLLOW));
        if (fd < 0)
            return fd;
        int rc = wait_for_lock(fd, name);
        bool is_locked = rc > 0;
        if (is_locked)
            rc = record_header_check_begin(fd);
        if (is_locked && rc == 0)
            return fd;
        if (rc < 0 && rc != -ETIMEDOUT)
            close_next(fd, name);
        else
            close(fd);
        if (rc != 0)
            return rc == -EEXIST ? -ENOTUNIQ : rc;
    }
    return -ETIMEDOUT;
}

/* NULL if memory is exhausted. */
static char *add_suffix(const char *file, const char *suffix)
{
    char *name;
    return asprintf(&name, "%s%s", file, suffix) < 0 ? NULL : name;
}

int record_store_begin(record_store *store, const char *path)
{
    *store = (record_store){.fd = -1};
    int rc = resolve(path, &store->file);
    if (rc == 0) {
        store->next = add_suffix(store->file, ".new");
        store->kept = add_suffix(store->file, "~");
        rc = store->next == NULL || store->kept == NULL ? -ENOMEM : lock_next(store->next);
        store->fd = rc;
    }
    if (rc >= 0)
        return 0;
    record_store_end(store);
    return rc;
}

/* ---- versions ---- */

static int write_whole(int fd, const char *text, size_t length)
{
    if (ftruncate(fd, 0) != 0)
        return -errno;
    while (length > 0) {
        ssize_t written = TEMP_FAILURE_RETRY(write(fd, text, length));
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        text += written;
        length -= (size_t)written;
    }
    return TEMP_FAILURE_RETRY(fsync(fd)) == 0 ? 0 : -errno;
}

int record_store_check_kept(const record_store *store)
{
    int fd = judge_beside(record_store_open(store->kept));
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int rc = record_header_check_begin(fd);
    close(fd);
    return rc == -EEXIST ? -ENOTUNIQ : rc;
}

/* Makes a link where the file system has them, so that the file always exists. */
static int keep_present(const record_store *store)
{
    int rc = record_store_check_kept(store);
    if (rc != 0)
        return rc;
    (void)unlink(store->kept);
    if (link(store->file, store->kept) != 0 && rename(store->file, store->kept) != 0)
        return -errno;
    return 0;
}

int record_store_commit(record_store *store, const char *text, size_t length, bool keep)
{
    struct stat status;
    if (lstat(store->file, &status) == 0 && base_check_owner(store->file, &status) == 0)
        (void)fchmod(store->fd, status.st_mode & 0777);
    int rc = write_whole(store->fd, text, length);
    if (rc == 0 && keep)
        rc = keep_present(store);
    if (rc == 0 && rename(store->next, store->file) != 0) {
        rc = -errno;
        if (keep) /* where it has both names, this does nothing */
            (void)rename(store->kept, store->file);
    }
    if (rc == 0) {
        free(store->next);
        store->next = NULL;
    }
    return rc;
}

/* The name is free before the lock is. */
void record_store_end(record_store *store)
{
    if (store->fd >= 0) {
        if (store->next != NULL)
            (void)unlink(store->next);
        close(store->fd);
    }
    free(store->file);
    free(store->next);
    free(store->kept);
    *store = (record_store){.fd = -1};
}
