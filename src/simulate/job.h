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
    JOB_SECOND_WRITE, /* a step further, as the next ones: some plans are made anew once */
    JOB_WRITE,
    JOB_FIRST_READ,
    JOB_READ,
    JOB_CLOSE,
    JOB_PHASES
};
extern const char *const job_phase_name[JOB_PHASES];

typedef struct job_settings {
    int ranks;
    const size_t *node_of_rank;
    char *const *node_name; /* as a topology that the parameters name has them; may be NULL */
    machine_settings machine;
    parameter_texts parameters; /* of all ranks */
    bool is_romio;
    const access_list *view; /* of each rank, ordered: of a period of the file ... */
    int64_t extent;          /* ... of so many bytes */
    void (*begins)(enum job_phase_kind kind); /* a phase; may be NULL */
    const volatile sig_atomic_t *stop;        /* as in network.h */
} job_settings;

/* Figures are of a phase, "most" of any rank. */
enum job_figure {
    JOB_SECONDS,
    JOB_MESSAGES, /* of all ranks, as the next two, between nodes */
    JOB_FAR_MESSAGES,
    JOB_FAR_BYTES,
    JOB_BUSIEST_BYTES, /* of any link */
    JOB_MOST_SENT,
    JOB_MOST_RECEIVED,
    JOB_MOST_POSTED,
    JOB_MOST_UNEXPECTED,
    JOB_REDUCTIONS, /* and gathers */
    JOB_ACCESSES,   /* of the file */
    JOB_ROOT_BYTES, /* memory of rank 0, and the most of any other */
    JOB_MOST_BYTES,
    JOB_FIGURES
};
extern const char *const job_key[JOB_FIGURES]; /* for programs */

typedef struct job_phase {
    bool is_over; /* if not, the job was stopped or has failed before */
    double figure[JOB_FIGURES];
} job_phase;

/* Ends the program where the simulation itself has no memory. NULL, or the reason why the job did
 * not end; the caller frees it. */
char *job_run(const job_settings *settings, job_phase phase[JOB_PHASES]);

#endif
