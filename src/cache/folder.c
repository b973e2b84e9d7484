/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf, futimens */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "openmpi-tatp"
#define NAME_SIZE (CACHE_KEY_LENGTH + sizeof ".crs")

/* ---- the folder ---- */

/* In the folder in which programs keep their caches. */
int cache_path(char **path)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;

    if (cache != NULL && cache[0] == '/')
        length = asprintf(path, "%s/" NAME, cache);
    else if (home != NULL && home[0] == '/')
        length = asprintf(path, "%s/.cache/" NAME, home);
    else
        return -ENXIO;
    return length < 0 ? -ENOMEM : 0;
}

static int make_folder(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

/* And the one in which it is. */
static int make_folders(char *path)
{
    char *slash = strrchr(path, '/');
    int rc;

    *slash = '\0';
    rc = make_folder(path);
    *slash = '/';
    return rc == 0 ? make_folder(path) : rc;
}

/* The descriptor of open(), or a negative errno: -EPERM unless it is of this type and the user's; a
 * folder has to be the user's alone. */
static int require_own(int fd, mode_t type)
{
    struct stat status;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
        status.st_uid == geteuid() &&
        (type != S_IFDIR || (status.st_mode & (S_IRWXG | S_IRWXO)) == 0))
        return fd;
    close(fd);
    return -EPERM;
}

int cache_open(bool create)
{
    char *path = NULL;
    int rc = cache_path(&path);

    if (rc == 0 && create)
        rc = make_folders(path);
    if (rc == 0)
        rc = require_own(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), S_IFDIR);
    free(path);
    return rc;
}

const char *cache_reason(int rc)
{
    switch (rc) {
    case -EPERM:
        return "it belongs to another user, or other users may use it (it needs mode 0700)";
    case -ENXIO: return "neither XDG_CACHE_HOME nor HOME is set to an absolute name";
    default: return strerror(-rc);
    }
}

/* ---- records ---- */

static const char *file_name(char name[NAME_SIZE], const cache_key *key)
{
    snprintf(name, NAME_SIZE, "%s.crs", key->text);
    return name;
}

/* O_NONBLOCK: nothing waits for the other end of a FIFO. */
int cache_open_record(int folder, const cache_key *key, bool used)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    char name[NAME_SIZE];
    int fd = openat(folder, file_name(name, key),
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    fd = require_own(fd, S_IFREG);
    if (fd >= 0 && used)
        (void)futimens(fd, times);
    return fd;
}

int cache_record_path(const cache_key *key, char **path)
{
    char *folder = NULL;
    int rc = cache_path(&folder);

    if (rc == 0 && asprintf(path, "%s/%s.crs", folder, key->text) < 0)
        rc = -ENOMEM;
    free(folder);
    return rc;
}

int cache_remove(int folder, const cache_key *key)
{
    char name[NAME_SIZE];

    return unlinkat(folder, file_name(name, key), 0) == 0 || errno == ENOENT ? 0 : -errno;
}
