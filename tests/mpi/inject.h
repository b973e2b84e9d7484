/* SPDX-License-Identifier: BSD-3-Clause */
/* inject: faults of the machine within this process, and what it does to a file. A program that
 * links it has its own pwrite, pread, mmap, ...; the components call these in place of the C
 * library's. */
#ifndef TESTS_MPI_INJECT_H
#define TESTS_MPI_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault {
    NO_FAULT,
    FAIL,      /* -1 with `error` */
    HALF_FAIL, /* half is done, and all later accesses fail with `error` */
    NOTHING,   /* 0 bytes are done */
    KILL       /* the process gets SIGKILL before the access */
};

/* From now on accesses to this file fail: writes, or reads; after `after` that do not. */
struct file_fault {
    enum fault fault;
    bool write;
    int error, after;
    const char *path;
};
void inject_file(const struct file_fault *fault);

/* From now on flushing this file fails with the error, and closing it, which is done. */
void inject_flush(const char *path, int error);

/* What file systems are from now on, as statfs tells; 0: what they are. */
void inject_file_system(long type);

/* From now on no mapped page can be made writable, but for `error` 0. Returns how often that was
 * tried since the last call. */
int inject_populate(int error);

/* From now on the accesses to this file are noted, as far as they were done. */
void inject_watch(const char *path);

/* No longer. Returns what was noted, in the order of time, and how many; the caller frees it. */
struct seen_access {
    bool write;
    int64_t offset, length;
};
struct seen_access *inject_seen(size_t *count);

/* From now on no stack can be had. */
void inject_no_stack(bool fails);

/* From now on the process gets SIGKILL where it would allocate space to a file. */
void inject_death(void);

/* No more faults. Returns how many there were. */
int inject_end(void);

#endif
