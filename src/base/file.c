/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#define PERMISSIONS 0666

/* How often a file may be made and removed by others while it is opened. */
#define MOST_ATTEMPTS 1000

int base_check_kind(const struct stat *status)
{
    if (S_ISDIR(status->st_mode))
        return -EISDIR;
    return S_ISREG(status->st_mode) ? 0 : -EINVAL;
}

static int stat_folder(const char *path, struct stat *folder)
{
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return stat(".", folder);
    int length = snprintf(name, sizeof name, "%.*s", (int)(slash + 1 - path), path);
    return length < (int)sizeof name ? stat(name, folder) : -1;
}

int base_check_owner(const char *path, const struct stat *status)
{
    struct stat folder;
    if (status->st_uid == geteuid())
        return 0;
    if (stat_folder(path, &folder) != 0 || status->st_uid == folder.st_uid)
        return 0;
    return folder.st_mode & (S_IWOTH | S_ISVTX) ? -EPERM : 0;
}

static int open_checked(const char *path, int flags)
{
    struct stat status;
    int fd = (int)TEMP_FAILURE_RETRY(open(path, flags, PERMISSIONS));
    if (fd < 0)
        return -errno;
    int rc = fstat(fd, &status) == 0 ? base_check_kind(&status) : -errno;
    if (rc == 0)
        rc = base_check_owner(path, &status);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* A new file is the user's, whomever the file system says it belongs to. */
static int make_new(const char *path, int flags)
{
    int fd = (int)TEMP_FAILURE_RETRY(open(path, flags | O_CREAT | O_EXCL, PERMISSIONS));
    if (fd >= 0)
        return fd;
    return errno == EEXIST ? -EAGAIN : -errno;
}

/* The kind is checked before as well, because to open a device may have effects. */
static int base_open_present(const char *path, const struct stat *status, int flags)
{
    bool is_link = S_ISLNK(status->st_mode) && (flags & O_NOFOLLOW) == 0;
    int rc = is_link ? 0 : base_check_kind(status);
    if (rc == 0)
        rc = base_check_owner(path, status);
    if (rc != 0)
        return rc;
    if (is_link)
        return open_checked(path, flags | O_CREAT);
    rc = open_checked(path, flags | O_NOFOLLOW);
    return rc == -ENOENT ? -EAGAIN : rc;
}

int base_open_own(const char *path, int flags)
{
    struct stat status;
    int rc = -EAGAIN;
    flags |= O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    for (int attempt = 0; attempt < MOST_ATTEMPTS && rc == -EAGAIN; attempt++)
        if (lstat(path, &status) == 0)
            rc = base_open_present(path, &status, flags);
        else
            rc = errno == ENOENT ? make_new(path, flags) : -errno;
    return rc;
}
