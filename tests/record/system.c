/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of src/record, by --wrap of the linker: each first waits for the scheduler. */
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

void note_event(enum event_kind kind, bool is_first)
{
    if (present == NULL)
        return;
    if (present->events == EVENTS)
        abort();
    present->event[present->events++] =
        (struct event){kind, present_writer, present->writer[present_writer].added, is_first};
}

/* ---- the calls ---- */

#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)
WRAPPED(int, open, const char *path, int flags, ...);
WRAPPED(int, lstat, const char *path, struct stat *status);
WRAPPED(int, rename, const char *from, const char *to);
WRAPPED(int, unlink, const char *path);
WRAPPED(int, link, const char *from, const char *to);
WRAPPED(int, fcntl, int fd, int command, ...);
WRAPPED(int, close, int fd);
WRAPPED(int, fsync, int fd);
WRAPPED(int, ftruncate, int fd, off_t length);
WRAPPED(int, nanosleep, const struct timespec *time, struct timespec *left);
WRAPPED(ssize_t, write, int fd, const void *data, size_t bytes);
WRAPPED(ssize_t, pread, int fd, void *data, size_t bytes, off_t offset);

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    stop_here();
    return __real_open(path, flags, mode);
}

int __wrap_lstat(const char *path, struct stat *status)
{
    stop_here();
    return __real_lstat(path, status);
}

int __wrap_rename(const char *from, const char *to)
{
    stop_here();
    int rc = __real_rename(from, to);
    if (rc == 0)
        note_event(REPLACED, false);
    return rc;
}

int __wrap_unlink(const char *path)
{
    stop_here();
    return __real_unlink(path);
}

int __wrap_link(const char *from, const char *to)
{
    stop_here();
    return __real_link(from, to);
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

int __wrap_ftruncate(int fd, off_t length)
{
    stop_here();
    return __real_ftruncate(fd, length);
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
