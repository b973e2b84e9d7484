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

/* 0: a regular file; -EISDIR; -EINVAL: another kind, or a link. */
int base_check_kind(const struct stat *status);
/* 0, or -EPERM: a file or a link that another user may have put into a folder where everyone makes
 * files. Whoever owns the folder is trusted, and those who share a folder with a group. */
int base_check_owner(const char *path, const struct stat *status);

/* Opens a regular file for writing, or makes it; -EPERM as above. A link of the user's own is
 * followed, unless the flags have O_NOFOLLOW. Returns the descriptor, or a negative errno: as
 * above, too. */
int base_open_own(const char *path, int flags);

#endif
