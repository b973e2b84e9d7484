/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What happens in a simulated network (network.h), and an order in which it does.
 */
#ifndef SIMULATE_EVENTS_H
#define SIMULATE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct network network;
typedef struct net_request net_request;

/* A send or a receive; an order may look at it. */
struct net_request {
    net_request *next, **at;       /* in a list, and what points to this one there */
    net_request *earlier, **place; /* of all, and what points to this one */
    int from, to, tag;
    int users; /* its rank, and the network */
    int64_t number;
    bool is_send, is_eager, is_empty; /* the latter: arrives without its data */
    bool has_arrived, is_matched, is_transferred, is_complete, is_given_up;
    const char *data;
    char *copy; /* of the data in the network, or NULL */
    char *room;
    size_t bytes, received; /* of the message, or room for it */
    int error;
    net_request *peer; /* of a send that is matched */
};

/* What happens to a message that was sent: it arrives, its receive completes, its send does. */
enum net_event_kind { NET_ARRIVAL, NET_TRANSFER, NET_COMPLETION };
typedef struct net_event {
    enum net_event_kind kind;
    net_request *send;
} net_event;

/* An order of events. */
typedef struct net_order {
    void *context;
    /* Lets a rank go on (net_go_on), or an event happen (net_take); false: this was the last. */
    bool (*step)(void *context);
    /* Whether something happens that does in `of` of `all` cases. */
    bool (*chance)(void *context, int64_t of, int64_t all);
    bool
        keeps_order; /* a rank finds the messages that have arrived in the order of their sending */
    /* Whether a message is sent before its receiver is ready for it. */
    bool (*is_eager)(void *context, int64_t bytes);
    /* A rank makes a call. Whether a rank is lost, as far as this one has noticed. */
    bool (*call)(network *n, int rank, const char *where);
    /* A rank has the result of a collective operation, of so many values of each. */
    void (*collected)(void *context, int rank, bool is_gather, size_t count);
    double (*clock)(void *context, int rank); /* seconds */
    /* An event that can happen from now on; messages from one rank to another arrive in the order
     * in which their arrivals are added. */
    void (*add)(void *context, net_event event);
    /* Something has happened to a rank, which may go on if it can. */
    void (*wake)(void *context, int rank);
} net_order;

/* ---- for an order ---- */

bool net_may_go_on(const network *n, int rank);
void net_go_on(network *n, int rank);
void net_take(network *n, net_event event);

#endif
