/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An open file by POSIX calls on a descriptor of the library's own.
 */
#ifndef MPI_STORE_H
#define MPI_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "collective/runtime.h"

typedef struct front_store {
    coll_store store;
    int fd; /* -1: none */
    bool may_map, is_writable, has_coherent_cache;
    bool is_atomic;        /* of the call that is about to run; the caller's */
    int64_t offset, bytes; /* what is locked */
} front_store;

/* Opens the file that MPI_File_open has opened by this name and mode. Returns 0 or a negative errno
 * value: the caller leaves the file to the MPI. Local. */
int front_store_open(front_store *store, const char *name, int mode);
void front_store_close(front_store *store);

#endif
