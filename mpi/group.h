/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a file, as src/collective needs them (collective/runtime.h). All files of a
 * communicator of the program share one of the library's own, as an MPI has few. Their messages
 * have tags of the file; collective operations of the MPI, which have none, are for the opening of
 * files, whose order is the same on all ranks.
 */
#ifndef MPI_GROUP_H
#define MPI_GROUP_H

#include <stdbool.h>

#include "collective/files.h"
#include "mpi/request.h"

/* The processes of a communicator of the program, whose attribute this is. */
typedef struct front_ranks {
    MPI_Comm comm; /* of the same processes; it returns errors */
    int rank, size;
    int64_t *node;    /* per rank, front_process_node */
    int *job_rank;    /* per rank, in MPI_COMM_WORLD; as runtime.job_rank */
    char *host;       /* rank 0: per rank, FRONT_HOST bytes */
    coll_ranks names; /* of the processes */
    int users;        /* open files, and the program's communicator until it is freed */
    int64_t opened;   /* files until now */
    struct front_group *open;
} front_ranks;

typedef struct front_group {
    front_ranks *ranks;
    struct front_group *next; /* of the open ones */
    int number;               /* other open files of these ranks have other ones */
    coll_runtime runtime;
    fiber_queue queue; /* non-blocking calls */
} front_group;

/* The next file of the communicator gets these. NULL on all ranks: any of them lacks a communicator
 * or memory. Collective. */
front_ranks *front_ranks_of(MPI_Comm comm);

/* The group is that of the file for which front_ranks_of was called last. MPI_ERR_OTHER: it has the
 * number of an older one, as tags are limited. Local. */
int front_group_init(front_group *group, front_ranks *ranks, coll_process *process);
/* A zeroed group is allowed. Local. */
void front_group_release(front_group *group);

/* Waits until a request is complete, while non-blocking calls continue: those of other files, or,
 * in one of this file, all. Returns the MPI's error, also that of the start. */
int front_group_wait(front_group *group, int started, MPI_Request *request, MPI_Status *status);

/* Whether all processes of the communicator belong to this job: else they may not have this
 * library, and nothing may be sent in it. Local; the same on all ranks. */
bool front_group_is_of_job(MPI_Comm comm);

/* job_rank needs this. is_new: the processes of `created` have other ranks than in the communicator
 * of which it was made. Local. */
void front_group_note_order(MPI_Comm old, bool is_new, MPI_Comm created);

/* Returns the largest error class over all ranks, or an error of the MPI. Collective. */
int front_group_largest(MPI_Comm comm, int value);

#endif
