/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of the job, and where it was started. Local. */
#ifndef MCA_FCOLL_TATP_JOB_H
#define MCA_FCOLL_TATP_JOB_H

#include <stdint.h>

/* A text that is the same in all processes of this MPI_COMM_WORLD and differs from that of every
 * other one: that of the parents of spawned processes, too. Owned by this function. */
const char *tatp_job_id(void);
/* When this process was started, in nanoseconds since 1970: before any process of the job returned
 * from MPI_Init. 0: not known. */
int64_t tatp_job_started(void);

/* The absolute name of a file that the user named: relative names count from the folder in which
 * the launcher started the program, wherever the program is now. NULL: no memory; the caller frees
 * it. */
char *tatp_job_path(const char *name);

#endif
