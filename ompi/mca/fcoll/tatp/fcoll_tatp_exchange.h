/* SPDX-License-Identifier: BSD-3-Clause */
/* Data between the ranks' buffers and the file, by domains and aggregators that are given: the
 * access requests, windows in shared memory, and src/exchange over PML, shared memory and fbtl.
 *
 * Functions return 0 or an error (fcoll_tatp_error.h). */
#ifndef MCA_FCOLL_TATP_EXCHANGE_H
#define MCA_FCOLL_TATP_EXCHANGE_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/compat/compat.h"

#include "access/access.h"
#include "access/domain.h"
#include "exchange/exchange.h"

/* Memory that the exchanges of a file use in turn: buffers, and what the ranks of a node share. */
typedef struct tatp_exchange_memory tatp_exchange_memory;
/* Exchanges over one memory at most. */
#define TATP_EXCHANGES 8

tatp_exchange_memory *tatp_exchange_memory_new(void); /* NULL: no memory */
/* After the exchanges that use it. */
void tatp_exchange_memory_free(tatp_exchange_memory *memory);

/* An exchange that is prepared for any number of runs, or none. */
typedef struct tatp_exchange tatp_exchange;

/* `index` < TATP_EXCHANGES differs among the exchanges over one memory, and is the same on all
 * ranks. NULL: no memory. */
tatp_exchange *tatp_exchange_new(tatp_exchange_memory *memory, size_t index);
void tatp_exchange_free(tatp_exchange *ex);
/* Frees what is kept for later files; for the component's close. */
void tatp_exchange_release_all(void);

/* Which aggregator owns what, and this rank's part of it. Everything that is pointed to stays valid
 * until tatp_exchange_reset. */
typedef struct tatp_exchange_layout {
    int64_t cycle_size;   /* positions of a domain; the same on all ranks */
    int64_t num_cycles;   /* of the largest domain; the same on all ranks */
    int64_t message_size; /* bytes at most; the same on all ranks */
    int64_t piece;        /* bytes of a contiguous piece in the mean; the same on all ranks */
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
int tatp_exchange_prepare(tatp_exchange *ex, coll_group *group, const tatp_exchange_layout *layout);
/* Whether this rank, as an aggregator or for other ranks of its node, makes few pieces, or mapped
 * pages, of many (aggregation_merges). Local. */
bool tatp_exchange_merges(const tatp_exchange *ex, tatp_io *io);
/* Releases what was prepared. */
void tatp_exchange_reset(tatp_exchange *ex);
/* Bytes that it keeps, as far as they grow with the number of runs. */
int64_t tatp_exchange_bytes(const tatp_exchange *ex);

/* Acquires the buffers of the next run, unless prepare did, and releases them. Those that several
 * exchanges acquire suffice for each of these. Local. */
int tatp_exchange_acquire(tatp_exchange *ex);
void tatp_exchange_release(tatp_exchange_memory *memory, const coll_group *group);

typedef struct tatp_exchange_times {
    double shuffle, access; /* seconds */
} tatp_exchange_times;

/* Moves the data of one access. Never ends early: returns this rank's first error, which has to be
 * agreed on. Sets run->transport and run->store, and puts a timer before run->probe. Collective. */
int tatp_exchange_run(tatp_exchange *ex, coll_group *group, tatp_io *io, exchange_run *run,
                      exchange_result *result, tatp_exchange_times *times);

#endif
