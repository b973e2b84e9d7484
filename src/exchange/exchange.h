/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shuffle of two-phase I/O: data between contributors and aggregators, cycle by cycle, and the
 * aggregators' file access.
 *
 * The file is divided into domains, each owned by one aggregator, and a domain into cycles of
 * `cycle_size` positions (see access/domain.h). What a contributor has in one cycle of a domain is
 * packed in file order; both sides compute its length from the same access list. A rank plays both
 * roles side by side, each with up to EXCHANGE_DEPTH cycles in flight. Cycles ascend in both roles,
 * and what a contributor does in a cycle depends on nothing but its aggregator having reached it.
 * Receives are posted in the order of cycles, and only so many at a time, so that their number does
 * not grow with that of ranks: the oldest is always posted, and in the first cycle that any rank
 * has not ended its message is sent. The exchange is deadlock-free.
 *
 * The engine reaches other ranks and the file through two interfaces only, so that it runs on any
 * transport and store. It has no globals. After the memory has been reserved nothing allocates, and
 * an error never ends an exchange early, because other ranks wait for this one's messages: the
 * first error is kept, messages continue, and exchange_end returns it. The caller agrees on one
 * error for all ranks. Only where the transport has lost a rank a run is abandoned.
 *
 * Error codes of transport and store pass through unchanged; 0 is success.
 */
#ifndef EXCHANGE_EXCHANGE_H
#define EXCHANGE_EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/access.h"
#include "access/cut.h"
#include "exchange/transport.h"

/* Cycles in flight per role: four hide the time from a message's announcement to its data. */
#define EXCHANGE_DEPTH 4
static inline int64_t exchange_depth(int64_t num_cycles)
{
    return num_cycles < EXCHANGE_DEPTH ? num_cycles : EXCHANGE_DEPTH;
}
/* Receives that a rank has posted, at most. */
#define EXCHANGE_MOST_RECEIVES 128

/* ---- shared memory ---- */

/* Where ranks that share memory meet over one cycle buffer of an aggregator among them. The number
 * of a cycle in these flags is not 0 and does not repeat within 2^64 cycles of one exchange. */
typedef struct exchange_flags {
    _Atomic int64_t granted; /* writing: the aggregator waits for the data of this cycle */
    _Atomic int64_t ready;   /* reading: the data of this cycle are there */
    _Atomic int64_t done;    /* contributors that have copied theirs */
    int64_t valid;           /* reading: positions from here on are beyond the end of file */
    char padding[32];        /* to a cache line */
} exchange_flags;

/* There is one for each cycle in flight (exchange_depth). */
typedef struct exchange_windows {
    exchange_flags *flags; /* of each; NULL: there are none */
    char *data;            /* of the first */
    int64_t stride;        /* bytes from one to the next, at least those of a cycle */
} exchange_windows;

/* ---- one rank's part ---- */

/* What a rank carries for itself and others that share its memory: all their chunks are one
 * message. */
typedef struct exchange_bundle {
    size_t ranks, own;       /* this rank's own part is that of index `own` */
    const access_list *part; /* per rank, ordered: bytes of the carried stream <- of the rank's */
    const exchange_windows *windows; /* per other rank, for its chunks, with the same flags */
} exchange_bundle;

/* A domain that this rank accesses. */
typedef struct exchange_target {
    int aggregator;
    const access_list *list;       /* ordered: positions in the domain <- bytes of the stream */
    exchange_windows windows;      /* none for messages */
    bool is_carried;               /* the windows are for chunks, which another rank carries */
    const exchange_bundle *bundle; /* of a carrier, whose list is that of all; else NULL */
} exchange_target;

/* A rank that accesses the domain this rank owns. */
typedef struct exchange_contributor {
    int rank;
    bool shared;      /* it copies to and from the shared windows itself */
    access_list list; /* only this rank's own needs the stream of its target */
} exchange_contributor;

typedef struct exchange_task {
    int rank;
    bool ordered;         /* a write in atomic mode: in order of rank, so that one rank's data stay
                             everywhere that writes overlap; no shared memory */
    domain_layout layout; /* its shares and contributors are those below */
    int short_error;      /* the error of a message that ended early */
    size_t targets, contributors;
    const exchange_target *target; /* for each domain that this rank accesses, its own, too */
    /* Only an aggregator has contributors. */
    const exchange_contributor *contributor; /* ascending by rank, this rank included */
    exchange_windows windows;                /* shared ones; none: this rank makes its own */
} exchange_task;

typedef struct exchange exchange;

/* Buffers of cycles and messages outlive exchanges, because the first touch of fresh memory costs
 * more than copying into it; they only grow. */
typedef struct exchange_buffers exchange_buffers;
exchange_buffers *exchange_buffers_new(void); /* NULL if memory is exhausted */
void exchange_buffers_free(exchange_buffers *buffers);

/* Prepares for any number of runs. What the task points to stays valid until exchange_free. Clears
 * the flags of this rank's windows and bundles: before any rank runs, all ranks have to have
 * returned. NULL if memory is exhausted. */
exchange *exchange_new(const exchange_task *task);
void exchange_free(exchange *ex);

/* What `count` counts of the contributors' lists in this rank's domain, and of all lists merged. */
void exchange_count_pieces(const exchange *ex, int64_t (*count)(const access_list *list),
                           int64_t *pieces, int64_t *merged);

/* Takes the buffers for the next run. -ENOMEM. */
int exchange_reserve(exchange *ex, exchange_buffers *buffers);

typedef struct exchange_run {
    bool write;
    const access_memory *memory; /* bytes of the stream <-> addresses */
    int64_t shift;               /* byte o of the domains' range is byte o + shift of the file */
    const exchange_transport *transport;
    const exchange_store *store;
    const exchange_probe *probe; /* NULL if it is off */
} exchange_run;

typedef struct exchange_result {
    int64_t moved;    /* bytes of this rank's buffer that were written or read */
    int64_t messages; /* with data, sent by this rank */
} exchange_result;

/* A run: begin, then step until finished, then end. All ranks run the same exchanges in the same
 * order. A step does what can be done without waiting; false: nothing could be. */
void exchange_begin(exchange *ex, const exchange_run *run);
bool exchange_step(exchange *ex);
bool exchange_finished(const exchange *ex);
/* The first error of this rank. */
int exchange_end(exchange *ex, exchange_result *result);

/* Waits for messages alone, after a step that did nothing where the transport has lost a rank. */
void exchange_abandon(exchange *ex, int error);
/* All of it; progress between steps. */
int exchange_execute(exchange *ex, const exchange_run *run, exchange_result *result);

#endif
