/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a file in simulation: all ranks in one process, over a network, a store and memory
 * whose every choice comes from one seed.
 *
 * life.c draws a life and is what each rank does; order.c says which rank and which message of the
 * network (src/simulate) is next, runtime.c makes them the runtime of src/collective.
 * access.c says byte by byte what the ranks access and what the file has to hold, store.c is the
 * file, watch.c looks at how it is accessed. engine.c runs the exchanges step by step and checks
 * each, orders.c tries all orders of a small one. simulate.c runs many lives.
 */
#ifndef SIMULATE_LIFE_H
#define SIMULATE_LIFE_H

#include "collective/collective.h"
#include "collective/exchange.h"
#include "collective/files.h"
#include "collective/record.h"
#include "order.h"
#include "simulate/memory.h"

enum { MOST_RANKS = 64, MOST_STEPS = 24, MOST_BLOCKS = 24, MOST_BYTES = 400, MOST_FAULTS = 4 };
enum { SPACE = 1 << 15 }; /* bytes of the file that are accessed, from `base` on */
enum { NOWHERE = -SPACE };

/* Error classes, as an MPI has them. An error is a class and CLASSES times its number. */
enum {
    CLASS_TRUNCATED = NET_TRUNCATED,
    CLASS_OTHER = 16,
    CLASS_NO_MEMORY = 34,
    CLASS_IO = 35,
    CLASS_NO_SPACE = 36,
    CLASS_LOST = NET_LOST,
    CLASSES = 100
};

/* ---- what the ranks do ---- */

/* A view of a rank: blocks, which repeat. */
typedef struct sim_view {
    int blocks;
    int64_t offset[MOST_BLOCKS], length[MOST_BLOCKS];
    int64_t size, extent, begin;
} sim_view;

/* Ways to deal the bytes of a file: records in turn; cells to random ranks, or to none; a block for
 * each rank; blocks that other ranks have, too; where there are many ranks, every second byte, in
 * turn. */
enum deal { DEAL_RECORDS, DEAL_CELLS, DEAL_BLOCKS, DEAL_SHARED, DEALS, DEAL_BYTES = DEALS };

enum step_kind { STEP_VIEW, STEP_WRITE, STEP_READ, STEP_HINT, STEP_REOPEN, STEP_BARRIER };

typedef struct sim_step {
    enum step_kind kind;
    uint64_t seed; /* of what is drawn for each rank */
    /* Of an access, on all ranks: how far it begins in the view, in copies; memory with gaps. */
    int64_t copies;
    bool atomic, gaps;
    /* Of a view: how its blocks are dealt. */
    enum deal deal;
    bool overlaps_self;
    /* While it runs: */
    bool has_begun, has_result, is_complete;
    bool has_cause; /* for an error */
    bool must_fail; /* an error has happened that must not be lost */
    int result;     /* of the first rank that had one */
    int done;       /* ranks */
    /* What rank 0 saw of it (watch.c); of the last operation, where there were several: */
    int operations;
    bool makes_plan, has_plan, reuses_plan, fits_plan; /* ... to another place of stripes */
    int64_t period, margin;                            /* of its plan */
    division_settings division;                        /* with which it was made */
    bool is_striped;                                   /* all of it by rules for stripes */
    bool has_long_cycles;                              /* no shorter than a stripe */
    int64_t messages, most_messages;                   /* of all ranks, with data; 0: any number */
} sim_step;

/* ---- faults ---- */

enum fault_kind {
    FAULT_SEND, /* it is not started; it and the next one are no error */
    FAULT_RECEIVE,
    FAULT_WRITE,
    FAULT_READ,
    FAULT_LOCK,
    FAULT_FLUSH,
    FAULT_MESSAGE, /* of data, after it was started */
    FAULT_MEMORY,
    FAULT_ARGUMENT,
    FAULT_LOSS,
    FAULT_OFTEN, /* any of those before FAULT_MEMORY, on any rank: one of nth + 2 operations */
    FAULT_KINDS
};

typedef struct sim_fault {
    enum fault_kind kind;
    int rank;
    int64_t nth; /* operation of that kind */
} sim_fault;

/* ---- a rank ---- */

typedef struct sim_rank {
    net_port port;
    struct life *life;
    int rank, step;
    const char *where; /* its last call */
    sim_account account;

    coll_process process;
    coll_runtime runtime;
    coll_store store;
    coll_file *file;
    int name, kept[2]; /* its ranks are called so; closed files of these names */
    coll_view view;
    const char *parameter[PARAMETERS];
    coll_hint_values hints;

    int64_t lock_from, lock_to; /* of the file; equal: none */
    int locks;                  /* since the last operation */
    int64_t read_to;            /* since it has the lock; NOWHERE: nothing, or less than it asked */
    int first_error;            /* that a call returned in the present operation */
    bool has_read_alone;        /* in the present step: without an exchange */
    char byte[4 * MOST_BYTES];  /* its memory in a step */
    access_memory memory;
    int64_t bytes;

    /* engine.c: */
    exchange *engine; /* of its present or last exchange */
    bool is_exchanging;
    const exchange_probe *probe;
    int64_t noted[EXCHANGE_MOMENTS]; /* the cycle noted last */
    /* Messages with data to each rank: those of EXCHANGE_DEPTH chunks at most, all, synchronous
     * ones, and those since the last of these. */
    int64_t chunk_messages[MOST_RANKS], sent[MOST_RANKS], synchronous[MOST_RANKS],
        unsynchronised[MOST_RANKS];
    /* Messages of contiguous data, and those that are not copied on their way: in all. */
    int64_t whole, in_place;
} sim_rank;

/* ---- a life ---- */

typedef struct life {
    network net;
    sim_order order;
    uint64_t seed, state;
    int ranks, nodes;
    bool by_node;
    size_t node_of_rank[MOST_RANKS];
    int64_t base;        /* offset of the file's first byte that is accessed */
    int64_t short_share; /* of 8 reads */
    int steps;
    int turn;        /* steps after which others repeat them; 0: none */
    bool is_plain;   /* demands aggregators, and has neither faults nor shared bytes */
    bool has_record; /* which is right */
    bool has_caches; /* of nodes, which are not coherent */
    bool locks_file; /* in each access, which makes them so */
    char folder[64], record[128], statistics[128];
    sim_step step[MOST_STEPS];
    sim_rank rank[MOST_RANKS];

    sim_fault fault[MOST_FAULTS];
    int faults, fired;
    int64_t operations[FAULT_KINDS][MOST_RANKS];
    int reported;              /* errors */
    struct sim_orders *orders; /* of its first exchange, which are tried; NULL: none are */

    /* What the file holds, and has to; -1: not known. After an error a byte may have another value.
     */
    unsigned char content[SPACE];
    short model[SPACE], other[SPACE];
    int64_t end, model_end; /* from `base` on; the latter -1: not known */
} life;

#define sim_fail(l, ...) net_fail(&(l)->net, __VA_ARGS__)

static inline int64_t sim_draw(life *l, int64_t low, int64_t high)
{
    return pick(&l->state, low, high);
}

static inline bool sim_one_in(life *l, int n)
{
    return sim_draw(l, 1, n) == 1;
}

static inline int sim_node_of(const life *l, int rank)
{
    return (int)l->node_of_rank[rank];
}

/* ---- life.c ---- */

/* What was simulated. */
enum { MOST_FEATURES = 16 };
extern const char *const sim_feature[MOST_FEATURES + 1]; /* up to NULL */

/* Draws a life. is_small: with few ranks and faults of messages and the file alone. */
life *sim_draw_life(uint64_t seed, bool is_small);
/* Another order of its events. */
void sim_draw_order(life *l);
/* Runs it. false: a failure, which is printed where events are traced. */
bool sim_run(life *l);
void sim_find_features(const life *l, bool *has);

/* ---- access.c ---- */

/* The step that set the view that is in use in a step. */
int sim_step_of_view(const life *l, int step);
sim_view sim_view_of(const life *l, int step, int rank);
/* What a rank accesses in a step. */
typedef struct sim_access {
    sim_view view;
    int64_t first, bytes; /* of its stream */
} sim_access;
sim_access sim_access_of(const life *l, int step, int rank);
/* The place in the file of byte i of an access. */
int64_t sim_place(const sim_access *access, int64_t i);
unsigned char sim_data(const life *l, int step, int rank, int64_t i);
/* Of each byte the rank, from 1 on, that accesses it in a step; of several, SEVERAL. */
enum { SEVERAL = 255 };
void sim_mark(const life *l, int step, unsigned char *byte);

/* The file before the first step. */
void sim_begin_file(life *l, int64_t end);
/* A rank comes to an access: all steps before it have been made, or have failed, on all ranks.
 * Fills its memory. */
void sim_begin_access(sim_rank *r);
/* Whether its memory holds what it has to; after an error, whether it may. */
void sim_check_memory(sim_rank *r, bool has_failed, int64_t moved);
/* Whether the file is as steps before this one make it. Their accesses are complete. */
void sim_check_file(life *l, int step);

/* Whether several ranks access a byte in a step that has begun. */
bool sim_is_shared(int step, int64_t at);
/* What is wanted of each byte in a step that has begun, as from sim_mark, and what was accessed;
 * whether a write began or ended before it. */
extern unsigned char sim_wanted[MOST_STEPS][SPACE], sim_accessed[MOST_STEPS][SPACE],
    sim_cut[MOST_STEPS][SPACE + 1];

/* What a fault of this kind does on this rank now: whether it happens. */
bool sim_has_fault(sim_rank *r, enum fault_kind kind);
/* An error that a call returns to the rank, of this class. */
int sim_report(sim_rank *r, int class);
/* At each call of what is simulated, as net_order.call. */
bool sim_call(network *n, int rank, const char *where);

/* ---- store.c, runtime.c ---- */

coll_store sim_store(sim_rank *r);
void sim_begin_caches(const life *l);
void sim_front(sim_rank *r);
size_t sim_job_rank(void *context, int rank); /* of any rank */

/* ---- engine.c, which is called in place of exchange_execute ---- */

/* A message with data to another rank. */
void sim_check_ahead(sim_rank *r, int peer, bool synchronous);
/* A message of an exchange is at this place. */
void sim_note_place(sim_rank *r, const char *data);
/* An exchange reads so many bytes at a place of the file, or some of them. */
void sim_check_holes(sim_rank *r, int64_t at, int64_t bytes, int64_t moved);
/* Runs a prepared exchange until it is finished, and checks what holds at any time; then what has
 * come of it. */
int sim_drive(sim_rank *r, exchange *ex, const exchange_run *run, exchange_result *result);
/* Of the windows of a node. */
uint64_t sim_digest_flags(const life *l, int node);

/* ---- orders.c ---- */

/* Where all ranks have come to their first exchange: tries all orders of it. */
void sim_try_run(sim_rank *r, exchange *ex, const exchange_run *run);
/* Of as many small exchanges, from this seed on; *trying: the seed of the present life. */
bool sim_try_orders(uint64_t seed, uint64_t exchanges, uint64_t *trying);

/* ---- watch.c ---- */

/* As coll_observer.moved. */
void sim_observe(void *context, const coll_observed *access, void **state);
/* Rank 0 has completed an access; all ranks have. */
void sim_check_plan(life *l, int step);
void sim_check_messages(life *l, int step);
void sim_check_stripes(life *l, int step);
/* All ranks have ended: what a plain life has recorded. */
void sim_check_record(life *l);

#endif
