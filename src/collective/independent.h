/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls without an exchange: each rank accesses its own data in the file, and the ranks
 * agree on errors only. Local. */
#ifndef COLLECTIVE_INDEPENDENT_H
#define COLLECTIVE_INDEPENDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "access/access.h"
#include "collective/group.h"

/* Bytes of the buffer through which data go that are not contiguous in memory: it fits into the
 * processor's cache. */
#define COLL_INDEPENDENT_BYTES ((int64_t)1 << 20)

typedef struct coll_independent_run {
    bool write;
    const access_memory *memory; /* bytes of the stream <-> addresses */
    const access_list *accesses; /* bytes of the stream <-> the file, ordered */
    char *buffer;                /* COLL_INDEPENDENT_BYTES */
} coll_independent_run;

typedef struct coll_independent_result {
    int64_t moved;  /* bytes that were written or read */
    double seconds; /* of all of it */
} coll_independent_result;

/* Accesses one extent of the file after the other, in ascending order. Writes covered extents only
 * (no read-modify-write). Short transfers are resumed. A read ends at the end of file; memory
 * beyond it is not modified. Allocates nothing. Returns the first error, after which nothing more
 * is accessed; the caller agrees on it. */
int coll_independent_execute(const coll_group *group, const coll_store *store,
                             const coll_independent_run *run, coll_independent_result *result);

#endif
