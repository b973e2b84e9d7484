/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_TMPFILE, F_OFD_SETLK, asprintf */
#include "record/record_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/record_header.h"

#define PERMISSIONS 0666

/* Versions of others that may appear while one process waits. */
#define MOST_VERSIONS 10000

/* ---- kinds of files ---- */

static int check_kind(const struct stat *status)
{
    if (S_ISDIR(status->st_mode))
        return -EISDIR;
    return S_ISREG(status->st_mode) ? 0 : -EINVAL;
}

static int resolve_link(const char *path, char **file)
{
    struct stat status;
    char *name = realpath(path, NULL);
    if (name == NULL)
        return errno == ENOENT ? -EINVAL : -errno;
    int rc = lstat(name, &status) == 0 ? check_kind(&status) : -errno;
    if (rc != 0)
        free(name);
    else
        *file = name;
    return rc;
}

int record_store_resolve(const char *path, char **file)
{
    struct stat status;
    bool exists = lstat(path, &status) == 0;
    if (!exists && errno != ENOENT)
        return -errno;
    if (exists && S_ISLNK(status.st_mode))
        return resolve_link(path, file);
    int rc = exists ? check_kind(&status) : 0;
    char *name = rc == 0 ? strdup(path) : NULL;
    if (rc == 0 && name == NULL)
        return -ENOMEM;
    if (rc == 0)
        *file = name;
    return rc;
}

/* ---- a version ---- */

/* The kind is checked before as well, because to open a device may have effects. */
int record_store_open(const char *file)
{
    struct stat status;
    int rc = lstat(file, &status) == 0 ? check_kind(&status) : -errno;
    if (rc != 0)
        return rc;
    int fd = (int)TEMP_FAILURE_RETRY(
        open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd < 0)
        return -errno;
    rc = fstat(fd, &status) == 0 ? check_kind(&status) : -errno;
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* 1: the file is still this version; 0: it was replaced or removed. NFS may answer by name with
 * what it knew before, but not by a descriptor with a new lock: no links, or a stale handle. */
static int is_present(int fd, const char *file)
{
    struct stat held, named;
    if (fstat(fd, &held) != 0)
        return errno == ESTALE ? 0 : -errno;
    if (lstat(file, &named) != 0)
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

/* 1: locked; 0: the version was replaced. By polling: a blocking call has no time limit. */
static int wait_for_lock(int fd, const char *file)
{
    long pause = 1000000, waited = 0; /* nanoseconds */
    for (;;) {
        int locked = try_lock(fd);
        int present = locked < 0 ? locked : is_present(fd, file);
        if (present <= 0 || locked > 0)
            return present;
        if (waited >= RECORD_STORE_SECONDS * 1000000000L)
            return -ETIMEDOUT;
        nanosleep(&(struct timespec){0, pause}, NULL);
        waited += pause;
        pause = pause < 50000000 ? 2 * pause : pause;
    }
}

int record_store_lock(const char *file)
{
    for (int version = 0; version < MOST_VERSIONS; version++) {
        int fd = record_store_open(file);
        int locked = fd < 0 ? fd : wait_for_lock(fd, file);
        if (fd < 0 || locked > 0)
            return fd;
        close(fd);
        if (locked < 0)
            return locked;
    }
    return -ETIMEDOUT;
}

long record_store_read(int fd, char *text, size_t capacity)
{
    size_t length = 0;
    while (length < capacity) {
        ssize_t got =
            TEMP_FAILURE_RETRY(pread(fd, text + length, capacity - length, (off_t)length));
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (long)length;
}

/* ---- the next version ---- */

/* -EOPNOTSUPP: the file system has no files without a name. */
static int create_nameless(const char *file)
{
    char *folder = strdup(file);
    if (folder == NULL)
        return -ENOMEM;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    int fd = (int)TEMP_FAILURE_RETRY(
        open(slash != NULL ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, PERMISSIONS));
    int rc = fd >= 0 ? fd : -errno;
    free(folder);
    return rc == -EISDIR || rc == -EINVAL ? -EOPNOTSUPP : rc;
}

static int create_named(const char *name)
{
    int fd = (int)TEMP_FAILURE_RETRY(
        open(name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, PERMISSIONS));
    return fd >= 0 ? fd : -errno;
}

/* Whether a record, or the beginning of one, has that name; -ENOENT: nothing has; -ENOTUNIQ:
 * something else. */
static int check_name(const char *name)
{
    char text[128];
    int fd = record_store_open(name);
    if (fd == -ENOENT)
        return fd;
    long length = fd < 0 ? fd : record_store_read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    return length >= 0 && record_header_begins(text, (size_t)length) ? 0 : -ENOTUNIQ;
}

/* Removes what a killed process left under that name. */
static int remove_left(const char *name)
{
    int rc = check_name(name);
    if (rc != 0)
        return rc == -ENOENT ? 0 : rc;
    return unlink(name) == 0 || errno == ENOENT ? 0 : -errno;
}

static int write_whole(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = TEMP_FAILURE_RETRY(write(fd, text, length));
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        text += written;
        length -= (size_t)written;
    }
    return TEMP_FAILURE_RETRY(fsync(fd)) == 0 ? 0 : -errno;
}

/* Gives the file without a name one that is not in use. */
static int name_file(int fd, const char *name)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

static int create_first(const char *file, const char *text, size_t length)
{
    int fd = create_nameless(file), rc;
    if (fd == -EOPNOTSUPP) {
        /* Empty, and replaced by the caller. */
        fd = create_named(file);
        rc = fd >= 0 ? -EAGAIN : fd;
    } else {
        rc = fd < 0 ? fd : write_whole(fd, text, length);
        if (rc == 0)
            rc = name_file(fd, file);
    }
    if (fd >= 0)
        close(fd);
    return rc == -EEXIST ? -EAGAIN : rc;
}

static void keep_permissions(int from, int to)
{
    struct stat status;
    if (fstat(from, &status) == 0)
        (void)fchmod(to, status.st_mode & 0777);
}

/* The lock is held, so that no other process uses the name. */
static int replace(const char *file, const char *name, int old, const char *text, size_t length)
{
    int rc = remove_left(name);
    int fd = rc == 0 ? create_nameless(file) : rc;
    bool named = fd == -EOPNOTSUPP;
    if (named)
        fd = create_named(name);
    if (fd < 0)
        return fd;
    keep_permissions(old, fd);
    rc = write_whole(fd, text, length);
    if (rc == 0 && !named) {
        rc = name_file(fd, name);
        named = rc == 0;
    }
    if (rc == 0 && rename(name, file) != 0)
        rc = -errno;
    if (rc != 0 && named)
        unlink(name);
    close(fd);
    return rc;
}

static int replace_version(const char *file, int fd, const char *text, size_t length)
{
    char *name;
    if (asprintf(&name, "%s.new", file) < 0)
        return -ENOMEM;
    int rc = replace(file, name, fd, text, length);
    free(name);
    return rc;
}

int record_store_put(const char *file, int fd, const char *text, size_t length)
{
    return fd < 0 ? create_first(file, text, length) : replace_version(file, fd, text, length);
}

static int copy_version(int fd, const char *name)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    size_t capacity = (size_t)status.st_size;
    char *text = malloc(capacity + 1);
    long length = text == NULL ? -ENOMEM : record_store_read(fd, text, capacity);
    int rc = length < 0 ? (int)length : replace_version(name, fd, text, (size_t)length);
    free(text);
    return rc;
}

int record_store_keep(const char *file, int fd)
{
    char *name;
    if (asprintf(&name, "%s~", file) < 0)
        return -ENOMEM;
    int rc = check_name(name);
    if (rc == 0 || rc == -ENOENT)
        rc = copy_version(fd, name);
    free(name);
    return rc;
}

int record_store_check(const char *file)
{
    char *name = NULL;
    int fd = create_nameless(file);
    if (fd == -EOPNOTSUPP) {
        if (asprintf(&name, "%s.check.%ld", file, (long)getpid()) < 0)
            return -ENOMEM;
        fd = create_named(name);
        if (fd >= 0)
            unlink(name);
        free(name);
    }
    if (fd < 0)
        return fd == -EEXIST ? 0 : fd; /* created by another process */
    int rc = try_lock(fd);
    close(fd);
    return rc < 0 ? rc : 0;
}
