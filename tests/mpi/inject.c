/* SPDX-License-Identifier: BSD-3-Clause */
/* inject: this program's own versions of system and library calls. */
#define _GNU_SOURCE /* off64_t, statfs64 */
#include "inject.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The function whose offsets have 64 bits is the same one. */
#define SAME(function64, function)                                                                 \
    extern __typeof__(function) function64 __attribute__((alias(#function)));

struct file_id {
    dev_t device;
    ino_t inode;
};

static struct file_fault armed;
static int flush_error;
static struct file_id target;
static int hits, passed;

static struct file_id identify(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        abort();
    return (struct file_id){status.st_dev, status.st_ino};
}

static bool is_open_as(struct file_id file, int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == file.device && status.st_ino == file.inode;
}

void inject_file(const struct file_fault *fault)
{
    hits = passed = 0;
    target = identify(fault->path);
    armed = *fault;
}

static bool strikes(int fd, bool write)
{
    if (armed.fault == NO_FAULT || write != armed.write || !is_open_as(target, fd))
        return false;
    return passed++ >= armed.after;
}

static ssize_t fail_with(int error)
{
    errno = error;
    return -1;
}

/* True when the access must not happen: *result is what it returns. Else *bytes may be less. */
static bool disturb(int fd, bool write, size_t *bytes, ssize_t *result)
{
    if (!strikes(fd, write))
        return false;
    hits++;
    switch (armed.fault) {
    case HALF_FAIL:
        armed.fault = FAIL;
        *bytes = (*bytes + 1) / 2;
        return false;
    case NOTHING: *result = 0; return true;
    case KILL:
        kill(getpid(), SIGKILL);
        pause();
        return true;
    default: *result = fail_with(armed.error); return true;
    }
}

void inject_flush(const char *path, int error)
{
    hits = 0;
    target = identify(path);
    flush_error = error;
}

static bool cannot_flush(int fd)
{
    const bool fails = flush_error != 0 && is_open_as(target, fd);
    hits += fails;
    return fails;
}

int fsync(int fd)
{
    return cannot_flush(fd) ? (int)fail_with(flush_error) : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    const bool fails = cannot_flush(fd);
    const int rc = (int)syscall(SYS_close, fd);
    return fails ? (int)fail_with(flush_error) : rc;
}

/* --- what is done to a file --- */

static bool watching;
static struct file_id watched;
static struct seen_access *seen;
static size_t seen_count, seen_room;

void inject_watch(const char *path)
{
    watched = identify(path);
    watching = true;
}

struct seen_access *inject_seen(size_t *count)
{
    struct seen_access *all = seen;
    *count = seen_count;
    watching = false;
    seen = NULL;
    seen_count = seen_room = 0;
    return all;
}

/* Returns `done`, as the access did. */
static ssize_t note(int fd, bool write, off_t offset, ssize_t done)
{
    if (done <= 0 || !watching || !is_open_as(watched, fd))
        return done;
    if (seen_count == seen_room) {
        seen_room = seen_room > 0 ? 2 * seen_room : 64;
        seen = realloc(seen, seen_room * sizeof *seen);
        if (seen == NULL)
            abort();
    }
    seen[seen_count++] = (struct seen_access){write, offset, done};
    return done;
}

static ssize_t transfer(long call, int fd, void *at, size_t bytes, off_t offset)
{
    bool write = call == SYS_pwrite64;
    ssize_t result;
    if (disturb(fd, write, &bytes, &result))
        return result;
    return note(fd, write, offset, syscall(call, fd, at, bytes, offset));
}

static size_t sum(const struct iovec *piece, int pieces)
{
    size_t bytes = 0;
    for (int i = 0; i < pieces; i++)
        bytes += piece[i].iov_len;
    return bytes;
}

/* A list of pieces; of a shortened one only the first is done, in part. */
static ssize_t transfer_list(long call, int fd, const struct iovec *piece, int pieces, off_t offset)
{
    size_t whole = sum(piece, pieces), bytes = whole;
    bool write = call == SYS_pwritev;
    ssize_t result;
    if (disturb(fd, write, &bytes, &result))
        return result;
    if (bytes == whole)
        return note(fd, write, offset, syscall(call, fd, piece, pieces, offset, 0L));
    if (bytes > piece->iov_len)
        bytes = piece->iov_len;
    return note(fd, write, offset,
                syscall(write ? SYS_pwrite64 : SYS_pread64, fd, piece->iov_base, bytes, offset));
}

ssize_t pwrite(int fd, const void *at, size_t bytes, off_t offset)
{
    return transfer(SYS_pwrite64, fd, (void *)at, bytes, offset);
}
SAME(pwrite64, pwrite)

ssize_t pread(int fd, void *at, size_t bytes, off_t offset)
{
    return transfer(SYS_pread64, fd, at, bytes, offset);
}
SAME(pread64, pread)

ssize_t pwritev(int fd, const struct iovec *piece, int pieces, off_t offset)
{
    return transfer_list(SYS_pwritev, fd, piece, pieces, offset);
}
SAME(pwritev64, pwritev)

ssize_t preadv(int fd, const struct iovec *piece, int pieces, off_t offset)
{
    return transfer_list(SYS_preadv, fd, piece, pieces, offset);
}
SAME(preadv64, preadv)

/* --- file systems and mapped pages --- */

static long file_system;
static int populate_error, populates;

void inject_file_system(long type)
{
    file_system = type;
}

int fstatfs(int fd, struct statfs *fs)
{
    int rc = (int)syscall(SYS_fstatfs, fd, fs);
    if (rc == 0 && file_system != 0)
        fs->f_type = file_system;
    return rc;
}

int inject_populate(int error)
{
    int tried = populates;
    populate_error = error;
    populates = 0;
    return tried;
}

int madvise(void *at, size_t size, int advice)
{
    populates += advice == MADV_POPULATE_WRITE;
    if (advice == MADV_POPULATE_WRITE && populate_error != 0)
        return (int)fail_with(populate_error);
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* --- a rank dies --- */

static bool dies;

void inject_death(void)
{
    dies = true;
}

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    if (dies)
        kill(getpid(), SIGKILL);
    return syscall(SYS_fallocate, fd, 0, offset, bytes) == 0 ? 0 : errno;
}
SAME(posix_fallocate64, posix_fallocate)

/* --- stacks. The sanitizers have versions of these calls --- */

static bool no_stack;

void inject_no_stack(bool fails)
{
    no_stack = fails;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (no_stack && (flags & MAP_STACK))
        return (void *)fail_with(ENOMEM);
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
SAME(mmap64, mmap)

#endif

int inject_end(void)
{
    int there_were = hits;
    armed.fault = NO_FAULT;
    flush_error = 0;
    hits = 0;
    return there_were;
}
