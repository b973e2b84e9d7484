/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A simulation of the exchange: all ranks in one process, over a transport and a store whose every
 * choice comes from one seed.
 *
 * scenario.c draws what the ranks access, the domains and the faults; network.c and store.c are the
 * transport and the file; model.c says byte by byte what the result has to be; schedule.c runs the
 * ranks and the network in a random order; orders.c makes it run in every order.
 */
#ifndef EXCHANGE_SIMULATION_H
#define EXCHANGE_SIMULATION_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>

#include "../unit/seeded.h"
#include "rank.h"

enum { MAX_RANKS = 64, MAX_ISLANDS = 4, MAX_SHIFT = 64, MAX_FAULTS = 4, TRACE = 40 };
enum { SHORT_ERROR = 77, TRUNCATED = 78, GONE = 79, LOST = 80, INJECTED = 1000 };

/* Contiguous bytes that may be accessed. */
typedef struct sim_island {
    int64_t offset, length;
    size_t cell; /* of its first byte */
} sim_island;

enum fault_kind {
    FAULT_ISEND,
    FAULT_IRECV,
    FAULT_TEST,
    FAULT_WRITE,
    FAULT_READ,
    FAULT_LOCK,
    FAULT_KINDS
};
typedef struct sim_fault {
    enum fault_kind kind;
    int rank;
    int64_t nth; /* call of that kind */
} sim_fault;

enum sim_domains { DOMAINS_EVEN, DOMAINS_STRIPED, DOMAINS_UNITS };
enum sim_overlap { OVERLAP_NONE, OVERLAP_READS, OVERLAP_ORDERED };
enum sim_order { ORDER_RANDOM, ORDER_OLDEST, ORDER_NEWEST, ORDERS };
enum sim_protocol { EAGER, RENDEZVOUS, EAGER_BY_SIZE, EAGER_OR_NOT, PROTOCOLS };

typedef struct sim_request sim_request;
typedef struct sim_event sim_event;
typedef struct sim_pair sim_pair;
typedef struct sim_orders sim_orders;

struct simulation {
    uint64_t seed, state;
    bool small;           /* so few bytes and ranks that every order can be tried */
    sim_orders *orders;   /* what happens is chosen by it; NULL: at random */
    bool traces, verbose; /* notes events, and prints all of them */
    const char *failure;  /* NULL: none */
    char failure_text[200];
    char trace[TRACE][120];
    uint64_t traced;

    int ranks, nodes, runs;
    sim_rank rank[MAX_RANKS];
    bool write[MAX_RUNS], agreed; /* runs are separated by an agreement */
    int64_t shift[MAX_RUNS];
    enum sim_overlap overlap;
    int64_t cycle_size, num_cycles, message_size;

    sim_island island[MAX_ISLANDS];
    int islands;
    bool wide; /* several stretches of the file, with large holes between, in one cycle */
    int64_t bytes, base_shift;
    enum sim_domains domains_kind;
    file_domains domains;
    size_t *domain_of; /* per column or unit; NULL: in turn */
    size_t columns;
    int64_t unit, unit_base; /* bytes of a unit or stripe */
    int *aggregator;         /* per domain */
    sim_bundle *bundle;      /* per domain and node; ranks is 0 where there is none */

    /* per cell, which is a byte of the islands and the margins that shifts need */
    size_t cells;
    char *file, *old, *model; /* now, before the run, after it */
    bool *covered;            /* before the shift: some rank accesses it */
    signed char *written;     /* the last run that wrote it; -1: none */
    int64_t end_of_file, model_end;
    int64_t moved[MAX_RUNS][MAX_RANKS], messages[MAX_RUNS][MAX_RANKS]; /* expected */
    int64_t chunk_messages[MAX_RANKS][MAX_RANKS]; /* of a contributor to an aggregator at most */

    enum sim_order order;
    enum sim_protocol protocol;
    size_t eager_limit;
    int slow, delayed;                /* ranks; -1: none */
    int64_t event_share, short_share; /* of 8: network events, and short transfers */
    int64_t interruptions; /* of 16: calls of transport and store during which others step */
    int nesting;
    bool bursts;
    sim_fault fault[MAX_FAULTS];
    int faults;
    int64_t fault_rate;     /* one of so many calls fails; 0: only those above */
    int64_t gone_after;     /* calls of the transport; -1: it works */
    int victim;             /* a rank that vanishes; -1: none */
    int64_t vanishes_after; /* of its calls of transport and store */
    bool vanished;
    jmp_buf end_of_victim;
    int64_t fault_calls[FAULT_KINDS][MAX_RANKS], transport_calls;
    int fired, present_run;
    int reported; /* errors in the present run */

    sim_event *event;
    size_t events, event_capacity;
    sim_pair *pair; /* ranks x ranks, by sender */
    sim_request *latest;
    size_t live_requests;
    exchange_transport transport[MAX_RANKS];
    exchange_store store[MAX_RANKS];
};

/* A digest that one more value was added to. */
static inline uint64_t sim_mix(uint64_t digest, uint64_t value)
{
    uint64_t state = digest ^ value;
    return next_random(&state);
}

/* ---- simulate.c ---- */
void sim_print_parameters(const simulation *sim);
/* The last events, and the failure. */
void sim_print_trace(const simulation *sim);
/* Keeps the first failure of the schedule. */
__attribute__((format(printf, 2, 3))) void sim_fail(simulation *sim, const char *format, ...);
__attribute__((format(printf, 2, 3))) void sim_trace(simulation *sim, const char *format, ...);

/* ---- scenario.c ---- */
/* In some of all cases. Where every order is tried, in both ways unless it is never or always. */
bool sim_chance(simulation *sim, int64_t of, int64_t all);
void sim_draw(simulation *sim);
/* Replaces all exchanges between two runs. */
void sim_renew(simulation *sim);
void sim_free(simulation *sim);
/* The code of the error that a call is to return, or 0. */
int sim_inject(simulation *sim, int rank, enum fault_kind kind);
/* Notes that a call returns an error to a rank. Returns rc. */
int sim_report(sim_rank *r, int rc);
bool sim_may_fail(const simulation *sim);
/* In each call of its transport and store: the victim does not return from one of them. */
void sim_may_vanish(sim_rank *r);

/* ---- bundles.c ---- */
/* Draws what ranks carry for others, in place of some targets. */
void sim_draw_bundles(simulation *sim);
/* The target of a rank for a domain, or NULL. */
exchange_target *sim_target(sim_rank *r, size_t domain);
void sim_release_bundles(simulation *sim);

/* ---- model.c ---- */
/* The cell of an offset before the shift of the run, or SIZE_MAX. */
size_t sim_cell(const simulation *sim, int64_t offset);
/* The domain of an offset, by arithmetic. */
size_t sim_owner(const simulation *sim, int64_t offset);
void sim_expect_messages(simulation *sim);
/* What a run changes, after all earlier ones. */
void sim_expect_run(simulation *sim, int run);
void sim_check_memory(simulation *sim, sim_rank *r);
void sim_check_result(simulation *sim, sim_rank *r, int rc, const exchange_result *result);
void sim_check_file(simulation *sim);

/* ---- network.c, store.c ---- */
void sim_network_init(simulation *sim);
void sim_network_release(simulation *sim);
void sim_network_event(simulation *sim);
/* Event i of sim->events; whether it changes anything. */
void sim_network_take(simulation *sim, size_t i);
bool sim_network_matters(const simulation *sim, size_t i);
/* Of all messages and what was done with them. */
uint64_t sim_network_digest(const simulation *sim);
void sim_network_check(simulation *sim);
/* The victim's messages are not received any more. Those of a rank that knows it end some time. */
void sim_network_vanish(simulation *sim);
void sim_store_init(simulation *sim);

/* ---- schedule.c ---- */
void sim_run(simulation *sim);
void sim_wake(simulation *sim, int rank);
/* Lets others go on while a rank is in a call of its transport or store. */
void sim_interrupt(simulation *sim);
/* Of the flags that ranks of a node share. */
uint64_t sim_flags_digest(const simulation *sim, int node);

#endif
