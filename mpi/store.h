/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file by POSIX calls on a descriptor of the library's own, which a process opens when it first
 * accesses the file.
 */
#ifndef MPI_STORE_H
#define MPI_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collective/runtime.h"

/* Which file it is. */
typedef struct front_store_id {
    dev_t device; /* 0: any, as nodes number them on their own */
    ino_t inode;  /* 0: any, and any device */
} front_store_id;

typedef struct front_store {
    coll_store store;
    const char *name;    /* of the file, without a prefix of ROMIO; the caller's */
    int mode;            /* of MPI_File_open */
    int fd;              /* -1: none yet */
    const char *failure; /* why there will be none; NULL: nothing */
    front_store_id id;   /* the only one to be opened; when it is open, its own */
    bool may_map, is_writable, has_coherent_cache;
    bool has_written;      /* what was not flushed since */
    bool is_atomic;        /* of the call that is about to run; the caller's */
    int64_t offset, bytes; /* what is locked */
} front_store;

/* A name of MPI_File_open without ROMIO's name of a file system. */
const char *front_store_path(const char *name);

/* MPI_File_open has opened the file by this name and mode. Local, as all that follow. */
void front_store_init(front_store *store, const char *name, int mode);
/* Opens it, if it is not. Returns 0 or, as the MPI has opened it, -ENOTSUP: the access is the
 * MPI's.
 */
int front_store_open(front_store *store);
/* Afterwards what it has written is in storage, or the negative errno value says why not. */
int front_store_flush(front_store *store);
/* Returns 0, or the negative errno value that the file system has kept until then. */
int front_store_close(front_store *store);

#endif
