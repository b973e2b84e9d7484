/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that a user names.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Opens a regular file for reading: a FIFO would block, and a folder can be opened but not read.
 * NULL: *cause has the reason, after "cannot be read: ". */
static inline FILE *base_open_regular(const char *path, const char **cause)
{
    FILE *stream = NULL;
    struct stat status;
    if (stat(path, &status) != 0)
        *cause = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        *cause = S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file";
    else if ((stream = fopen(path, "r")) == NULL)
        *cause = strerror(errno);
    return stream;
}

#endif
