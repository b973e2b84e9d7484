/* SPDX-License-Identifier: BSD-3-Clause */
/* Data between the ranks' buffers and the file, by domains and aggregators that are given: the
 * access requests, windows in shared memory, and src/exchange over a runtime, shared memory and a
 * store.
 *
 * Functions return 0 or an error as those of the runtime. */
#ifndef COLLECTIVE_EXCHANGE_H
#define COLLECTIVE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/group.h"

#include "access/access.h"
#include "access/cut.h"
#include "exchange/exchange.h"

/* An exchange that is prepared for any number of runs, or none. */
typedef struct coll_exchange coll_exchange;
/* Exchanges of a file: one for each plan that it keeps. */
#define COLL_SLOTS 8

/* These, and memory that they use in turn: buffers, and what the ranks of a node share. */
typedef struct coll_exchange_memory coll_exchange_memory;
/* NULL if memory is exhausted. */
coll_exchange_memory *coll_exchange_memory_new(coll_process *process);
/* All its exchanges must have been reset. */
void coll_exchange_memory_free(coll_exchange_memory *memory);
/* The exchange of an index < COLL_SLOTS, which is the same on all ranks. */
coll_exchange *coll_exchange_at(coll_exchange_memory *memory, size_t index);

enum coll_exchange_kind {
    COLL_EXCHANGE_BY_MESSAGES,
    COLL_EXCHANGE_SHARED, /* and by shared memory inside nodes */
    COLL_EXCHANGE_ORDERED /* a write in atomic mode */
};

/* Prepares an exchange: sends the access requests to the aggregators, shares the windows on each
 * node. What the layout points to stays valid until coll_exchange_reset. Returns this rank's error,
 * which has to be agreed on. Collective. */
int coll_exchange_prepare(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                          enum coll_exchange_kind kind);
/* Prepares it for accesses that are moved by less than the margin of the layout; first by 0.
 * Returns this rank's error, too. Local. */
int coll_exchange_move(coll_exchange *ex, const domain_layout *layout, int64_t distance);
/* The distance for which it is prepared: the same on all ranks. */
int64_t coll_exchange_distance(const coll_exchange *ex);
/* Whether this rank, as an aggregator or for other ranks of its node, makes few pieces, or mapped
 * pages, of many (aggregation_merges). Local. */
bool coll_exchange_merges(const coll_exchange *ex, const coll_store *store);
/* Releases what was prepared. */
void coll_exchange_reset(coll_exchange *ex);
/* Bytes that it keeps, as far as they grow with the number of runs. */
int64_t coll_exchange_bytes(const coll_exchange *ex);

/* Acquires the buffers of the next run, unless prepare did, and releases them. Those that several
 * exchanges acquire suffice for each of these. Local. */
int coll_exchange_acquire(coll_exchange *ex);
void coll_exchange_release(coll_exchange_memory *memory, const coll_group *group);

typedef struct coll_exchange_times {
    double shuffle, access; /* seconds */
} coll_exchange_times;

/* Moves the data of one access. Never ends early: returns this rank's first error, which has to be
 * agreed on. run: without transport and store. Collective. */
int coll_exchange_run(coll_exchange *ex, coll_group *group, const coll_store *file,
                      exchange_run run, exchange_result *result, coll_exchange_times *times);

#endif
