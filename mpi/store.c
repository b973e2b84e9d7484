/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include "mpi/store.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/stripes.h"

/* ---- names ---- */

/* ROMIO's names of file systems that are those of the system; it takes what is before a colon for a
 * file system. */
const char *front_store_path(const char *name)
{
    static const char *const prefixes[] = {"ufs:", "nfs:", "lustre:", "gpfs:", "xfs:", "panfs:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return name + strlen(prefixes[i]);
    return name;
}

/* Small pieces are written through mapped pages, which need to be readable. */
static int open_by_name(const char *name, int mode)
{
    int fd = -1;
    if (!(mode & MPI_MODE_RDONLY))
        fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0 && mode & MPI_MODE_WRONLY)
        fd = open(name, O_WRONLY | O_CLOEXEC);
    if (mode & MPI_MODE_RDONLY)
        fd = open(name, O_RDONLY | O_CLOEXEC);
    return fd;
}

/* ---- opening ---- */

static bool is_other_file(const front_store *s, const struct stat *status)
{
    const bool has_other_device = s->id.device != 0 && s->id.device != status->st_dev;
    return s->id.inode != 0 && (s->id.inode != status->st_ino || has_other_device);
}

/* Returns NULL, or why not. */
static const char *open_store_file(front_store *s)
{
    struct stat status;
    s->fd = open_by_name(s->name, s->mode);
    if (s->fd < 0 || fstat(s->fd, &status) != 0)
        return strerror(errno);
    if (is_other_file(s, &status))
        return strerror(ESTALE);
    /* the other half is for the program, and the MPI, which has one for each open file */
    if ((unsigned long)s->fd >= (unsigned long)sysconf(_SC_OPEN_MAX) / 2)
        return strerror(EMFILE);
    s->id = (front_store_id){status.st_dev, status.st_ino};
    s->is_writable = !(s->mode & MPI_MODE_RDONLY);
    s->may_map = s->is_writable && (fcntl(s->fd, F_GETFL) & O_ACCMODE) == O_RDWR &&
                 access_pages_are_shared(s->fd);
    s->has_coherent_cache = !storage_is_nfs(s->fd);
    return NULL;
}

int front_store_open(front_store *s)
{
    if (s->fd < 0 && s->failure == NULL)
        s->failure = open_store_file(s);
    if (s->failure != NULL)
        (void)front_store_close(s);
    return s->failure == NULL ? 0 : -ENOTSUP;
}

int front_store_close(front_store *s)
{
    int rc = s->fd >= 0 && close(s->fd) != 0 ? -errno : 0;
    s->fd = -1;
    return rc;
}

int front_store_flush(front_store *s)
{
    int rc = s->has_written ? storage_flush(s->fd) : 0;
    s->has_written = rc != 0;
    return rc;
}

/* ---- locks ---- */

/* Atomic mode locks against all others. NFS needs a shared lock, which empties its cache. */
static bool needs_lock(const front_store *s)
{
    return s->is_atomic || !s->has_coherent_cache;
}

static int lock_posix(void *context, int64_t offset, int64_t bytes)
{
    front_store *s = context;
    int rc = front_store_open(s);
    s->offset = offset;
    s->bytes = bytes;
    return rc == 0 && needs_lock(s)
               ? storage_lock(s->fd, s->is_atomic && s->is_writable, offset, bytes)
               : rc;
}

static int unlock_posix(void *context)
{
    const front_store *s = context;
    return needs_lock(s) ? storage_unlock(s->fd, s->offset, s->bytes) : 0;
}

/* ---- access ---- */

static int write_posix(const front_store *s, const access_extent *extent)
{
    for (int64_t at = 0; at < extent->bytes;) {
        ssize_t done = TEMP_FAILURE_RETRY(
            pwrite(s->fd, extent->data + at, (size_t)(extent->bytes - at), extent->offset + at));
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        at += done;
    }
    return 0;
}

static bool may_map_posix(void *context)
{
    front_store *s = context;
    return front_store_open(s) == 0 && s->may_map;
}

/* The last extent comes first: the file then ends behind all pages. false: the extents have to be
 * written one by one, and that returns the error if there is one. */
static bool write_posix_pages(front_store *s, const access_extent *extent, size_t count)
{
    if (s->is_atomic || !s->may_map || !access_pages_pay(extent, count))
        return false;
    if (write_posix(s, &extent[count - 1]) == 0 && access_pages_write(s->fd, extent, count) == 0)
        return true;
    s->may_map = false;
    return false;
}

static int write_posix_extents(void *context, const access_extent *extent, size_t count)
{
    front_store *s = context;
    int rc = 0;
    s->has_written = true;
    if (write_posix_pages(s, extent, count))
        return rc;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = write_posix(s, &extent[i]);
    return rc;
}

static int read_posix(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    const front_store *s = context;
    *done = TEMP_FAILURE_RETRY(pread(s->fd, data, (size_t)bytes, offset));
    if (*done >= 0)
        return 0;
    *done = 0;
    return -errno;
}

/* The MPI may have written, too, by a descriptor of its own. */
static int flush_posix(void *context)
{
    front_store *s = context;
    if (s->mode & MPI_MODE_RDONLY)
        return 0;
    int rc = front_store_open(s);
    s->has_written = rc == 0;
    return rc == 0 ? front_store_flush(s) : rc;
}

static void refresh_posix(void *context)
{
    const front_store *s = context;
    if (s->is_writable && s->fd >= 0)
        storage_refresh(s->fd);
}

static void begin_posix(void *context)
{
    (void)context;
}

/* ---- all of it ---- */

void front_store_init(front_store *s, const char *name, int mode)
{
    *s = (front_store){.name = front_store_path(name), .mode = mode, .fd = -1};
    s->store = (coll_store){
        .access = {s, write_posix_extents, read_posix, lock_posix, unlock_posix, 0},
        .flush = flush_posix,
        .refresh = refresh_posix,
        .begin = begin_posix,
        .may_map = may_map_posix,
    };
}
