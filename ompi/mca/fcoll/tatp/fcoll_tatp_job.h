/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of the job, and where it was started. Local. */
#ifndef MCA_FCOLL_TATP_JOB_H
#define MCA_FCOLL_TATP_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"

/* A text that is the same in all processes of this MPI_COMM_WORLD and differs from that of every
 * other one: that of the parents of spawned processes, too. Owned by this function. */
const char *tatp_job_id(void);
/* When this process was started, in nanoseconds since 1970: before any process of the job returned
 * from MPI_Init. 0: not known. */
int64_t tatp_job_started(void);

/* Number of processes of the job. */
size_t tatp_job_size(void);
/* A rank of the communicator as one of the MPI_COMM_WORLD of its rank 0; SIZE_MAX for a process of
 * another job. */
size_t tatp_job_rank(const coll_group *group, size_t rank);

/* In which the launcher started the program, wherever it is now. NULL: not known. Owned by this
 * function. */
const char *tatp_job_folder(void);
/* Whether the launcher started one program on all ranks; true where it does not say. */
bool tatp_job_has_one_program(void);

/* The absolute name of a file that the user named: relative names count from tatp_job_folder. NULL:
 * no memory; the caller frees it. */
char *tatp_job_path(const char *name);

#endif
