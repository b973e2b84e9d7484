/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the exchange share. Calls go one way: exchange.c -> contribute.c, aggregate.c
 * -> file.c, bundle.c, message.c -> pipeline.c.
 */
#ifndef EXCHANGE_INTERNAL_H
#define EXCHANGE_INTERNAL_H

#include <assert.h>

#include "base/arena.h"
#include "exchange/exchange.h"

/* What one contributor has in one cycle of one domain: messages, or one copy in shared memory. */
typedef struct exchange_chunk {
    size_t of;            /* index of the target or contributor */
    access_cursor cursor; /* where the chunk begins */
    int64_t bytes;
    char *packed; /* where its data are: outbox or inbox, the user's buffer, the window */
    bool direct;  /* `packed` is their final place */
    bool completed;
    exchange_request *request; /* of its messages, among those of the cycle */
    size_t messages, started_messages, completed_messages;
    bool short_message; /* a message was shorter than expected: later data have no place */
    int64_t received;   /* bytes before that one */
    /* carrier only */
    int64_t begin;  /* in the carried stream */
    int64_t copies; /* of members that have data in it */
    size_t turn;    /* among the peer's chunks */
    bool is_copied; /* between the members' windows and `packed` */
} exchange_chunk;

/* A cycle in flight, in one of the roles. */
typedef struct exchange_cycle {
    int64_t index, begin, end; /* its number and positions */
    exchange_chunk *chunk;     /* aggregator: the present batch */
    size_t chunks, pending;
    char *packed;              /* data of chunks that are not direct */
    exchange_request *request; /* for all messages of the chunks */
    size_t requests, posting;  /* in use; the first chunk whose receives are not all posted */
    /* aggregator only */
    size_t next;    /* the contributor that the next batch begins with */
    int64_t shared; /* contributors that copy to or from the window themselves */
    int64_t valid;  /* reading: positions from here on are beyond the end of file */
} exchange_cycle;

/* Cycles in flight in ascending order, the first at cycle[first]. */
typedef struct exchange_pipeline {
    exchange_cycle cycle[EXCHANGE_DEPTH];
    size_t first, count;
    bool exhausted; /* no cycle comes after them */
} exchange_pipeline;

/* A peer aggregator. */
typedef struct exchange_peer {
    int rank;
    const exchange_windows *windows; /* NULL for messages */
    bool is_carried;
    const access_list *list;
    access_cursor cursor;            /* the first byte not yet in a cycle in flight */
    unsigned int sent;               /* chunks */
    const exchange_bundle *bundle;   /* of a carrier: */
    access_cursor *counted, *copied; /* per rank: the first byte not yet in a cycle, not copied */
    int64_t carried;                 /* bytes in cycles */
    size_t begun, turn;              /* chunks that were begun, and the one to be copied next */
} exchange_peer;

struct exchange {
    struct base_arena arena; /* all arrays */
    exchange_task task;
    size_t depth;                                   /* of the pipelines */
    size_t window_bytes, inbox_bytes, outbox_bytes; /* of one cycle */
    size_t in_requests;                             /* of a batch at most */
    uint64_t sequence;                              /* cycles of earlier runs, modulo 2^64 */
    exchange_buffers *buffers;

    exchange_run run;
    exchange_result result;
    int error;
    size_t receives, most_receives; /* posted; at most */

    exchange_peer *peer;
    size_t peers;
    bool carries; /* for some peer */
    exchange_pipeline out;

    access_cursor *in_cursor;             /* per contributor: the first byte not yet in a batch */
    unsigned int *in_sent;                /* per contributor: chunks */
    access_list covered;                  /* what all contributors together access */
    access_cursor cover;                  /* the first byte of it that is not yet written or read */
    exchange_windows windows;             /* of this rank's domain */
    exchange_flags flags[EXCHANGE_DEPTH]; /* theirs if they are private */
    exchange_pipeline in;
};

/* ---- pipeline.c ---- */
/* Keeps the first error. */
void exchange_keep_error(exchange *ex, int rc);
exchange_cycle *exchange_cycle_at(exchange_pipeline *pipeline, size_t i);
/* Appends the cycle that holds position `next`. */
exchange_cycle *exchange_cycle_append(exchange_pipeline *p, int64_t next, int64_t cycle_size);
void exchange_cycle_remove_first(exchange_pipeline *pipeline);
/* The end of the cycle that holds a position. */
int64_t exchange_cycle_end(int64_t position, int64_t cycle_size);
/* The number of a cycle of this run in the flags of its window. Compared for equality only. */
int64_t exchange_cycle_number(const exchange *ex, const exchange_cycle *cycle);
exchange_flags *exchange_flags_of(const exchange_windows *windows, const exchange_cycle *cycle);
char *exchange_data_of(const exchange_windows *windows, const exchange_cycle *cycle);
/* From now on ranks that share memory copy into the cycle's window, or out of it. */
void exchange_grant(const exchange *ex, const exchange_cycle *cycle, exchange_flags *flags);

/* ---- message.c ---- */
/* Number of messages that carry `bytes` bytes. */
size_t exchange_count_messages(const exchange *ex, int64_t bytes);
/* Starts all messages of a chunk. The first `bytes` of it are sent; fewer than the receiver
 * expects: end of file. A synchronous chunk completes after the receiver has matched it, because
 * short messages would otherwise run ahead of a slow receiver without bound. */
void exchange_send_chunk(exchange *ex, exchange_cycle *cycle, exchange_chunk *chunk, int64_t bytes,
                         int peer, bool synchronous);
/* Prepares to receive a chunk. Receives of chunks in flight are posted, the oldest first, as far as
 * there may be more at a time; others follow where one is complete. */
void exchange_assign_requests(const exchange *ex, exchange_cycle *cycle, exchange_chunk *chunk);
void exchange_post_receives(exchange *ex);
/* Whether all messages of a chunk that was sent, or received, are complete. */
bool exchange_chunk_sent(exchange *ex, exchange_chunk *chunk);
bool exchange_chunk_received(exchange *ex, exchange_chunk *chunk);

/* ---- file.c ---- */
/* Writes or reads what the contributors access in a cycle of this rank's domain. After an error
 * nothing more is written; reading sets cycle->valid. */
void exchange_access_cycle(exchange *ex, exchange_cycle *cycle, char *data);

/* ---- bundle.c: what a rank carries for others ---- */
void exchange_bundle_begin_run(exchange_peer *peer);
/* A chunk of a cycle; writing, members copy into their windows from now on. */
void exchange_bundle_begin(exchange *ex, const exchange_cycle *cycle, exchange_chunk *chunk);
/* Between the windows and the packed chunk, which is to be sent or was received. false: not all
 * members have copied theirs, or an earlier chunk comes first. */
bool exchange_bundle_collect(exchange *ex, const exchange_cycle *cycle, exchange_chunk *chunk);
bool exchange_bundle_distribute(exchange *ex, const exchange_cycle *cycle, exchange_chunk *chunk);
/* Whether all members have copied. */
bool exchange_bundle_done(const exchange *ex, const exchange_cycle *cycle,
                          const exchange_chunk *chunk);

/* ---- contribute.c, aggregate.c: the two roles ---- */
/* Each does what can be done without waiting; false: nothing could be. */
bool exchange_contribute(exchange *ex);
bool exchange_aggregate(exchange *ex);

#endif
