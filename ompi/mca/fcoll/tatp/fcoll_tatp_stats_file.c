/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the statistics are appended to a file, or passed to the reader of a FIFO. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

/* For a reader to read on, once a process. */
#define MILLISECONDS 10000

/* 0: the descriptor takes more. */
static int wait_for_reader(int fd)
{
    static _Atomic bool waited_in_vain;
    struct pollfd reader = {.fd = fd, .events = POLLOUT};
    int ready = (int)TEMP_FAILURE_RETRY(poll(&reader, 1, waited_in_vain ? 0 : MILLISECONDS));
    if (ready < 0)
        return -errno;
    waited_in_vain = 0 == ready;
    return ready > 0 ? 0 : -ETIMEDOUT;
}

/* One write for the whole line where possible, so that lines of several processes do not mix. */
static int write_whole(int fd, const char *text, size_t length)
{
    int rc = 0;
    while (length > 0 && 0 == rc) {
        ssize_t written = TEMP_FAILURE_RETRY(write(fd, text, length));
        if (written < 0) {
            rc = EAGAIN == errno ? wait_for_reader(fd) : -errno;
        } else {
            text += written;
            length -= (size_t)written;
        }
    }
    return rc;
}

/* A reader that goes away must not end the program: without SIGPIPE in this thread. */
static int write_without_signal(int fd, const char *text, size_t length)
{
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int rc = write_whole(fd, text, length);
    if (-EPIPE == rc && !sigismember(&pending, SIGPIPE))
        (void)TEMP_FAILURE_RETRY(sigtimedwait(&pipe, NULL, &(struct timespec){0, 0}));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* A mistyped name may be that of the program's data. */
static int check_beginning(const char *path, int fd)
{
    static const char first[] = "{\"op\": \"";
    char text[sizeof first - 1];
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode) || 0 == status.st_size)
        return 0;
    int copy = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    if (copy < 0)
        return -errno;
    ssize_t length = TEMP_FAILURE_RETRY(pread(copy, text, sizeof text, 0));
    int rc = length < 0                                                       ? -errno
             : length == sizeof text && 0 == memcmp(text, first, sizeof text) ? 0
                                                                              : -EEXIST;
    close(copy);
    return rc;
}

static int append_to_file(const char *path, const char *text, size_t length)
{
    int fd = (int)TEMP_FAILURE_RETRY(
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
    if (fd < 0)
        return -errno;
    int rc = check_beginning(path, fd);
    if (0 == rc)
        rc = write_without_signal(fd, text, length);
    if (close(fd) != 0 && 0 == rc)
        rc = -errno;
    return rc;
}

int tatp_stats_append(const char *path, const char *text, size_t length)
{
    if (strcmp(path, "-") == 0)
        return write_without_signal(STDERR_FILENO, text, length);
    char *name = tatp_job_path(path);
    int rc = NULL == name ? -ENOMEM : append_to_file(name, text, length);
    free(name);
    return rc;
}
