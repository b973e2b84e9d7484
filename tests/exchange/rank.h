/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank of the simulation: what it accesses, its part of the exchange, and its present run.
 */
#ifndef EXCHANGE_RANK_H
#define EXCHANGE_RANK_H

#include <stdbool.h>

#include "exchange/exchange.h"

enum { MAX_RUNS = 4 };

typedef struct simulation simulation;

/* Bytes of a rank's access: file offsets before the shift, and where they are in the stream. */
typedef struct sim_block {
    int64_t offset, length, stream;
} sim_block;

/* The user's buffer in one run. */
typedef struct sim_memory {
    access_memory buffer;
    char *arena, *before, *expected; /* `bytes` each: now, at first, and after the run */
    size_t bytes;
    size_t *place; /* per byte of the stream: index in the arena */
} sim_memory;

/* What the ranks of a node have in a domain, where one of them carries it for all. */
typedef struct sim_bundle {
    size_t domain, ranks;
    int *rank;                /* ascending */
    size_t carrier;           /* index in rank[] */
    access_list whole, *part; /* part[i]: of rank[i] */
    exchange_bundle bundle;
    exchange_window *window; /* EXCHANGE_DEPTH for each rank */
    char *data;
    exchange_flags flags[EXCHANGE_DEPTH];
    int64_t granted[EXCHANGE_DEPTH], ready[EXCHANGE_DEPTH]; /* as they were last seen */
} sim_bundle;

typedef struct sim_rank {
    simulation *sim;
    int rank, node;
    sim_block *block; /* ascending, without overlap */
    size_t blocks, capacity;
    int64_t bytes, stream_end;
    access_list list;
    domain_share *share;
    size_t shares;
    bool aggregates;
    size_t domain;
    exchange_target *target;
    exchange_contributor *contributor;
    size_t contributors;
    bool shares_windows;
    exchange_window window[EXCHANGE_DEPTH];
    exchange_flags flags[EXCHANGE_DEPTH];                   /* of the shared windows */
    int64_t granted[EXCHANGE_DEPTH], ready[EXCHANGE_DEPTH]; /* as they were last seen */
    exchange_buffers *buffers;
    exchange *ex;
    sim_memory memory[MAX_RUNS];
    exchange_probe probe;
    int64_t noted[EXCHANGE_MOMENTS]; /* the cycle noted last */
    /* present run */
    int run;
    bool begun, dirty, in_step;
    bool knows;               /* that a rank has vanished */
    int first_fault;          /* the first error that a call returned to it; 0: none */
    bool domain_failed;       /* its domain is not to be written any more */
    int64_t locked, unlocked; /* from here to there; equal: nothing */
    uint64_t calls;           /* of the store in the present step */
    uint64_t seen;    /* a digest of all that it was told, which decides what it does next */
    int64_t requests; /* that it has made */
    bool finished;
    int rc;
    exchange_result result;
} sim_rank;

#endif
