/* SPDX-License-Identifier: BSD-3-Clause */
/* Data between the ranks' buffers and the file, by domains and aggregators that are given: the
 * access requests, windows in shared memory, and src/exchange over PML, shared memory and fbtl.
 *
 * Functions return OMPI_SUCCESS or an OMPI or MPI error code. */
#ifndef MCA_FCOLL_TATP_EXCHANGE_H
#define MCA_FCOLL_TATP_EXCHANGE_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/mca/rte/rte.h"

#include "access/access.h"
#include "access/domain.h"
#include "exchange/exchange.h"

/* The state of one file: the exchange that is prepared, and memory shared with the ranks of its
 * node. */
typedef struct tatp_exchange tatp_exchange;

/* `process` (per rank) is what identifies the ranks of a communicator; it stays the caller's. NULL:
 * no memory. */
tatp_exchange *tatp_exchange_new(const ompi_process_name_t *process);
void tatp_exchange_free(tatp_exchange *ex);
/* Frees what is kept for later files; for the component's close. */
void tatp_exchange_release_all(void);

/* Which aggregator owns what, and this rank's part of it. Everything that is pointed to stays valid
 * until tatp_exchange_reset. */
typedef struct tatp_exchange_layout {
    int64_t cycle_size;   /* positions of a domain; the same on all ranks */
    int64_t num_cycles;   /* of the largest domain; the same on all ranks */
    int64_t message_size; /* bytes at most; the same on all ranks */
    const file_domains *domains;
    const int *aggregator;     /* per domain, a rank */
    const domain_share *share; /* this rank's part of each domain that it accesses */
    size_t shares;
    bool aggregates;     /* this rank owns domain `domain` ... */
    size_t domain;       /* ... */
    size_t contributors; /* ... which this number of ranks access, itself included */
    bool ordered;        /* a write in atomic mode */
    bool use_shared_memory;
} tatp_exchange_layout;

/* Prepares an exchange: sends the access requests to the aggregators, shares the windows on each
 * node. Returns this rank's error, which has to be agreed on. Collective. */
int tatp_exchange_prepare(tatp_exchange *ex, tatp_comm *comm, const tatp_exchange_layout *layout);
/* Releases what was prepared. */
void tatp_exchange_reset(tatp_exchange *ex);

/* Acquires the memory of the next run, unless prepare did, and releases it. Local. */
int tatp_exchange_acquire(tatp_exchange *ex);
void tatp_exchange_release(tatp_exchange *ex);

typedef struct tatp_exchange_times {
    double shuffle, access; /* seconds */
} tatp_exchange_times;

/* Moves the data of one access. Never ends early: returns this rank's first error, which has to be
 * agreed on. run->transport and run->store are set here. Collective. */
int tatp_exchange_run(tatp_exchange *ex, tatp_comm *comm, const tatp_io *io, exchange_run *run,
                      exchange_result *result, tatp_exchange_times *times);

#endif
