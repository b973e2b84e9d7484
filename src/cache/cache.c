/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf, futimens, openat, fdopendir with -std=c11 */
#include "cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#define NAME "openmpi-tatp"
#define NAME_SIZE (CACHE_KEY_LENGTH + sizeof ".crs")

/* ---- the folder ---- */

int cache_path(char **path)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *told = getenv(CACHE_FOLDER);
    int length;
    if (told != NULL && told[0] == '/')
        length = asprintf(path, "%s", told);
    else if (cache != NULL && cache[0] == '/')
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

/* Makes the folder above it first. */
static int make_folders(char *path)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int rc = make_folder(path);
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

/* ---- entries ---- */

#define SECONDS_OF_DAY 86400
/* No job needs this long from the first byte of a file to its name. */
#define MOST_SECONDS_OF_TEMPORARY 3600

typedef struct entry_list {
    cache_entry *entry;
    size_t count, capacity;
    int64_t now;
} entry_list;

/* Whether a name is one of the cache's; *suffix is the rest of it. */
static bool split_name(const char *name, cache_key *key, const char **suffix)
{
    static const char digits[] = "0123456789abcdef";
    if (strspn(name, digits) != CACHE_PROGRAM_LENGTH || name[CACHE_PROGRAM_LENGTH] != '-' ||
        strspn(name + CACHE_PROGRAM_LENGTH + 1, digits) != 8 || name[CACHE_KEY_LENGTH] != '.')
        return false;
    memcpy(key->text, name, CACHE_KEY_LENGTH);
    key->text[CACHE_KEY_LENGTH] = '\0';
    *suffix = name + CACHE_KEY_LENGTH;
    return true;
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int cache_add_entry(entry_list *list, const cache_key *key, const struct stat *status)
{
    int rc = base_reserve(&list->entry, &list->capacity, list->count + 1, sizeof *list->entry);
    if (rc == 0)
        list->entry[list->count++] = (cache_entry){
            .key = *key,
            .bytes = status->st_size,
            .recorded = status->st_mtime,
            .used = later_of(status->st_atime, status->st_mtime),
        };
    return rc;
}

/* Removes what a killed job left, if `trim`. */
static int visit_file(int folder, const char *name, bool trim, entry_list *list)
{
    struct stat status;
    const char *suffix;
    cache_key key;
    if (!split_name(name, &key, &suffix) ||
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (strcmp(suffix, ".crs") == 0)
        return cache_add_entry(list, &key, &status);
    if (trim && list->now - status.st_mtime > MOST_SECONDS_OF_TEMPORARY)
        (void)unlinkat(folder, name, 0);
    return 0;
}

static int compare_ages(const void *a, const void *b)
{
    const cache_entry *x = a, *y = b;
    return x->used == y->used ? strcmp(x->key.text, y->key.text) : x->used < y->used ? 1 : -1;
}

static int cache_read_entries(int folder, bool trim, entry_list *list)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *file;
    *list = (entry_list){.now = time(NULL)};
    if (stream == NULL) {
        rc = -errno;
        if (copy >= 0)
            close(copy);
        return rc;
    }
    while (rc == 0 && (file = readdir(stream)) != NULL)
        rc = visit_file(folder, file->d_name, trim, list);
    closedir(stream);
    if (rc != 0)
        free(list->entry);
    else if (list->count > 0)
        qsort(list->entry, list->count, sizeof *list->entry, compare_ages);
    return rc;
}

int cache_list(int folder, cache_entry **entries, size_t *count)
{
    entry_list list;
    int rc = cache_read_entries(folder, false, &list);
    if (rc != 0)
        return rc;
    *entries = list.entry;
    *count = list.count;
    return 0;
}

/* Entries before this one, which are kept. */
typedef struct kept_entries {
    const cache_entry *entry[CACHE_MOST_ENTRIES];
    size_t count;
    int64_t bytes;
} kept_entries;

static bool fits(const kept_entries *kept, const cache_entry *e, int64_t now)
{
    size_t same = 0;
    for (size_t i = 0; i < kept->count; i++)
        same += strncmp(kept->entry[i]->key.text, e->key.text, CACHE_PROGRAM_LENGTH) == 0;
    return kept->count < CACHE_MOST_ENTRIES && same < CACHE_MOST_ARGUMENTS &&
           e->bytes <= CACHE_MOST_BYTES - kept->bytes &&
           now - e->used <= CACHE_MOST_DAYS * SECONDS_OF_DAY;
}

int cache_trim(int folder)
{
    kept_entries kept = {.count = 0};
    entry_list list;
    int rc = cache_read_entries(folder, true, &list);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < list.count; i++) {
        const cache_entry *e = &list.entry[i];
        if (fits(&kept, e, list.now)) {
            kept.bytes += e->bytes;
            kept.entry[kept.count++] = e;
        } else {
            (void)cache_remove(folder, &e->key);
        }
    }
    free(list.entry);
    return 0;
}
