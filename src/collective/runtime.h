/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What collective access to a file needs from an MPI: a table of functions for the ranks of a file.
 *
 * Functions return 0, a negative errno value, or a positive error class of the MPI, which passes
 * through. They are called by one thread at a time, and may run other calls' work while they wait.
 */
#ifndef COLLECTIVE_RUNTIME_H
#define COLLECTIVE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/process.h"
#include "exchange/transport.h"

/* Phases whose messages could meet have different tags. */
enum coll_tag {
    COLL_TAG_REQUESTS,
    COLL_TAG_DATA,
    COLL_TAG_AGREE,
    COLL_TAG_BUNDLES,
    COLL_TAG_ABSENT,
    COLL_TAG_ROWS,
    COLL_TAG_NODE_ROWS,
    COLL_TAG_RECORD,
    COLL_TAG_REPORTS,
    COLL_TAG_STATS
};

/* A message that was found. */
typedef struct coll_found {
    int from;
    size_t bytes;
} coll_found;

enum coll_operation { COLL_MAX, COLL_SUM };

/* An open file, whose operations follow one another. */
typedef struct coll_store {
    exchange_store access; /* but for most_hole */
    int64_t lock_unit;     /* bytes that the file system locks together; 0: local, or not known */
    /* After flush, what this node has written is in storage, also by calls that are not collective;
     * after refresh it reads what others have flushed. NULL, both: caches are coherent. */
    int (*flush)(void *context);
    void (*refresh)(void *context);
    /* An operation begins. The context is that of `access`. May be NULL. */
    void (*begin)(void *context);
    /* Whether small pieces may be written through mapped pages. May ask the file system. NULL: no.
     */
    bool (*may_map)(void *context);
} coll_store;

typedef struct coll_runtime {
    void *context;
    coll_process *process;
    int rank, size;
    /* Bytes of a data message at most, where all ranks are on one node, and otherwise. The same on
     * all ranks. */
    int64_t near_message_size, far_message_size;
    /* Whether a rank is on this node. */
    bool (*is_local)(void *context, int rank);
    /* The name of a rank's node; the caller frees it. NULL if memory is exhausted. */
    char *(*host)(void *context, int rank);
    /* What the launcher says of where a rank of this node is bound (src/topo/local.h); the caller
     * frees it. NULL if it is not known, or nowhere. */
    char *(*locality)(void *context, int rank);
    /* Its rank in the job of rank 0, for the record; in a communicator in a new order, that of the
     * process which has its place without this order. SIZE_MAX for a process of another job. NULL:
     * the same. */
    size_t (*job_rank)(void *context, int rank);

    /* ---- messages, as in exchange/transport.h, by enum coll_tag; one of at most 8 bytes that is
     * not synchronous completes also while its receiver waits for something else ---- */

    /* May fail; then no message was started, as with irecv. */
    int (*isend)(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                 bool synchronous, exchange_request *request);
    /* `bytes`: at most, where the sender knows how many. */
    int (*irecv)(void *context, int peer, unsigned tag, void *data, size_t bytes,
                 exchange_request *request);
    int (*test)(void *context, exchange_request *request, bool *complete, size_t *bytes);
    /* Tests until the message is complete. */
    int (*wait)(void *context, exchange_request *request, size_t *bytes);
    /* A message of the tag that can be received now: *is_found; none after an error. */
    int (*probe)(void *context, enum coll_tag tag, bool *is_found, coll_found *found);
    /* Receives a message that was found, without its data. */
    int (*discard)(void *context, int from, enum coll_tag tag);
    /* Makes progress once while polling. An error: a rank is lost. */
    int (*progress)(void *context);
    /* Whether a rank is lost: nothing is waited for any more. NULL: none ever is. */
    bool (*has_lost)(void *context);

    /* ---- collective operations ---- */

    /* Reduces each value over all ranks, in place. */
    int (*reduce)(void *context, int64_t *value, size_t count, enum coll_operation operation);
    /* Each rank has `count` elements; `all` matters on rank 0 only. */
    int (*gather)(void *context, const int64_t *own, size_t count, int64_t *all);

    /* Ends the job, with the class of an error. */
    void (*abort)(void *context, int class);
    /* The class of an error, the same for the same error on all ranks; 0 for 0. */
    int (*error_class)(int error);
} coll_runtime;

#endif
