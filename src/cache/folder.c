/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "openmpi-tatp"
#define NAME_SIZE (CACHE_KEY_LENGTH + 32)

/* ---- the folder ---- */

/* The folder in which programs keep their caches; the caller frees it. */
static int find_parent(char **parent)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;

    if (cache != NULL && cache[0] == '/')
        length = asprintf(parent, "%s", cache);
    else if (home != NULL && home[0] == '/')
        length = asprintf(parent, "%s/.cache", home);
    else
        return -ENXIO;
    return length < 0 ? -ENOMEM : 0;
}

static int add_name(char *parent, char **path)
{
    return asprintf(path, "%s/" NAME, parent) < 0 ? -ENOMEM : 0;
}

int cache_path(char **path)
{
    char *parent = NULL;
    int rc = find_parent(&parent);

    if (rc == 0)
        rc = add_name(parent, path);
    free(parent);
    return rc;
}

static int make_folder(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

/* The descriptor of open(), or a negative errno: -EPERM unless it is of this type, the user's, and
 * of a mode without `others`. */
static int require_private(int fd, mode_t type, mode_t others)
{
    struct stat status;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
        status.st_uid == geteuid() && (status.st_mode & others) == 0)
        return fd;
    close(fd);
    return -EPERM;
}

static int open_folder(const char *path)
{
    return require_private(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), S_IFDIR,
                           S_IRWXG | S_IRWXO);
}

int cache_open(bool create)
{
    char *parent = NULL, *path = NULL;
    int rc = find_parent(&parent);

    if (rc == 0)
        rc = add_name(parent, &path);
    if (rc == 0 && create)
        rc = make_folder(parent);
    if (rc == 0 && create)
        rc = make_folder(path);
    if (rc == 0)
        rc = open_folder(path);
    free(parent);
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

/* ---- files ---- */

static const char *file_name(char name[NAME_SIZE], const cache_key *key, const char *suffix)
{
    snprintf(name, NAME_SIZE, "%s%s", key->text, suffix);
    return name;
}

/* O_NONBLOCK: nothing waits for the other end of a FIFO. */
static int open_file(int folder, const cache_key *key, const char *suffix)
{
    char name[NAME_SIZE];
    int fd = openat(folder, file_name(name, key, suffix),
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    return require_private(fd, S_IFREG, S_IWGRP | S_IWOTH);
}

int cache_open_record(int folder, const cache_key *key)
{
    struct stat status;
    int fd = open_file(folder, key, ".crs");

    if (fd < 0 || (fstat(fd, &status) == 0 && status.st_size > 0))
        return fd;
    close(fd);
    return -ENOENT;
}

int cache_create_record(int folder, const cache_key *key)
{
    char name[NAME_SIZE];
    int fd = openat(folder, file_name(name, key, ".crs"),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno == EEXIST ? 0 : -errno;
    close(fd);
    return 0;
}

char *cache_record_path(const char *folder, const cache_key *key)
{
    char *path;

    return asprintf(&path, "%s/%s.crs", folder, key->text) < 0 ? NULL : path;
}

int cache_remove(int folder, const cache_key *key)
{
    static const char *const suffixes[] = {".crs", ".runs"};
    char name[NAME_SIZE];
    int rc = 0;

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (unlinkat(folder, file_name(name, key, suffixes[i]), 0) != 0 && errno != ENOENT)
            rc = -errno;
    return rc;
}

/* ---- runs ---- */

int cache_read_runs(int folder, const cache_key *key, cache_runs *runs)
{
    int fd = open_file(folder, key, ".runs"), rc;
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");

    *runs = (cache_runs){.ranks = 0};
    if (fd < 0)
        return fd;
    if (stream == NULL) {
        close(fd);
        return -ENOMEM;
    }
    rc = cache_runs_parse(stream, runs);
    fclose(stream);
    return rc;
}

/* A file that no other process has. */
static int create_temporary(int folder, const cache_key *key, char name[NAME_SIZE])
{
    unsigned number = (unsigned)getpid(), random;
    char suffix[32];
    int fd;

    do {
        /* In order where there are no random bytes. */
        number++;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) == (ssize_t)sizeof random)
            number = random;
        snprintf(suffix, sizeof suffix, ".new-%x", number);
        fd = openat(folder, file_name(name, key, suffix),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd < 0 ? -errno : fd;
}

static int write_file(int fd, const cache_runs *runs)
{
    FILE *stream = fdopen(fd, "w");
    int rc;

    if (stream == NULL) {
        close(fd);
        return -ENOMEM;
    }
    rc = cache_runs_format(stream, runs);
    return fclose(stream) == 0 ? rc : -errno;
}

int cache_write_runs(int folder, const cache_key *key, const cache_runs *runs)
{
    char temporary[NAME_SIZE], name[NAME_SIZE];
    int fd = create_temporary(folder, key, temporary), rc;

    if (fd < 0)
        return fd;
    rc = write_file(fd, runs);
    if (rc == 0 && renameat(folder, temporary, folder, file_name(name, key, ".runs")) != 0)
        rc = -errno;
    if (rc != 0)
        (void)unlinkat(folder, temporary, 0);
    return rc;
}
