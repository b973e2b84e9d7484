/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A whole job in one process, by the code that runs: all ranks open a file through src/collective,
 * write and read it collectively, and close it, over a machine (machine.h); or, as a baseline, by
 * the messages of ROMIO. What each phase took is counted. The contents of files are not
 * kept, and all ranks have the same buffer.
 *
 * Programs are linked with --wrap for malloc and its family, mmap, munmap and exchange_execute.
 */
#ifndef SIMULATE_JOB_H
#define SIMULATE_JOB_H

#include "access/list.h"
#include "collective/settings.h"
#include "simulate/machine.h"

enum job_phase_kind {
    JOB_OPEN,
    JOB_FIRST_WRITE,
    JOB_WRITE,
    JOB_FIRST_READ,
    JOB_READ,
    JOB_CLOSE,
    JOB_PHASES
};

typedef struct job_settings {
    int ranks;
    machine_settings machine;
    double call;                /* seconds of each call of a rank */
    parameter_texts parameters; /* of all ranks */
    bool is_romio;
    /* The view of a rank: what it accesses of a period of the file (ascending), and the bytes of
     * the period. 0, or -ENOMEM. */
    int (*view)(void *context, int rank, access_list *period, int64_t *extent);
    /* A phase begins; may be NULL. */
    void (*begins)(void *context, enum job_phase_kind kind);
    void *context;
    const volatile sig_atomic_t *stop; /* as in network.h */
} job_settings;

/* Of a phase; `most`: of any rank. */
typedef struct job_phase {
    bool is_over; /* if not, the job was stopped or has failed before */
    double seconds;
    int64_t messages, far_messages, far_bytes; /* of all ranks; between nodes */
    int64_t most_sent, most_received, most_unexpected, most_posted;
    int64_t collectives;            /* reductions and gathers */
    int64_t accesses;               /* of the file */
    double busiest_bytes;           /* of any link */
    int64_t root_bytes, most_bytes; /* memory of rank 0, and the most of any other */
} job_phase;

/* 0, or the error of a call. Ends the program where the simulation itself has no memory.
 * *failure: the reason why the job did not end, or NULL; the caller frees it. */
int job_run(const job_settings *settings, job_phase phase[JOB_PHASES], char **failure);

const char *job_phase_name(enum job_phase_kind kind);

#endif
