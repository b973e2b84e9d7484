/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interfaces that the exchange stands on: messages between ranks, and the file.
 *
 * Functions return 0 or an error code of their implementation, which the exchange passes through.
 */
#ifndef EXCHANGE_TRANSPORT_H
#define EXCHANGE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/pages.h"

/* A message in flight, owned by the transport; NULL if there is none. */
typedef void *exchange_request;

/* Messages from one rank to another arrive in the order in which they were sent. */
typedef struct exchange_transport {
    void *context;
    unsigned tag; /* of the messages of exchanges: for functions that others use, too */
    /* Starts a message; `data` stays valid until it is complete. A synchronous send completes after
     * the receiver has matched it. An error: a rank is lost; no message was started, and *request
     * is NULL. */
    int (*isend)(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                 bool synchronous, exchange_request *request);
    int (*irecv)(void *context, int peer, unsigned tag, void *data, size_t bytes,
                 exchange_request *request);
    /* Whether a message is complete; then it is freed, *request is NULL, and *bytes is the number
     * of bytes received. Returns the error of a message that failed, which is complete as well; its
     * peer's message completes, too, with its data or without. */
    int (*test)(void *context, exchange_request *request, bool *complete, size_t *bytes);
    /* Makes progress once; called while neither role can do anything. An error: a rank is lost, so
     * that no message that is in flight completes but with an error. */
    int (*progress)(void *context);
} exchange_transport;

/* Offsets are bytes of the file. */
typedef struct exchange_store {
    void *context;
    /* Writes extents, if any, which ascend and do not overlap: all, in any order, or it fails. */
    int (*write)(void *context, const access_extent *extent, size_t count);
    /* Moves at least one byte unless it fails or the file ends before. It may move less than asked
     * for: the engine resumes. */
    int (*read)(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done);
    /* Around the writes, or the reads, of one cycle, which access nothing but these bytes. No
     * message is waited for meanwhile. If a lock fails, nothing is accessed. NULL: no locks. */
    int (*lock)(void *context, int64_t offset, int64_t bytes);
    int (*unlock)(void *context);
    /* A read includes holes up to this many bytes rather than end there: only speed depends on it.
     */
    int64_t most_hole;
} exchange_store;

/* When an aggregator reached a moment of a cycle. */
enum exchange_moment {
    EXCHANGE_SHUFFLE_BEGINS,
    EXCHANGE_SHUFFLE_ENDS,
    EXCHANGE_ACCESS_BEGINS,
    EXCHANGE_ACCESS_ENDS,
    EXCHANGE_MOMENTS
};
typedef struct exchange_probe {
    void *context;
    void (*note)(void *context, int64_t cycle, enum exchange_moment moment);
} exchange_probe;

#endif
