/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communication among the ranks of a file, over a runtime. Functions return 0 or an error as
 * those of the runtime; after one, messages continue, because other ranks wait for them.
 *
 * No message is left out, because nothing else tells its peer: what cannot be started is started
 * again until it can be. Where the MPI refuses that for long, and where an agreement or a
 * collective operation fails, the ranks cannot agree on the error: the job ends. So their only
 * error is that a rank is lost, which the others learn, too.
 */
#ifndef COLLECTIVE_GROUP_H
#define COLLECTIVE_GROUP_H

#include "collective/runtime.h"

/* Values of an agreement at most. */
enum { COLL_MOST_VALUES = 64 };

typedef struct coll_group {
    const coll_runtime *runtime; /* the caller's */
    int rank, size;
    int *local; /* ranks of this node, ascending; the first is the node's leader */
    int locals;
    bool is_leader;
    int leaders; /* of all nodes, as their ranks see them; 0: not known yet (nodes.h) */
    int *leader; /* on leaders: these, ascending, of which this rank has ... */
    int leader_index;
    int64_t metadata; /* bytes of messages of int64 that were sent */
} coll_group;

/* The group is zeroed, or has the same ranks and keeps what it knows of them. Local. */
int coll_group_init(coll_group *group, const coll_runtime *runtime);
void coll_group_release(coll_group *group);

/* Seconds. */
double coll_clock(const coll_group *group);
/* Whether a rank is lost: nothing is waited for any more. */
bool coll_has_lost(const coll_runtime *runtime);
/* Ends the job after an error on which the ranks cannot agree, unless a rank is lost. */
void coll_end_job(const coll_runtime *runtime, int rc);
/* Index of a rank among those of this node; -1: it is on another node. */
int coll_local_index(const coll_group *group, int rank);
bool coll_is_local(const coll_group *group, int rank);

/* These call the runtime. Collective. */
int coll_reduce(const coll_group *group, int64_t *value, size_t count,
                enum coll_operation operation);
int coll_gather(const coll_group *group, const int64_t *own, size_t count, int64_t *all);

/* ---- agreement, broadcast (agree.c); as all below, where the leaders are known ---- */

/* The largest of each value over all ranks, in place; at most COLL_MOST_VALUES. The first is the
 * error class of rc, this rank's status so far. Returns the largest of these. Collective. */
int coll_agree_max(coll_group *group, int64_t *value, int count, int rc);
/* The largest of each value over the ranks of this node. Collective there. */
int coll_node_max(coll_group *group, int64_t *value, int count);
/* Agrees on the error alone. Collective. */
int coll_agree_error(coll_group *group, int rc);
/* Rank 0 broadcasts. *count becomes its number of elements, which is at most those of the others.
 * Collective. */
int coll_bcast(coll_group *group, int64_t *value, int *count);
/* The leader of this node broadcasts to its ranks. Collective there. */
int coll_node_bcast(coll_group *group, int64_t *value, int count);

/* ---- messages (message.c) ---- */

/* These repeat the runtime's functions until the message is started. An error: a rank is lost. */
int coll_isend(const coll_runtime *runtime, int peer, unsigned tag, const void *data, size_t bytes,
               bool synchronous, exchange_request *request);
int coll_irecv(const coll_runtime *runtime, int peer, unsigned tag, void *data, size_t bytes,
               exchange_request *request);
/* These messages for src/exchange; valid as long as the group. */
exchange_transport coll_transport(coll_group *group);
int coll_send(coll_group *group, const void *data, size_t bytes, int peer, enum coll_tag tag);
int coll_receive(coll_group *group, void *data, size_t bytes, int peer, enum coll_tag tag);
/* The message may be shorter; *bytes becomes its length. */
int coll_receive_some(coll_group *group, void *data, size_t *bytes, int peer, enum coll_tag tag);

/* Messages of int64 whose length only the sender knows. */
typedef struct coll_message {
    int from;
    int64_t *element; /* the receiver frees it */
    size_t count;
} coll_message;

/* Sends, or starts to send, a message of any number of elements. */
int coll_message_send(coll_group *group, const int64_t *element, size_t count, int peer,
                      enum coll_tag tag);
int coll_message_isend(coll_group *group, const int64_t *element, size_t count, int peer,
                       enum coll_tag tag, exchange_request *request);
/* Sends an empty message, which takes no memory, instead of one that could not be made, because
 * the peer waits for it. Returns an error, to be agreed on later. */
int coll_message_send_empty(coll_group *group, int peer, enum coll_tag tag);
/* Tells a peer that `count` of the messages that it expects will not come (may_be_absent). */
int coll_message_send_absent(coll_group *group, int64_t count, int peer);

/* Receives the messages of a tag and completes all sends, whatever happens. */
typedef struct coll_arrivals {
    enum coll_tag tag;
    size_t expected;
    bool may_be_absent; /* coll_message_send_absent lowers the number */
    /* May keep the elements, and then sets message->element to NULL. */
    int (*take)(void *context, coll_message *message);
    void *context;
} coll_arrivals;
/* rc: this rank's status so far. Returns the first error. */
int coll_message_complete(coll_group *group, const coll_arrivals *arrivals,
                          exchange_request *request, size_t sends, int rc);
/* Bytes that this rank sent by these functions since the last call. */
int64_t coll_message_bytes(coll_group *group);

/* ---- to the leader of each node, and on to rank 0 (gather.c) ---- */

/* Adds the elements of a rank. Returns an error. */
typedef int coll_add(void *sum, int rank, const int64_t *element, size_t count);

/* `own` has any number of elements but one. `add` gets at the receiver those of each rank that has
 * any; in coll_gather_node also the leader's own in any case. rc: this rank's status so far; an
 * error of any rank becomes an error of the receiver. Deadlock-free: each wait is for a message
 * that is always sent. From the ranks of this node to its leader; from all leaders, or all ranks,
 * to rank 0. Collective there. Leaders may have totals, too, as many as all others, or none: these
 * are added up on the way, and `add` gets the sums as those of rank -1. */
int coll_gather_node(coll_group *group, enum coll_tag tag, const coll_message *own, coll_add *add,
                     void *sum, int rc);
int coll_gather_leaders(coll_group *group, enum coll_tag tag, const coll_message *own,
                        const coll_message *totals, coll_add *add, void *sum, int rc);
int coll_gather_ranks(coll_group *group, enum coll_tag tag, const coll_message *own, coll_add *add,
                      void *sum, int rc);

#endif
