/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of the C library's calls, loaded before it: the regular files of the folder CACHE_CALLS
 * are on a file system behind FUSE, and each process has a cache of its own, as if it were alone on
 * a node. What it has written is there, and not in the file, until it flushes or closes the file;
 * what it has read, and the size of the file, it does not read again. */
#define _GNU_SOURCE /* RTLD_NEXT, fallocate, statx */
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FUSE = 0x65735546, PAGE = 4096, BUCKETS = 1024 };

/* A page of a file, and whether its bytes are the file's, or are to be written. */
enum state { UNKNOWN, CLEAN, DIRTY };
typedef struct page {
    struct page *next;
    ino_t inode;
    off_t number;
    char data[PAGE], state[PAGE];
} page;

static page *pages[BUCKETS];

/* The size of a file; of several in one slot, that of the last. */
static struct {
    ino_t inode;
    off_t size;
} sizes[BUCKETS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The C library's function of this name. */
#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* 0: it has no cache. */
static ino_t find_inode(int fd)
{
    const char *folder = getenv("CACHE_CALLS");
    char link[64], path[PATH_MAX];
    struct stat status;
    if (folder == NULL || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length > 0 && strncmp(path, folder, strlen(folder)) == 0 ? status.st_ino : 0;
}

static page *find_page(ino_t inode, off_t number)
{
    page **bucket = &pages[number % BUCKETS], *p = *bucket;
    while (p != NULL && (p->number != number || p->inode != inode))
        p = p->next;
    if (p != NULL)
        return p;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        abort();
    p->inode = inode;
    p->number = number;
    p->next = *bucket;
    return *bucket = p;
}

static off_t *find_size(int fd, ino_t inode)
{
    struct stat status;
    off_t *size = &sizes[inode % BUCKETS].size;
    if (sizes[inode % BUCKETS].inode != inode && fstat(fd, &status) == 0)
        *size = status.st_size;
    sizes[inode % BUCKETS].inode = inode;
    return size;
}

/* ---- flushing ---- */

static void flush_page(int fd, page *p)
{
    for (int k = 0, end; k < PAGE; k = end) {
        for (end = k + 1; end < PAGE && p->state[end] == p->state[k];)
            end++;
        if (p->state[k] == DIRTY &&
            REAL(pwrite)(fd, p->data + k, (size_t)(end - k), p->number * PAGE + k) != end - k)
            abort();
        if (p->state[k] == DIRTY)
            memset(p->state + k, CLEAN, (size_t)(end - k));
    }
}

static void flush_pages(int fd, ino_t inode)
{
    for (int i = 0; i < BUCKETS; i++)
        for (page *p = pages[i]; p != NULL; p = p->next)
            if (p->inode == inode)
                flush_page(fd, p);
}

/* Those that are clean. */
static void forget_pages(ino_t inode)
{
    for (int i = 0; i < BUCKETS; i++)
        for (page **at = &pages[i]; *at != NULL;) {
            page *p = *at;
            if (p->inode != inode || memchr(p->state, DIRTY, PAGE) != NULL) {
                at = &p->next;
                continue;
            }
            *at = p->next;
            free(p);
        }
}

static void empty(int fd, bool flushes, bool forgets)
{
    pthread_mutex_lock(&lock);
    ino_t inode = find_inode(fd);
    if (inode != 0 && flushes && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
        flush_pages(fd, inode);
    if (inode != 0 && forgets) {
        forget_pages(inode);
        sizes[inode % BUCKETS].inode = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- access ---- */

static ssize_t write_cached(int fd, ino_t inode, const char *data, size_t bytes, off_t offset)
{
    off_t *size = find_size(fd, inode), end = offset + (off_t)bytes;
    if (bytes > 0 && fallocate(fd, 0, offset, (off_t)bytes) != 0)
        return -1;
    *size = end > *size ? end : *size;
    for (size_t done = 0; done < bytes; done++, offset++) {
        page *p = find_page(inode, offset / PAGE);
        p->data[offset % PAGE] = data[done];
        p->state[offset % PAGE] = DIRTY;
    }
    return (ssize_t)bytes;
}

static ssize_t read_cached(int fd, ino_t inode, char *data, size_t bytes, off_t offset)
{
    off_t rest = *find_size(fd, inode) - offset;
    if (rest < (off_t)bytes)
        bytes = rest > 0 ? (size_t)rest : 0;
    ssize_t done = REAL(pread)(fd, data, bytes, offset);
    for (ssize_t k = 0; k < done; k++, offset++) {
        page *p = find_page(inode, offset / PAGE);
        if (p->state[offset % PAGE] == UNKNOWN) {
            p->data[offset % PAGE] = data[k];
            p->state[offset % PAGE] = CLEAN;
        }
        data[k] = p->data[offset % PAGE];
    }
    return done;
}

/* One call at a time. */
static ssize_t access_file(int fd, bool write, char *data, size_t bytes, off_t offset)
{
    pthread_mutex_lock(&lock);
    ino_t inode = find_inode(fd);
    ssize_t done = inode == 0 ? write ? REAL(pwrite)(fd, data, bytes, offset)
                                      : REAL(pread)(fd, data, bytes, offset)
                   : write ? write_cached(fd, inode, data, bytes, offset)
                              : read_cached(fd, inode, data, bytes, offset);
    pthread_mutex_unlock(&lock);
    return done;
}

/* ---- the calls ---- */

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return access_file(fd, true, (char *)(uintptr_t)data, bytes, offset);
}

ssize_t pread(int fd, void *data, size_t bytes, off_t offset)
{
    return access_file(fd, false, data, bytes, offset);
}

/* A part of what is to be moved, as any call may. */
ssize_t pwritev(int fd, const struct iovec *piece, int count, off_t offset)
{
    return count < 1 ? 0 : access_file(fd, true, piece->iov_base, piece->iov_len, offset);
}

ssize_t preadv(int fd, const struct iovec *piece, int count, off_t offset)
{
    return count < 1 ? 0 : access_file(fd, false, piece->iov_base, piece->iov_len, offset);
}

/* What moves at another time is not cached. */
int aio_write(struct aiocb *block)
{
    empty(block->aio_fildes, true, true);
    return REAL(aio_write)(block);
}

int aio_read(struct aiocb *block)
{
    empty(block->aio_fildes, true, true);
    return REAL(aio_read)(block);
}

int fsync(int fd)
{
    empty(fd, true, false);
    return 0;
}

int posix_fadvise(int fd, off_t offset, off_t bytes, int advice)
{
    if (advice == POSIX_FADV_DONTNEED) {
        pthread_mutex_lock(&lock);
        forget_pages(find_inode(fd));
        pthread_mutex_unlock(&lock);
    }
    return REAL(posix_fadvise)(fd, offset, bytes, advice);
}

int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *status)
{
    ino_t inode = flags & AT_STATX_FORCE_SYNC ? find_inode(fd) : 0;
    if (inode != 0)
        sizes[inode % BUCKETS].inode = 0;
    return REAL(statx)(fd, path, flags, mask, status);
}

int close(int fd)
{
    empty(fd, true, true);
    return REAL(close)(fd);
}

int ftruncate(int fd, off_t size)
{
    empty(fd, true, true);
    return REAL(ftruncate)(fd, size);
}

int fstatfs(int fd, struct statfs *status)
{
    int rc = REAL(fstatfs)(fd, status);
    if (rc == 0 && find_inode(fd) != 0)
        status->f_type = FUSE;
    return rc;
}
