/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A simulated network: all ranks in one process, each on a stack of its own, and what they send to
 * each other. An order of events, which is the caller's, decides which rank goes on and what
 * becomes of which message: by time (machine.h), or as a test chooses.
 *
 * Messages follow MPI's rules: those of one tag between two ranks do not overtake each other,
 * receives match in the order in which they were posted, a rendezvous or synchronous send completes
 * after it was matched, and its data are read until then. An eager send may complete at once; the
 * network then keeps its data. All ranks come to collective operations in the same order. Who waits
 * lets the others run; where nothing happens any more while ranks wait, they wait for ever.
 *
 * Functions with a rank, or with the port of one, are called on its stack.
 */
#ifndef SIMULATE_NETWORK_H
#define SIMULATE_NETWORK_H

#include <signal.h>
#include <ucontext.h>

#include "base/mix.h"
#include "collective/runtime.h"
#include "simulate/events.h"

enum { NET_TRUNCATED = 15, NET_LOST = 75 }; /* errors */

enum net_operation { NET_MAX, NET_SUM, NET_GATHER };

typedef struct net_collective net_collective;

/* Oldest first. */
typedef struct net_list {
    net_request *first, **end;
} net_list;

typedef struct net_rank {
    ucontext_t context;
    bool has_ended, has_noticed; /* the latter: that a rank was lost */
    bool is_woken;               /* something has happened to it since it last went on */
    const bool *awaited;         /* it goes on when this is true; NULL: any time */
    uint64_t seen;           /* a digest of all that it was told, which decides what it does next */
    int64_t requests, ended; /* that it has made, and those that it has completed */
    int64_t out, in;         /* messages that it has sent, and that were sent to it */
    uint64_t operations;     /* collective ones that it has taken part in */
    net_list sent, posted;   /* to it and by it, not matched */
    int64_t unexpected, receives; /* of these, those that have arrived, and those posted */
    int64_t most_unexpected, most_receives;
} net_rank;

struct network {
    /* Set before net_run: */
    void *context;
    void (*main)(void *context, int rank);
    void (*resume)(void *context, int rank); /* this rank goes on; -1: none does */
    net_order order;
    int ranks;
    const size_t *node_of_rank;
    char *const *node_name;            /* NULL: numbers */
    const volatile sig_atomic_t *stop; /* ends the run where it is not 0; NULL: nothing does */

    /* Others read these. */
    const char *failure; /* the first one; NULL if there is none */
    net_rank *rank;
    int lost;          /* a rank; -1: none */
    int ended;         /* ranks */
    int64_t requests;  /* that were made */
    int64_t collected; /* collective operations that were complete */

    char failure_text[200];
    ucontext_t scheduler;
    int running; /* the rank, or -1 */
    char *stacks;
    net_request *latest; /* of all */
    net_collective *collective;
};

/* A digest that one more value was added to. */
static inline uint64_t net_mix(uint64_t digest, uint64_t value)
{
    return base_mix(digest ^ value);
}

/* Runs all ranks to a failure, until it is stopped, or as long as the order has steps. */
void net_run(network *n);
/* Frees everything, and returns the number of requests that ranks have not completed, and of
 * messages that were not received. */
int net_end(network *n);

/* Ends the run. On the stack of a rank it does not return. */
void net_fail(network *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- running ---- */

void net_wake(network *n, int rank);
/* Others may go on. */
void net_yield(network *n, int rank);
/* Returns when the rank is woken, or after a moment. */
void net_pause(network *n, int rank);
/* Returns when the flag is true; false: a rank is lost. */
bool net_await(network *n, int rank, const bool *flag);
/* Whether a rank is lost, as far as this one has noticed. */
bool net_has_noticed(network *n, int rank);

/* ---- messages ---- */

/* What a caller has of a rank begins with it. */
typedef struct net_port {
    network *net;
    int rank;
} net_port;

/* Process and runtime of a rank, whose context is the port; the caller's are: message sizes, names
 * of localities, ranks in the job, losses and classes of errors. A message whose data are NULL has
 * no contents, and the receiver's memory then stays. */
void net_front(net_port *port, coll_process *process, coll_runtime *runtime);

/* They are the functions of coll_runtime; the context is a port. */
int net_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
             bool is_synchronous, exchange_request *request);
int net_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                exchange_request *request);
int net_test(void *context, exchange_request *request, bool *complete, size_t *bytes);
int net_wait(void *context, exchange_request *request, size_t *bytes);
int net_probe(void *context, enum coll_tag tag, bool *is_found, coll_found *found);

/* Puts the maxima or the sums of each rank's `count` values, or all of them, into result[], which
 * may be own[]. NULL, if it is not wanted: the rank waits for the others or does not. All ranks
 * come to the same operations. */
int net_collect(network *n, int rank, enum net_operation operation, const int64_t *own,
                size_t count, int64_t *result);

#endif
