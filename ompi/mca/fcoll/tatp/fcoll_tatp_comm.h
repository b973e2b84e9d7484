/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication among the ranks of a file, for blocking and non-blocking collective calls alike.
 *
 * A blocking call waits inside Open MPI's progress. A non-blocking one runs on a stack of its own
 * (fcoll_tatp_request.c), which it leaves whenever it would wait. Everything that waits is in this
 * module.
 *
 * Functions return OMPI_SUCCESS or an OMPI or MPI error code. */
#ifndef MCA_FCOLL_TATP_COMM_H
#define MCA_FCOLL_TATP_COMM_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/compat/compat.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_error.h"
#include "ompi/request/request.h"

/* Tags on a file's own communicator. Phases that could meet have different tags. */
enum tatp_tag {
    TATP_TAG_REQUESTS = 7001,
    TATP_TAG_DATA,
    TATP_TAG_AGREE,
    TATP_TAG_BUNDLES,
    TATP_TAG_ABSENT,
    TATP_TAG_ROWS,
    TATP_TAG_NODE_ROWS,
    TATP_TAG_RECORD,
    TATP_TAG_STATS
};

typedef struct tatp_comm tatp_comm;
tatp_comm *tatp_comm_new(void); /* NULL: no memory */
void tatp_comm_free(tatp_comm *comm);

/* Uses this communicator from now on, which has the ranks of the one before. Local. */
int tatp_comm_attach(tatp_comm *comm, struct ompi_communicator_t *communicator);
int tatp_comm_rank(const tatp_comm *comm);
int tatp_comm_size(const tatp_comm *comm);
struct ompi_communicator_t *tatp_comm_communicator(const tatp_comm *comm);

/* Ranks of this node, ascending; the first is the node's leader. */
const int *tatp_comm_local_ranks(const tatp_comm *comm, int *count);
/* Index of a rank among them; -1: it is on another node. */
int tatp_comm_local_index(const tatp_comm *comm, int rank);
bool tatp_comm_is_local(const tatp_comm *comm, int rank);
bool tatp_comm_is_leader(const tatp_comm *comm);
/* Finds the leaders of all nodes, on which all below relies: their number, and for each rank the
 * index of its leader (NULL: no memory for that). For blocking calls. Collective. */
int tatp_comm_find_leaders(tatp_comm *comm, size_t *node_of_rank, size_t *nodes);
/* Bytes of a data message at most, by the transport between nodes; the same on all ranks. */
int64_t tatp_comm_message_size(const tatp_comm *comm);

/* ---- agreement, broadcast (fcoll_tatp_comm_agree.c) ---- */

/* The largest of each value over all ranks, or those of this node, in place; at most 64 values.
 * Collective there. */
int tatp_agree_max(tatp_comm *comm, int64_t *value, int count);
int tatp_node_max(tatp_comm *comm, int64_t *value, int count);
/* rc: this rank's status. Returns the largest error class over all ranks. Collective. */
int tatp_agree_error(tatp_comm *comm, int rc);
/* From rank 0. *count: its elements, at most those of the others; becomes its. Collective. */
int tatp_bcast(tatp_comm *comm, int64_t *value, int *count);
/* From the leader of this node to its ranks. Collective there. */
int tatp_node_bcast(tatp_comm *comm, int64_t *value, int count);

/* ---- waiting, collective operations (root: rank 0), messages ---- */

/* As ompi_request_wait; frees the request after an error, too. */
int tatp_wait(tatp_comm *comm, ompi_request_t **request, ompi_status_public_t *status);
int tatp_progress(tatp_comm *comm);             /* once, while polling; an error: a rank is lost */
bool tatp_comm_has_lost(const tatp_comm *comm); /* whether any error was that */
int tatp_allreduce(tatp_comm *comm, void *value, compat_count count, struct ompi_datatype_t *type,
                   struct ompi_op_t *op);
/* For a rank without a tatp_comm, while the others call tatp_allreduce. */
int tatp_allreduce_max(struct ompi_communicator_t *communicator, int64_t *value, int count);
/* `count` elements of each rank; `all` matters on rank 0 only. */
int tatp_gather(tatp_comm *comm, const int64_t *own, compat_count count, int64_t *all);
int tatp_send(tatp_comm *comm, const void *data, size_t bytes, int peer, enum tatp_tag tag);
int tatp_receive(tatp_comm *comm, void *data, size_t bytes, int peer, enum tatp_tag tag);

/* ---- messages of int64 whose length only the sender knows (fcoll_tatp_comm_msg.c) ---- */
typedef struct tatp_message {
    int from;
    int64_t *element; /* the receiver frees it */
    size_t count;
} tatp_message;

/* Starts to send a message of any number of elements. */
int tatp_message_isend(tatp_comm *comm, const int64_t *element, size_t count, int peer,
                       enum tatp_tag tag, ompi_request_t **request);
/* Sends an empty message, which takes no memory, in place of one that could not be made, because
 * the peer waits for it. Returns an error, to be agreed on later. */
int tatp_message_send_empty(tatp_comm *comm, int peer, enum tatp_tag tag);
/* Tells a peer that `count` of the messages that it expects will not come (may_be_absent). */
int tatp_message_send_absent(tatp_comm *comm, int64_t count, int peer);
/* Receives the messages of a tag and completes all sends, whatever happens. */
typedef struct tatp_arrivals {
    enum tatp_tag tag;
    size_t expected;
    bool may_be_absent; /* tatp_message_send_absent lowers the number */
    /* May keep the elements, and then sets message->element to NULL. */
    int (*take)(void *context, tatp_message *message);
    void *context;
} tatp_arrivals;
/* rc: this rank's status so far. Returns the first error. */
int tatp_message_complete(tatp_comm *comm, const tatp_arrivals *arrivals, ompi_request_t **request,
                          size_t sends, int rc);
/* Bytes of messages of int64 that this rank sent since the last call. */
int64_t tatp_message_bytes(tatp_comm *comm);

/* ---- to the leader of each node, and on to rank 0 (fcoll_tatp_comm_node.c) ---- */
typedef struct tatp_node_gather {
    enum tatp_tag to_leader, to_root;
    /* At the leader of a node: adds the elements of a rank of the node, its own included; then
     * makes the elements of the node, which are freed for it. 0, or a negative errno. */
    int (*add_rank)(void *sum, int rank, const int64_t *element, size_t count);
    int (*node_sum)(void *sum, int64_t **element, size_t *count);
    /* At rank 0: adds the elements of a node. */
    int (*add_node)(void *sum, int leader, const int64_t *element, size_t count);
} tatp_node_gather;

/* `own` has any number of elements but one. rc: this rank's status so far; an error of any rank
 * becomes an error of rank 0. Deadlock-free: each wait is for a message that is always sent.
 * Collective. */
int tatp_gather_by_node(tatp_comm *comm, const tatp_node_gather *gather, void *sum,
                        const tatp_message *own, int rc);

/* ---- non-blocking calls (fcoll_tatp_request.c) ---- */

/* A call that runs later, on a stack of its own. Those of one tatp_comm run one after another, in
 * the order of their start, which is the same on all ranks. */
typedef struct tatp_request tatp_request;
/* Allocates all that the call takes; `run` returns its error and fills the status. `release` frees
 * the call. NULL: no memory, and the call is not released. */
tatp_request *tatp_request_new(int (*run)(void *call, ompi_status_public_t *status),
                               void (*release)(void *call), void *call);
/* Frees a request that was not started, and its call; NULL is none. */
void tatp_request_free(tatp_request *request);
/* Starts the call; *handle is what the user waits for. */
void tatp_request_start(tatp_comm *comm, struct ompi_file_t *file, tatp_request *request,
                        ompi_request_t **handle);
/* Waits until all calls started on this tatp_comm are complete. */
void tatp_requests_finish(const tatp_comm *comm);
void tatp_requests_release(void); /* what is kept for later calls: for the component's close */

#endif
