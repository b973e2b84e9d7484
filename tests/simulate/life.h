/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a file in simulation: all ranks in one process, each on a stack of its own, over a
 * runtime whose every choice comes from one seed.
 *
 * life.c draws a life and is what each rank does; network.c runs the ranks in a random order and is
 * their messages and reductions; store.c is the file, and says byte by byte what it has to hold;
 * watch.c looks at how it is accessed; memory.c counts what the ranks allocate.
 */
#ifndef SIMULATE_LIFE_H
#define SIMULATE_LIFE_H

#include <stdarg.h>
#include <ucontext.h>

#include "../unit/seeded.h"
#include "collective/collective.h"
#include "collective/exchange.h"
#include "collective/record.h"

enum { MOST_RANKS = 64, MOST_STEPS = 24, MOST_BLOCKS = 24, SPACE = 1 << 15, NAME = 64 };

/* Error classes, as an MPI has them. */
enum {
    CLASS_TRUNCATED = 15,
    CLASS_OTHER = 16,
    CLASS_NO_MEMORY = 34,
    CLASS_IO = 35,
    CLASS_NO_SPACE = 36,
    CLASS_LOST = 75
};

/* ---- what the ranks do ---- */

/* A view of a rank: blocks, which repeat. Byte 0 of the file is at `base` for the component. */
typedef struct sim_view {
    int blocks;
    int64_t offset[MOST_BLOCKS], length[MOST_BLOCKS];
    int64_t size, extent, begin;
} sim_view;

enum step_kind { STEP_VIEW, STEP_WRITE, STEP_READ, STEP_HINT, STEP_REOPEN, STEP_BARRIER };

typedef struct sim_step {
    enum step_kind kind;
    uint64_t seed; /* of what is drawn for each rank */
    /* Of an access, on all ranks: how far it begins in the view, in copies; memory with gaps. */
    int64_t copies;
    bool atomic, blocking, gaps;
    /* Of a view: how its blocks are dealt. */
    int deal;
    bool overlaps_self;
    /* While it runs: */
    bool has_begun, has_result, is_complete;
    bool has_cause; /* for an error */
    bool must_fail; /* an error has happened that must not be lost */
    int result;     /* of the first rank that had one */
    int done;       /* ranks */
    /* What rank 0 saw of it (watch.c); of the last operation, where there were several: */
    int operations;
    bool makes_plan, has_plan, reuses_plan, is_trial;
    int64_t period;                  /* of its plan */
    division_settings division;      /* with which it was made */
    bool is_striped;                 /* all of it by rules for stripes */
    bool has_long_cycles;            /* no shorter than a stripe */
    int64_t messages, most_messages; /* of all ranks, with data; 0: any number */
} sim_step;

/* ---- faults ---- */

enum fault_kind {
    FAULT_NONE,
    FAULT_WRITE,
    FAULT_READ,
    FAULT_LOCK,
    FAULT_MEMORY,
    FAULT_ARGUMENT,
    FAULT_LOSS,
    FAULT_KINDS
};

/* ---- a rank ---- */

typedef struct sim_rank {
    struct life *life;
    int rank;
    ucontext_t context;
    bool has_ended, has_noticed; /* the latter: that a rank was lost */
    int step;
    const char *where;    /* it is: the last call of the runtime */
    const bool *awaited;  /* it runs when this is true, or a rank is lost; NULL: any time */
    uint64_t collectives; /* reductions and the like that it has taken part in */

    coll_process process;
    coll_pool pool;
    coll_runtime runtime;
    coll_store store;
    coll_file *file;
    coll_view view;
    sim_view own;
    const char *parameter[PARAMETERS];
    coll_hint_values hints;
    int64_t lock_from, lock_to; /* of the file; equal: none */
    int locks;                  /* since the last operation */
} sim_rank;

typedef struct sim_request sim_request;
typedef struct sim_collective sim_collective;

typedef struct life {
    uint64_t seed, state;
    const char *failure; /* NULL: none */
    char failure_text[200];

    int ranks, nodes;
    bool by_node;
    int slow;     /* a rank that runs rarely; -1: none */
    int64_t base; /* offset of the file's first byte that is accessed */
    int steps;
    int turn;        /* steps after which others repeat them; 0: none */
    bool is_plain;   /* demands aggregators, and has neither faults nor shared bytes */
    bool has_record; /* which is right */
    sim_step step[MOST_STEPS];
    sim_rank rank[MOST_RANKS];
    ucontext_t scheduler;
    double time;
    char folder[NAME], record[2 * NAME], statistics[2 * NAME];

    enum fault_kind fault;
    int victim;
    int64_t until; /* operations of the fault's kind on that rank before it */
    bool is_lost, has_fired;

    /* network.c */
    sim_request *sent[MOST_RANKS], *posted[MOST_RANKS]; /* to, of each rank; oldest first */
    int flying;                                         /* messages that have not arrived */
    int requests;                                       /* that ranks have not completed */
    int64_t idle;               /* steps of ranks since something happened */
    sim_collective *collective; /* not complete on all ranks */

    /* store.c */
    unsigned char content[SPACE];
    int64_t end;
    short model[SPACE]; /* -1: not known */
    int64_t model_end;  /* -1: not known */
} life;

/* ---- life.c ---- */

void sim_fail(life *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a fault of this kind does on this rank now: whether it happens. */
bool sim_fault(sim_rank *r, enum fault_kind kind);
void sim_draw(life *l, uint64_t seed);
void sim_rank_main(sim_rank *r);
/* Frees what a life left, and fails where it has left something. */
void sim_end(life *l);

/* ---- network.c ---- */

void sim_runtime(sim_rank *r);
/* Other ranks, and the network, may do something. */
void sim_yield(sim_rank *r);
/* Runs all ranks to their end, or to a failure. */
void sim_run(life *l);
void sim_network_end(life *l);
size_t sim_job_rank(const life *l, int rank);

/* ---- store.c ---- */

void sim_store(sim_rank *r);
/* Byte `at` of the stream of a rank's view; the first byte of the file is 0. */
int64_t sim_place(const sim_view *v, int64_t at);
/* Accesses before a step were made by all ranks, or failed on all: updates the model. */
void sim_model_steps(life *l, int step);
/* Whether the file is as the model says. All accesses are complete. */
void sim_check_file(life *l);

/* What a rank accesses in a step. */
typedef struct sim_access {
    int64_t first, bytes; /* of the stream of its view */
} sim_access;
sim_access sim_access_of(const life *l, int step, int rank);
sim_view sim_view_of(const life *l, int step, int rank);
unsigned char sim_data(const life *l, int step, int rank, int64_t at);
/* The step that set the view that is in use in a step. */
int sim_step_of_view(const life *l, int step);

/* ---- watch.c ---- */

/* The first rank comes to an access; a rank accesses bytes of the file in it. */
void sim_watch_begin(const life *l, int step);
void sim_watch_bytes(const sim_rank *r, int64_t at, int64_t bytes);
/* Whether several ranks access a byte in a step that has begun. */
bool sim_is_shared(int step, int64_t at);
/* As coll_observer.moved. */
int sim_observe(void *context, const coll_observed *access, void **state);
/* Rank 0 has completed an access; all ranks have. */
void sim_check_plan(life *l, int step);
void sim_check_messages(life *l, int step);
void sim_check_stripes(life *l, int step);
/* All ranks have ended: what a plain life has recorded. */
void sim_check_record(life *l);

/* ---- memory.c ---- */

/* What is allocated from now on counts as this rank's; NULL: is not counted. */
void sim_memory_of(sim_rank *r);
/* Frees what is left, and returns the number of its parts. */
int sim_memory_left(void);
/* Memory that is not counted. */
void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);

#endif
