/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of events of the simulated network (simulate/network.h): at random, from one seed, or by
 * an enumeration of all choices. Who waits lets the others run; where nothing happens any more
 * while ranks wait, they wait for ever.
 */
#ifndef SIMULATE_ORDER_H
#define SIMULATE_ORDER_H

#include <inttypes.h>

#include "../unit/seeded.h"
#include "simulate/network.h"

enum { SIM_TRACE = 40 };

typedef struct sim_order {
    network *net;
    int64_t patience;     /* steps of each rank without an event */
    int64_t always_eager; /* bytes of a message at most */
    /* One of so many; NULL: at random. And after a choice, whether the rest was tried before. */
    size_t (*choose)(void *context, size_t count);
    bool (*is_known)(void *context);
    void *context;
    /* by sim_order_draw: */
    uint64_t *state;
    int64_t eager_limit, eager_share; /* of 8 messages up to the limit */
    int slow, delayed;                /* ranks that run, or whose messages come, rarely; -1: none */
    int64_t event_share;              /* of 8 steps: those of messages where ranks can go on, too */
    int64_t pauses;                   /* of 16 calls: those in which others go on */

    double time;
    bool has_come_back;  /* to where another order was */
    int64_t idle, calls; /* steps since something happened; in all */
    net_event *event;    /* that can happen */
    size_t events, event_capacity;

    bool is_traced, is_verbose; /* what happens is kept, the last of it, and printed */
    char trace[SIM_TRACE][120];
    uint64_t traced;
} sim_order;

/* Draws an order for a network of so many ranks; all random choices are from the state. */
void sim_order_draw(sim_order *o, network *net, int ranks, uint64_t *state);
void sim_order_release(sim_order *o);

/* In some of all cases; in both ways where all choices are tried, unless it is never or always. */
bool sim_chance(sim_order *o, int64_t of, int64_t all);
/* Something has happened: nobody waits for ever yet. */
void sim_happened(sim_order *o);
/* At each call of what is simulated: others may go on. Whether a rank is lost, as far as this one
 * has noticed. */
bool sim_order_call(sim_order *o, int rank, const char *where);

/* Only while a case that failed is repeated: texts take more time than the case. */
void sim_trace(sim_order *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_print_trace(const sim_order *o);

/* ---- the network ---- */

uint64_t net_digest(const network *n);
/* The rank does not go on, and its messages do not arrive. */
void net_lose(network *n, int rank);
/* It will complete with an error; without_data: a message that its receiver gets empty. */
void net_spoil(net_request *request, int error, bool without_data);

#endif
