/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls without an exchange: each rank accesses its own data in the file, and the ranks
 * agree on errors only. Local. */
#ifndef MCA_FCOLL_TATP_INDEPENDENT_H
#define MCA_FCOLL_TATP_INDEPENDENT_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"

#include "access/access.h"

/* The state of one file: a buffer for data that are not contiguous in memory. */
typedef struct tatp_independent tatp_independent;

tatp_independent *tatp_independent_new(void); /* NULL: no memory */
void tatp_independent_free(tatp_independent *independent);

typedef struct tatp_independent_run {
    bool write;
    const access_memory *memory; /* bytes of the stream <-> addresses */
    const access_list *accesses; /* bytes of the stream <-> the file, ordered */
    double limit;                /* seconds; 0: none */
} tatp_independent_run;

typedef struct tatp_independent_result {
    int64_t moved;  /* bytes that were written or read */
    double seconds; /* of all of it */
    bool gave_up;   /* it would have taken longer than the limit */
} tatp_independent_result;

/* Accesses one extent of the file after the other, in ascending order. Writes covered extents only
 * (no read-modify-write). Short transfers are resumed. A read ends at the end of file; memory
 * beyond it is not modified. Allocates nothing. Returns the first error, after which nothing more
 * is accessed; the caller agrees on it. */
int tatp_independent_execute(tatp_independent *independent, tatp_io *io,
                             const tatp_independent_run *run, tatp_independent_result *result);

#endif
