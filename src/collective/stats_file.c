/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that lines of the statistics are appended to. */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include "collective/stats_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A mistyped name may be that of the program's data. */
static int check_beginning(int fd)
{
    static const char first[] = "{\"op\": \"";
    char text[sizeof first - 1];
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    if (status.st_size == 0)
        return 0;
    ssize_t length = TEMP_FAILURE_RETRY(pread(fd, text, sizeof text, 0));
    if (length < 0)
        return -errno;
    return length == sizeof text && memcmp(text, first, sizeof text) == 0 ? 0 : -EEXIST;
}

int coll_stats_open(const coll_process *process, const char *path)
{
    char *name = coll_job_path(process, path);
    if (name == NULL)
        return -ENOMEM;
    int fd = (int)TEMP_FAILURE_RETRY(
        open(name, O_RDWR | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666));
    int rc = fd < 0 ? -errno : check_beginning(fd);
    free(name);
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* One write for the whole line where possible, so that lines of several processes do not mix. */
int coll_stats_append(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = TEMP_FAILURE_RETRY(write(fd, text, length));
        if (written < 0)
            return -errno;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}
