/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of src/record, by --wrap of the linker: each first waits for the scheduler. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct history *present;
int present_writer;

void stop_here(void)
{
    if (present == NULL)
        return;
    sem_post(&present->stopped);
    while (sem_wait(&present->writer[present_writer].go) != 0)
        continue;
}

int number_of_name(const char *path)
{
    static const char file[] = "/view.crs";
    const char *name = strrchr(path, '/');
    if (name == NULL || strncmp(name, file, sizeof file - 1) != 0)
        return -1;
    name += sizeof file - 1;
    if (name[0] == '\0')
        return 0;
    return name[0] == '.' && name[1] >= '2' && name[1] <= '9' && name[2] == '\0' ? name[1] - '1'
                                                                                 : -1;
}

void note_event(enum event_kind kind, int name)
{
    if (present == NULL || name < 0)
        return;
    if (present->events == EVENTS)
        abort();
    present->event[present->events++] =
        (struct event){kind, present_writer, name, present->writer[present_writer].added};
}

static void note_look(const char *path)
{
    if (present != NULL && present->writer[present_writer].looking)
        note_event(LOOKED, number_of_name(path));
}

/* ---- the calls ---- */

#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)
WRAPPED(int, open, const char *path, int flags, ...);
WRAPPED(int, lstat, const char *path, struct stat *status);
WRAPPED(int, rename, const char *from, const char *to);
WRAPPED(int, linkat, int from, const char *old, int to, const char *new, int flags);
WRAPPED(int, unlink, const char *path);
WRAPPED(int, fcntl, int fd, int command, ...);
WRAPPED(int, close, int fd);
WRAPPED(int, fsync, int fd);
WRAPPED(int, nanosleep, const struct timespec *time, struct timespec *left);
WRAPPED(ssize_t, write, int fd, const void *data, size_t bytes);
WRAPPED(ssize_t, pread, int fd, void *data, size_t bytes, off_t offset);

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    stop_here();
    if (present != NULL && !present->nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int fd = __real_open(path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) == 0)
        note_look(path);
    return fd;
}

int __wrap_lstat(const char *path, struct stat *status)
{
    stop_here();
    int rc = __real_lstat(path, status);
    int error = errno;
    if (rc != 0 && error == ENOENT)
        note_look(path);
    errno = error;
    return rc;
}

int __wrap_rename(const char *from, const char *to)
{
    stop_here();
    int rc = __real_rename(from, to);
    if (rc == 0)
        note_event(REPLACED, number_of_name(to));
    return rc;
}

int __wrap_linkat(int from, const char *old, int to, const char *new, int flags)
{
    stop_here();
    int rc = __real_linkat(from, old, to, new, flags);
    if (rc == 0)
        note_event(REPLACED, number_of_name(new));
    return rc;
}

int __wrap_unlink(const char *path)
{
    stop_here();
    return __real_unlink(path);
}

int __wrap_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    stop_here();
    return __real_fcntl(fd, command, argument);
}

int __wrap_close(int fd)
{
    stop_here();
    return __real_close(fd);
}

/* No power fails here. */
int __wrap_fsync(int fd)
{
    (void)fd;
    stop_here();
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    stop_here();
    return 0;
}

/* At most half of it, so that a writer stops within. */
ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    stop_here();
    return __real_write(fd, data, bytes > 64 ? bytes / 2 : bytes);
}

ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset)
{
    stop_here();
    return __real_pread(fd, data, bytes, offset);
}
