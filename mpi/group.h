/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a file: a communicator of the library's own, as src/collective needs it
 * (collective/runtime.h).
 */
#ifndef MPI_GROUP_H
#define MPI_GROUP_H

#include <stdbool.h>

#include "collective/collective.h"
#include "mpi/request.h"

typedef struct front_group {
    MPI_Comm comm; /* a duplicate of the file's, which returns errors */
    coll_runtime runtime;
    fiber_queue queue; /* non-blocking calls */
    bool *is_local;    /* per rank: it is on this node */
    int *job_rank;     /* per rank, in MPI_COMM_WORLD; as runtime.job_rank */
    char *host;        /* rank 0: per rank, FRONT_HOST bytes */
} front_group;

/* Collective. Returns the largest error class over all ranks. */
int front_group_init(front_group *group, MPI_Comm comm, coll_process *process);
/* Collective, but for a zeroed group, where it does nothing. */
void front_group_release(front_group *group);

/* Until a request is complete, while non-blocking calls continue: of other files, or, from one of
 * this file, all. Returns the MPI's error, also that of the start. */
int front_group_wait(front_group *group, int started, MPI_Request *request, MPI_Status *status);

/* Whether all processes of the communicator belong to this job. Local; the same on all ranks. */
bool front_group_is_of_job(MPI_Comm comm);

/* For job_rank. is_new: the processes of `created` have other ranks than in the communicator of
 * which it was made. Local. */
void front_group_note_order(MPI_Comm old, bool is_new, MPI_Comm created);

/* The largest value over all ranks, or the code of an error of the MPI. Collective. */
int front_group_largest(MPI_Comm comm, int value);

/* The class of an error of src/collective or of the MPI; 0 for 0. */
int front_error_class(int error);

#endif
